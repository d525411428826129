// A cache gives what was put into it, or makes it again, whatever happened to its files; and it takes nothing from a
// folder that others write to.

#include "generators/model/cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "generators/model/toolchain.h"
#include "tests/other_process.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

namespace fs = std::filesystem;
using generators::Cache;

const std::string shelf = "shelf", key = "what\nit is made of", first = "first contents", second = "second contents";

class CacheTest : public testing::Test {
 protected:
  // The entry, and how often it has been made.
  Cache::Entry got() {
    const Cache::Entry entry = Cache(path).find_or_make(shelf, key, [&](const std::string &making) {
      std::ofstream(making + "/first.o") << first;
      std::ofstream(making + "/second.o") << second;
      ++made;
    });
    EXPECT_EQ(bytes_of_file(entry.path("first.o")), first);
    EXPECT_EQ(bytes_of_file(entry.path("second.o")), second);
    EXPECT_EQ(entry.files.size(), 2u);
    return entry;
  }
  // What is being made, or was.
  size_t unfinished() const {
    return static_cast<size_t>(
        std::count_if(fs::directory_iterator(path), fs::directory_iterator(),
                      [](const fs::directory_entry &e) { return contains(e.path().filename().string(), ".making."); }));
  }

  const ScratchFolder folder;
  const std::string path = folder.file("cache");
  int made = 0;
};

TEST_F(CacheTest, WhatIsThereIsNotMadeAgain) {
  const Cache::Entry entry = got();
  EXPECT_EQ(got().folder, entry.folder);
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(Cache(path).find(shelf, key));
  EXPECT_FALSE(Cache(path).find(shelf, key + "."));
  EXPECT_EQ(unfinished(), 0u);
}

void put(const std::string &file, const std::string &bytes) { std::ofstream(file, std::ios::binary) << bytes; }

// What can happen to a file.
const std::vector<std::pair<const char *, std::function<void(const std::string &)>>> damages = {
    {"empty", [](const std::string &file) { put(file, ""); }},
    {"cut in half", [](const std::string &file) { put(file, bytes_of_file(file).substr(0, fs::file_size(file) / 2)); }},
    {"longer", [](const std::string &file) { put(file, bytes_of_file(file) + "x"); }},
    {"zeros", [](const std::string &file) { put(file, std::string(fs::file_size(file), '\0')); }},
    {"removed", [](const std::string &file) { fs::remove_all(file); }},
    {"unreadable", [](const std::string &file) { fs::permissions(file, fs::perms::none); }},
    {"a folder",
     [](const std::string &file) {
       fs::remove_all(file);
       fs::create_directories(file + "/inside");
     }},
    {"a broken link",
     [](const std::string &file) {
       fs::remove_all(file);
       fs::create_symlink("/nowhere", file);
     }},
    {"a pipe",
     [](const std::string &file) {
       fs::remove_all(file);
       ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
     }},
};

TEST_F(CacheTest, AnEntryWithADamagedFileIsMadeAgain) {
  for (const auto &[what, damage] : damages)
    for (const std::string file : {"first.o", "second.o", "key"}) {
      SCOPED_TRACE(file + " " + what);
      const Cache::Entry entry = got();
      const int before = made;
      damage(entry.path(file));
      got();
      // The superuser reads everything.
      EXPECT_EQ(made, before + (what == std::string("unreadable") && geteuid() == 0 ? 0 : 1));
      got();
      EXPECT_LE(made, before + 1);
    }
}

TEST_F(CacheTest, AnEntryOrAShelfThatIsNoFolderIsMadeAgain) {
  for (const auto &[what, damage] : damages)
    for (const std::string &place : {got().folder, path + "/" + shelf}) {
      SCOPED_TRACE(place + " " + what);
      if (what != std::string("unreadable")) {
        fs::remove_all(place);
        put(place, "a file");
      }
      damage(place);
      got();
      EXPECT_TRUE(Cache(path).find(shelf, key));
    }
}

TEST_F(CacheTest, EveryBitCounts) {
  const Cache::Entry entry = got();
  for (const std::string file : {"first.o", "second.o", "key"}) {
    const std::string whole = bytes_of_file(entry.path(file));
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      put(entry.path(file), bytes);
      ASSERT_FALSE(Cache(path).find(shelf, key)) << file << ", bit " << bit;
    }
    put(entry.path(file), whole);
    ASSERT_TRUE(Cache(path).find(shelf, key)) << file;
  }
}

TEST_F(CacheTest, ALineThatIsMissingInTheListOfFilesCounts) {
  const Cache::Entry entry = got();
  const std::string whole = bytes_of_file(entry.path("key"));
  put(entry.path("key"), whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
  EXPECT_FALSE(Cache(path).find(shelf, key));
}

TEST_F(CacheTest, SeveralProcessesMendOneEntry) {
  for (int round = 0; round < 5; ++round) {
    put(got().path("first.o"), "damaged");
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i)
      if (children.push_back(fork()); children.back() == 0) {
        const Cache::Entry entry = got();
        usleep(2000);
        _exit(bytes_of_file(entry.path("first.o")) == first ? 0 : 1);  // nobody has taken it away
      }
    for (pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
  }
  EXPECT_EQ(unfinished(), 0u);
}

TEST_F(CacheTest, WhatAKilledProcessWasMakingIsRemovedByTheNext) {
  OtherProcess maker([&](const auto &wait) {
    Cache(path).find_or_make(shelf, "another key", [&](const std::string &making) {
      put(making + "/half", "a file");
      wait();
    });
  });
  got();
  EXPECT_EQ(unfinished(), 1u) << "a living process keeps its own";
  maker.end();
  fs::remove_all(path + "/" + shelf);
  got();
  EXPECT_EQ(unfinished(), 0u);
}

// A folder that is removed in the end is held, as long as it lives.
TEST_F(CacheTest, MayBeInATemporaryFolder) {
  const generators::TemporaryFolder temporary;
  Cache(temporary.path()).find_or_make(shelf, key, [](const std::string &making) { put(making + "/file", "it"); });
  EXPECT_TRUE(Cache(temporary.path()).find(shelf, key));
}

TEST_F(CacheTest, FoldersAreMadeForThisUserAlone) {
  const mode_t before = umask(0);
  got();
  umask(before);
  for (const auto &e : fs::recursive_directory_iterator(folder.file("")))
    if (e.is_directory()) {
      EXPECT_EQ(e.status().permissions(), fs::perms::owner_all) << e.path();
    }
}

class PrivateFolder : public CacheTest {
 protected:
  void expect_refused(const std::string &culprit, const std::string &why) {
    expect_error([&] { got(); }, {culprit, why});
    EXPECT_EQ(made, 0);
  }
  static void give_away(const std::string &file) {
    if (lchown(file.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only the superuser gives files away";
  }
};

TEST_F(PrivateFolder, ThatOthersMayReadIsTaken) {
  fs::create_directory(path);
  fs::permissions(path, static_cast<fs::perms>(0755));
  got();
}

TEST_F(PrivateFolder, ThatOthersMayWriteToIsRefused) {
  fs::create_directory(path);
  for (const int mode : {0777, 01777, 0770, 0702}) {
    fs::permissions(path, static_cast<fs::perms>(mode));
    expect_refused(path, " may ");
  }
}

TEST_F(PrivateFolder, ThatOthersMayExchangeIsRefused) {
  fs::create_directory(path);
  fs::permissions(path, static_cast<fs::perms>(0777));
  expect_error([&] { Cache(path + "/inside"); }, {path, "everybody may exchange what is in it"});
  fs::permissions(path, static_cast<fs::perms>(01777));
  Cache(path + "/inside");
}

TEST_F(PrivateFolder, OfAnotherUserIsRefused) {
  fs::create_directory(path);
  ASSERT_NO_FATAL_FAILURE(give_away(path));
  if (IsSkipped()) return;
  expect_refused(path, "belongs to user 12345");
}

TEST_F(PrivateFolder, BehindALinkOfAnotherUserIsRefused) {
  fs::create_directory(folder.file("elsewhere"));
  fs::create_symlink("elsewhere", path);
  got();  // a link of one's own
  EXPECT_TRUE(fs::exists(folder.file("elsewhere/shelf")));
  give_away(path);
  if (IsSkipped()) return;
  expect_error([&] { Cache{path}; }, {path, "link of user 12345"});
}

TEST_F(PrivateFolder, WithAnEntryOfAnotherUserMakesItAgain) {
  give_away(got().folder);
  if (IsSkipped()) return;
  got();
  EXPECT_EQ(made, 2);
}

TEST_F(PrivateFolder, WithAnEntryThatOthersMayWriteToMakesItAgain) {
  fs::permissions(got().folder, static_cast<fs::perms>(0777));
  got();
  EXPECT_EQ(made, 2);
  fs::permissions(path + "/" + shelf, static_cast<fs::perms>(0770));
  fs::permissions(got().folder, static_cast<fs::perms>(0770));
  got();
  EXPECT_EQ(made, 3);
}

TEST_F(PrivateFolder, WhoseLockCannotBeTakenSaysSo) {
  fs::create_directory(path);
  fs::permissions(path, static_cast<fs::perms>(0700));
  fs::create_directory(path + "/lock");
  expect_error([&] { got(); }, {path + "/lock"});
}

TEST_F(PrivateFolder, ThatIsAFileIsRefused) {
  put(path, "a file");
  expect_refused(path, "is not a folder");
}

TEST(TemporaryFolder, OfAKilledProcessIsRemovedByTheNext) {
  const ScratchFolder folder;
  const std::string prefix = folder.file("work.");
  OtherProcess other([&](const auto &wait) {
    const generators::TemporaryFolder work(prefix);
    put(work.file("half"), "a file");
    wait();
  });
  { const generators::TemporaryFolder work(prefix); }
  EXPECT_EQ(folder.count(), 1u) << "a living process keeps its own";
  other.end();
  { const generators::TemporaryFolder work(prefix); }
  EXPECT_EQ(folder.count(), 0u);
}

// Compilers that are killed leave files, too.
TEST(TemporaryFolder, HoldsTheTemporaryFilesOfProgramsThatRunInIt) {
  const generators::TemporaryFolder folder;
  generators::run_program({"sh", "-c", "echo -n \"$TMPDIR\" > seen"}, folder.path());
  EXPECT_EQ(bytes_of_file(folder.file("seen")), folder.path());
  expect_error(
      [&] {
        generators::run_program({"sh", "-c", "echo because; exit 3"}, folder.path());
      },
      {"'sh' failed", "because"});
}

}  // namespace
}  // namespace saltern
