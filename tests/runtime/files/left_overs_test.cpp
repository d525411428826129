// What a killed process left is removed by the next one; what a living one holds is not.

#include "runtime/files/left_overs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/files/file.h"
#include "tests/other_process.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

TEST(LeftOvers, AFileThatIsWrittenIsHeldUntilItsProcessEnds) {
  const ScratchFolder folder;
  const std::string path = folder.file("file");
  OtherProcess writer([&](const auto &wait) {
    AtomicFile file(path);
    file.write("a part", 6);
    wait();
  });
  EXPECT_EQ(folder.count(), 1u);
  write_atomically(path, "whole");
  EXPECT_EQ(bytes_of_file(path), "whole");
  EXPECT_EQ(folder.count(), 2u) << "the part of a living process stays";

  writer.end();
  EXPECT_EQ(folder.count(), 2u) << "a killed process removes nothing";
  write_atomically(path, "again");
  EXPECT_EQ(bytes_of_file(path), "again");
  EXPECT_EQ(folder.count(), 1u) << "the next one does";
}

TEST(LeftOvers, OfSeveralWritersAreAllRemoved) {
  const ScratchFolder folder;
  const std::string path = folder.file("file");
  for (int i = 0; i < 3; ++i) folder.write("file.writing." + std::to_string(i), "a part");
  write_atomically(path, "whole");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(LeftOvers, WhatStandsInTheWayAndIsNoFileStays) {
  const ScratchFolder folder;
  const std::string path = folder.file("file"), elsewhere = folder.write("elsewhere", "mine");
  std::filesystem::create_symlink(elsewhere, path + ".writing.0");
  ASSERT_EQ(mkfifo((path + ".writing.1").c_str(), 0600), 0);
  write_atomically(path, "whole");
  EXPECT_EQ(bytes_of_file(path), "whole");
  EXPECT_EQ(bytes_of_file(elsewhere), "mine");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
}

TEST(LeftOvers, OnlyWhatNobodyHoldsIsRemoved) {
  const ScratchFolder folder;
  const std::string path = folder.file("folder");
  std::filesystem::create_directory(path);
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_TRUE(hold(descriptor, path));
  EXPECT_FALSE(remove_left_over(path));
  close(descriptor);
  EXPECT_TRUE(remove_left_over(path));
  EXPECT_FALSE(remove_left_over(path)) << "it is gone";
}

// Between making and holding, somebody who sweeps may come.
TEST(LeftOvers, WhatWasRemovedMeanwhileCannotBeHeld) {
  const ScratchFolder folder;
  const std::string path = folder.write("file", "");
  const int descriptor = open(path.c_str(), O_WRONLY);
  EXPECT_TRUE(remove_left_over(path));
  EXPECT_FALSE(hold(descriptor, path));
  folder.write("file", "of somebody else");
  EXPECT_FALSE(hold(descriptor, path));
  close(descriptor);
}

}  // namespace
}  // namespace saltern
