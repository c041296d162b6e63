// The sources of a trace are found below the folders that are named, by the longest tail of their path, and read line by line;
// what cannot be read has a reason.
#include "system/source.hpp"

#include <swizproof/core/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace swizproof {
namespace {

namespace files = std::filesystem;

/// A folder that goes with the test.
class SourceTest : public testing::Test {
 protected:
  SourceTest() : folder_(files::temp_directory_path() / ("swizproof_source_" + std::to_string(getpid()))) {
    files::remove_all(folder_);
    files::create_directories(folder_);
  }
  ~SourceTest() override { files::remove_all(folder_); }

  std::string write(std::string const& name, std::string const& text) const {
    files::path const path = folder_ / name;
    files::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  [[nodiscard]] std::string in(std::string const& name) const { return (folder_ / name).string(); }

 private:
  files::path folder_;
};

TEST_F(SourceTest, HasTheLinesOfTheFile) {
  std::string const path = write("k.cu", "first\n\tsecond\r\n\nfourth");
  Sources sources({});
  SourceFile const& file = sources.file(path);
  ASSERT_TRUE(file.read()) << file.reason;
  EXPECT_EQ(file.path, path);
  EXPECT_EQ(file.starts.size(), 4U);
  EXPECT_EQ(file.line(1), "first");
  EXPECT_EQ(file.line(2), "\tsecond");
  EXPECT_EQ(file.line(3), "");
  EXPECT_EQ(file.line(4), "fourth");
  EXPECT_EQ(file.line(0), std::nullopt);
  EXPECT_EQ(file.line(5), std::nullopt);
  EXPECT_EQ(file.line(~std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(&sources.file(path), &file) << "it is read once";
}

TEST_F(SourceTest, EndsWithTheLastLine) {
  Sources sources({});
  EXPECT_EQ(sources.file(write("a.cu", "one\n")).starts.size(), 1U);
  EXPECT_EQ(sources.file(write("b.cu", "")).starts.size(), 0U);
  EXPECT_EQ(sources.file(write("c.cu", "\n\n")).starts.size(), 2U);
}

TEST_F(SourceTest, CutsALongLineBetweenTwoCharacters) {
  Sources sources({});
  SourceFile const& file = sources.file(write(
      "k.cu", std::string(400, 'x') + "\n" + std::string(401, 'x') + "\n" + std::string(398, 'x') + "€€"));
  EXPECT_EQ(file.line(1), std::string(400, 'x'));
  EXPECT_EQ(file.line(2), std::string(400, 'x') + "...");
  EXPECT_EQ(file.line(3), std::string(398, 'x') + "...") << "a character of three bytes is not cut";
}

TEST_F(SourceTest, TakesTheLongestTailOfThePath) {
  write("here/k.cu", "short");
  write("there/src/k.cu", "longer");
  std::string const itself = write("build/app/src/k.cu", "itself");
  EXPECT_EQ(Sources({}).file(itself).line(1), "itself");
  EXPECT_EQ(Sources({in("here")}).file(itself).line(1), "short") << "a folder comes before the path";
  EXPECT_EQ(Sources({in("here"), in("there")}).file(itself).line(1), "longer");
  EXPECT_EQ(Sources({in("there"), in("here")}).file(itself).line(1), "longer");
  EXPECT_EQ(Sources({in("build")}).file("/elsewhere/build/app/src/k.cu").line(1), "itself");
  write("second/k.cu", "of the second folder");
  EXPECT_EQ(Sources({in("here"), in("second")}).file(itself).line(1), "short") << "the first of two";
}

TEST_F(SourceTest, NeverLeavesTheFolder) {
  // No file of this name lies next to the folder that the test runs in.
  std::string const name = "outside_" + std::to_string(getpid()) + ".cu";
  write(name, "outside");
  write("inside/other.cu", "inside");
  Sources sources({in("inside")});
  EXPECT_EQ(sources.file("../" + name).line(1), std::nullopt);
  EXPECT_EQ(sources.file("/none/../../" + name).line(1), std::nullopt);
  EXPECT_EQ(sources.file("/bin/../include/other.cu").line(1), "inside");
}

TEST_F(SourceTest, SaysWhyAFileIsNotRead) {
  ASSERT_EQ(mkfifo(in("pipe").c_str(), 0600), 0);
  Sources sources({});
  auto const reason = [&](std::string const& name) {
    SourceFile const& file = sources.file(name);
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.path, "");
    EXPECT_EQ(file.line(1), std::nullopt);
    return file.reason;
  };
  EXPECT_EQ(reason("/nowhere/k.cu"), "it is not on this machine");
  EXPECT_EQ(reason(""), "it is not on this machine");
  EXPECT_EQ(reason(std::string(5000, 'x')), "it is not on this machine");
  EXPECT_EQ(reason(in("pipe")), "it is no regular file") << "and is not waited for";
  EXPECT_EQ(reason("/dev/zero"), "it is no regular file");
  EXPECT_EQ(reason(in("")), "it is no regular file");
  EXPECT_EQ(reason(write("binary", std::string("a\0b", 3))), "it is no text");
  std::string const large = write("large.cu", "x");
  files::resize_file(large, (16 << 20) + 1);
  EXPECT_EQ(reason(large), "the file is larger than 16 MiB");
}

TEST_F(SourceTest, ReadsNoMoreThan64MiBInAll) {
  Sources sources({});
  std::string const text(std::size_t{16} << 20, '\n');
  for (char const* name : {"a.cu", "b.cu", "c.cu", "d.cu"})
    EXPECT_TRUE(sources.file(write(name, text)).read());
  EXPECT_EQ(sources.file(write("e.cu", "x")).reason, "the sources are larger than 64 MiB in all");
}

TEST_F(SourceTest, RefusesWhatIsNoFolder) {
  EXPECT_THROW(Sources(std::vector{in("none")}), InputError);
  EXPECT_THROW(Sources(std::vector{write("k.cu", "x")}), InputError);
  EXPECT_NO_THROW(Sources(std::vector<std::string>(16, in(""))));
  EXPECT_THROW(Sources(std::vector<std::string>(17, in(""))), InputError);
}

}  // namespace
}  // namespace swizproof
