// The tuning database keeps what it is told, finds the best, and refuses files that are not its own by name.

#include "autoscheduler/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <thread>
#include <vector>

#include "tests/scratch_folder.h"

namespace saltern::autoscheduler {
namespace {

// The path of a file that is not there, a name for each test.
std::string fresh(const std::string &name) {
  static const ScratchFolder folder;
  return folder.file(name + ".sqlite");
}

void expect_error_that_names(const std::string &path) {
  expect_error([&] { Database database(path); }, {path});
}

const Call call = {{64, 32}, {64, 16}, std::vector<int>{16}, 3};

TEST(Database, KeepsResultsAndFindsTheBest) {
  const std::string path = fresh("best");
  {
    Database d(path);
    d.record("dense", call, "avx2", {{{"rows", 4}}, 2.0, 0.5});
    d.record("dense", call, "avx2", {{{"rows", 6}}, 1.0, 0.9});
    d.record("dense", call, "avx2", {{{"rows", 8}}, 0, 0});
    d.record("dense", call, "sse41", {{{"rows", 2}}, 0.5, 0.95});
  }
  const Database d(path);
  const auto best = d.best("dense", call, "avx2");
  ASSERT_TRUE(best);
  EXPECT_EQ(best->knobs, (Knobs{{"rows", 6}}));
  EXPECT_EQ(best->milliseconds, 1.0);
  EXPECT_TRUE(d.find("dense", call, "avx2", {{"rows", 8}})->failed());
  EXPECT_FALSE(d.find("dense", call, "avx2", {{"rows", 10}}));
  EXPECT_FALSE(d.best("dense", {{64, 32}}, "avx2"));
  EXPECT_FALSE(d.best("conv2d", call, "avx2"));
}

TEST(Database, AFailedCandidateIsNeverTheBest) {
  Database d(fresh("failed"));
  d.record("dense", call, "avx2", {{{"rows", 8}}, 0, 0});
  EXPECT_FALSE(d.best("dense", call, "avx2"));
}

TEST(Database, ALaterResultReplacesAnEarlier) {
  Database d(fresh("replace"));
  d.record("dense", call, "avx2", {{{"rows", 4}}, 2.0, 0.5});
  d.record("dense", call, "avx2", {{{"rows", 4}}, 1.0, 0.8});
  EXPECT_EQ(d.find("dense", call, "avx2", {{"rows", 4}})->share_of_peak, 0.8);
}

TEST(Database, WhatWasFoundOnAnotherCpuIsNotTakenForThisOnes) {
  const std::string path = fresh("cpus");
  Database here(path), there(path, "another CPU");
  there.record("dense", call, "avx2", {{{"rows", 4}}, 1.0, 0.9});
  EXPECT_FALSE(here.best("dense", call, "avx2"));
  EXPECT_FALSE(here.find("dense", call, "avx2", {{"rows", 4}}));
  here.record("dense", call, "avx2", {{{"rows", 4}}, 2.0, 0.5});
  EXPECT_EQ(here.best("dense", call, "avx2")->share_of_peak, 0.5);
  EXPECT_EQ(there.best("dense", call, "avx2")->share_of_peak, 0.9);
}

TEST(Database, OfTheFirstLayoutIsTakenOverAsOfNoKnownCpu) {
  const std::string path = fresh("first_layout");
  sqlite3 *db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db,
                         "CREATE TABLE measurement(kernel TEXT NOT NULL, call TEXT NOT NULL, target TEXT NOT NULL, "
                         "knobs TEXT NOT NULL, milliseconds REAL, share_of_peak REAL NOT NULL, version TEXT NOT NULL, "
                         "date TEXT NOT NULL, PRIMARY KEY(kernel, call, target, knobs));"
                         "INSERT INTO measurement VALUES('dense', '[[8,8]]', 'avx2', '{\"rows\":4}', 1.0, 0.9, '', '');"
                         "PRAGMA application_id=1396788308; PRAGMA user_version=1",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  Database here(path);
  EXPECT_FALSE(here.best("dense", {{8, 8}}, "avx2"));
  EXPECT_EQ(Database(path, "").best("dense", {{8, 8}}, "avx2")->share_of_peak, 0.9);
  here.record("dense", call, "avx2", {{{"rows", 4}}, 2.0, 0.5});
  EXPECT_TRUE(Database(path).best("dense", call, "avx2"));
}

TEST(Database, RemembersHowLongACandidateWasGiven) {
  Database d(fresh("timed_out"));
  d.record("dense", call, "avx2", {{{"rows", 4}}, 0, 0, 30});
  const auto known = d.find("dense", call, "avx2", {{"rows", 4}});
  EXPECT_TRUE(known->failed());
  EXPECT_EQ(known->timed_out_after, 30);
}

TEST(Database, TwoHandlesWriteTheSameFile) {
  const std::string path = fresh("two");
  Database a(path), b(path);
  a.record("dense", call, "avx2", {{{"rows", 4}}, 2.0, 0.5});
  b.record("dense", call, "avx2", {{{"rows", 6}}, 1.0, 0.9});
  EXPECT_EQ(a.best("dense", call, "avx2")->knobs.at("rows"), 6);
}

// Builds and tuners that start together find no file, and each makes it.
TEST(Database, ManyMakeTheSameFileAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = fresh("many" + std::to_string(round));
    std::vector<std::string> errors(8);
    std::vector<std::thread> all;
    for (std::string &error : errors)
      all.emplace_back([&path, &error] {
        try {
          Database(path).record("dense", call, "avx2", {{{"rows", 4}}, 2.0, 0.5});
        } catch (const Error &e) {
          error = e.what();
        }
      });
    for (std::thread &t : all) t.join();
    for (const std::string &error : errors) ASSERT_EQ(error, "");
  }
}

TEST(Database, ThatDoesNotExistIsNotMadeByReading) {
  const std::string path = fresh("absent");
  EXPECT_FALSE(Database::existing(path));
  EXPECT_FALSE(std::ifstream(path).good());
}

TEST(Database, NoDatabaseAtAllIsAnErrorThatNamesTheFile) {
  const std::string path = fresh("junk");
  std::ofstream(path) << std::string(5000, 'x');
  expect_error_that_names(path);
}

TEST(Database, ATruncatedFileIsAnErrorThatNamesTheFile) {
  const std::string path = fresh("truncated");
  {
    Database d(path);
    for (int i = 0; i < 200; ++i) d.record("dense", call, "avx2", {{{"rows", i}}, 2.0, 0.5});
  }
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  ASSERT_GT(bytes.size(), 8192u);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, 6000);
  expect_error(
      [&] {
        const Database d(path);
        (void)d.best("dense", call, "avx2");
      },
      {path});
}

TEST(Database, OfAnotherProgramIsAnErrorThatNamesTheFile) {
  const std::string path = fresh("foreign");
  sqlite3 *db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE t(x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  expect_error_that_names(path);
}

TEST(Database, InAFolderThatCannotBeMadeIsAnErrorThatNamesTheFile) { expect_error_that_names("/dev/null/x.sqlite"); }

}  // namespace
}  // namespace saltern::autoscheduler
