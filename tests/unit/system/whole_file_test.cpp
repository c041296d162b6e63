// Files that are written whole or not at all, and what is no file.
#include "system/whole_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>

namespace swizproof {
namespace {

namespace fs = std::filesystem;

/// A folder that lives as long as the test.
class WholeFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "whole_file_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(std::string const& name) const { return folder_ + "/" + name; }
  static void put(std::string const& path, std::string const& text) { std::ofstream(path) << text; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (auto const& entry : fs::directory_iterator(folder_)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }
  std::string folder_{};
};

TEST_F(WholeFiles, AreNotThereBeforeTheyAreWhole) {
  {
    WholeFile file(path("a"), "the page");
    EXPECT_FALSE(fs::exists(path("a")));
    file.write("new");
    EXPECT_EQ(read_file(path("a")), "new");
  }
  { WholeFile const unwritten(path("a"), "the page"); }
  EXPECT_EQ(read_file(path("a")), "new");
  EXPECT_EQ(names(), std::vector<std::string>{"a"}) << "nothing else is left";
}

TEST_F(WholeFiles, LeaveTheFilesOfOthersAlone) {
  put(path("a.new"), "mine");
  WholeFile(path("a"), "the page").write("new");
  EXPECT_EQ(read_file(path("a.new")), "mine");
}

TEST_F(WholeFiles, KeepRights) {
  put(path("a"), "old");
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  WholeFile(path("a"), "the page").write("new");
  EXPECT_EQ(fs::status(path("a")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
}

TEST_F(WholeFiles, ALinkStaysALink) {
  fs::create_directory(path("there"));
  put(path("there/a"), "old");
  fs::create_symlink("there/a", path("link"));
  fs::create_symlink("link", path("second"));
  fs::create_symlink("there/nothing", path("dangling"));
  WholeFile(path("second"), "the page").write("new");
  WholeFile(path("dangling"), "the page").write("newer");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("second")));
  EXPECT_EQ(read_file(path("there/a")), "new");
  EXPECT_EQ(read_file(path("there/nothing")), "newer");
  fs::create_symlink("round", path("round"));
  EXPECT_THROW(WholeFile(path("round"), "the page"), InputError);
}

TEST_F(WholeFiles, APipeIsWrittenTo) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::jthread reader([&] { got = read_file(path("pipe")); });
  WholeFile(path("pipe"), "the page").write("through");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(WholeFiles, ADeviceIsWrittenTo) {
  std::string const device = path("null");  // a copy: a mistake must not cost the machine its own
  if (mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) GTEST_SKIP() << "no device can be made here";
  if (!std::ofstream(device)) GTEST_SKIP() << "no device can be opened here";
  WholeFile(device, "the page").write("nothing");
  EXPECT_TRUE(fs::is_character_file(device));
}

TEST_F(WholeFiles, ADescriptorIsShared) {
  // As in `program --svg /dev/stdout > file`: text printed before and after is in the same file.
  int const to = open(path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(to, 0);
  ASSERT_EQ(::write(to, "before ", 7), 7);
  WholeFile("/proc/self/fd/" + std::to_string(to), "the page").write("between ");
  ASSERT_EQ(::write(to, "after", 5), 5);
  close(to);
  EXPECT_EQ(read_file(path("out")), "before between after");
}

TEST_F(WholeFiles, TwoWritersLeaveOneWholeFile) {
  std::string const texts[] = {std::string(1 << 20, 'a'), std::string(1 << 19, 'b')};
  for (unsigned round = 0; round < 20; ++round) {
    {
      std::jthread const first([&] { WholeFile(path("a"), "the page").write(texts[0]); });
      WholeFile(path("a"), "the page").write(texts[1]);
    }
    std::string const got = read_file(path("a"));
    EXPECT_TRUE(got == texts[0] || got == texts[1]);
  }
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(WholeFiles, WhatCannotBeWrittenIsRefusedAtOnce) {
  EXPECT_THROW(WholeFile("/nonexistent/a", "the page"), InputError);
  EXPECT_THROW(WholeFile(folder_, "the page"), InputError) << "a folder";
  EXPECT_THROW(WholeFile("/dev/full", "the page").write("x"), InputError);
}

}  // namespace
}  // namespace swizproof
