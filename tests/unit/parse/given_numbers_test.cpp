// Numbers of an array in a file.
#include "parse/question/given_numbers.hpp"

#include <swizproof/core/error.hpp>

#include <gtest/gtest.h>

#include <fstream>

namespace swizproof {
namespace {

using namespace std::string_literals;

/// Numbers of `0=x:TYPE` from a file of this text, or the message.
std::string read(std::string const& type, std::string const& text) {
  std::string const path = testing::TempDir() + "given_numbers";
  std::ofstream(path, std::ios::binary) << text;
  try {
    std::string out;
    auto const param = param_with_file("0=x:" + type + "=" + path);
    for (std::uint64_t const bits : std::get<FlowArray>(param.second).values)
      out += (out.empty() ? "" : " ") + std::to_string(bits);
    return out;
  } catch (InputError const& error) {
    return error.what();
  }
}

std::string npy(std::string const& header, std::string const& data) {
  return "\x93NUMPY\x01"s + '\0' + static_cast<char>(header.size()) + '\0' + header + data;
}

TEST(GivenNumbers, AreTheBytes) {
  EXPECT_EQ(read("u16[2]", "\x01\x02\xff\x00"s), "513 255");
  EXPECT_NE(read("u16[2]", "\x01\x02\xff"s).find("3 bytes"), std::string::npos);
}

TEST(GivenNumbers, AreJson) {
  EXPECT_EQ(read("u8[2][2]", "[[1, 2], [3, 255]]"), "1 2 3 255");
  EXPECT_EQ(read("u8[2][2]", " [1, 2, 3, 4]"), "1 2 3 4");
  for (char const* const text : {"[[1, 2, 3, 4]]", "[1, 2, 3]", "[[1, 2], [3]]", "[1, 2, 3, 256]",
                                 "[1, 2, 3, 0.5]", "[1, 2, 3, [4]]", "[1, 2"})
    EXPECT_EQ(read("u8[2][2]", text).find("1 2"), std::string::npos) << text;
}

TEST(GivenNumbers, AreNumpys) {
  std::string const data = "\x01\x00\x00\x00\xff\xff\xff\xff"s;
  EXPECT_EQ(read("i32[2]", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", data)),
            "1 4294967295");
  EXPECT_NE(
      read("u32[2]", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", data)).find("'<i4'"),
      std::string::npos);
  EXPECT_NE(
      read("i32[2]", npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2,), }", data)).find("columns"),
      std::string::npos);
  EXPECT_NE(read("i32[2]", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }", data))
                .find("shape [2][1]"),
            std::string::npos);
  EXPECT_NE(read("i32[2]", "\x93NUMPY"s).find("header"), std::string::npos);
}

TEST(GivenNumbers, StandInTheTextOrInAFile) {
  EXPECT_EQ(file_of_param("0=x:i32[2]=1,2"), "");
  EXPECT_EQ(file_of_param("0=x:f32[1]=.5"), "");
  EXPECT_EQ(file_of_param("0=x:i32[2]=iota"), "");
  EXPECT_EQ(file_of_param("0=x:i32[2]=./1.npy"), "./1.npy");
  EXPECT_EQ(file_of_param("0=7"), "");
}

}  // namespace
}  // namespace swizproof
