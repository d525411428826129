// Files that are written appear whole or not at all.

#include "runtime/files/file.h"

#include <gtest/gtest.h>

#include "tests/scratch_folder.h"

namespace saltern {
namespace {

TEST(AtomicFile, AppearsAtCommitAndNotBefore) {
  const ScratchFolder folder;
  const std::string path = folder.write("file", "old");
  {
    AtomicFile file(path);
    file.write("new", 3);
    EXPECT_EQ(bytes_of_file(path), "old");
    file.commit();
  }
  EXPECT_EQ(bytes_of_file(path), "new");
  {
    AtomicFile abandoned(path);
    abandoned.write("never", 5);
  }
  EXPECT_EQ(bytes_of_file(path), "new");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(AtomicFile, ThatCannotBeWrittenIsNamed) {
  const ScratchFolder folder;
  expect_error([&] { AtomicFile(folder.file("no/such/folder")); }, {"no/such/folder"});
}

}  // namespace
}  // namespace saltern
