// The two worlds stay apart: who may include what, and what an algorithm may not say.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = SALTERN_SOURCE_DIR;

std::vector<std::string> sources(const std::string &folder) {
  std::vector<std::string> found;
  for (const auto &entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cpp" || extension == ".c")
      found.push_back(fs::relative(entry.path(), root).string());
  }
  return found;
}

std::vector<std::string> lines(const std::string &file) {
  std::ifstream in(root / file);
  EXPECT_TRUE(in) << file;
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

std::set<std::string> includes(const std::string &file) {
  static const std::regex directive(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"])re");
  std::set<std::string> found;
  std::smatch match;
  for (const std::string &line : lines(file))
    if (std::regex_search(line, match, directive)) found.insert(match[1]);
  return found;
}

// Everything that a file includes, however far away.
std::set<std::string> reached_from(const std::string &file) {
  std::set<std::string> seen;
  std::vector<std::string> open = {file};
  while (!open.empty()) {
    const std::string next = open.back();
    open.pop_back();
    for (const std::string &i : includes(next))
      if (seen.insert(i).second && fs::exists(root / i)) open.push_back(i);
  }
  return seen;
}

bool is_in(const std::string &path, const std::string &folder) { return path.rfind(folder + "/", 0) == 0; }

TEST(Worlds, TheRunWorldNeverReachesTheHalideCompiler) {
  for (const std::string folder : {"runtime", "apps"})
    for (const std::string &file : sources(folder))
      EXPECT_EQ(reached_from(file).count("Halide.h"), 0u) << file << " reaches Halide.h";
}

// What both worlds share are those headers of the language that need no Halide, which the test before this one asks.
TEST(Worlds, TheRuntimeKnowsNothingOfTheCompileWorldButTheLanguage) {
  for (const std::string &file : sources("runtime"))
    for (const std::string &i : includes(file))
      for (const std::string folder : {"schedules", "autoscheduler", "generators", "apps"})
        EXPECT_FALSE(is_in(i, folder)) << file << " includes " << i;
}

TEST(Worlds, AlgorithmsDoNotKnowSchedules) {
  for (const std::string folder : {"dsl", "algorithms"})
    for (const std::string &file : sources(folder))
      for (const std::string &i : includes(file))
        EXPECT_FALSE(is_in(i, "schedules") || is_in(i, "generators") || is_in(i, "runtime"))
            << file << " includes " << i;
}

TEST(Worlds, NoAlgorithmHasAScheduleDirective) {
  const std::regex directive(
      R"(\.(vectorize|parallel|unroll|compute_at|compute_root|store_at|store_in|gpu_tile|gpu_blocks|reorder|tile|split)\()");
  for (const std::string folder : {"dsl", "algorithms"})
    for (const std::string &file : sources(folder))
      for (const std::string &line : lines(file))
        EXPECT_FALSE(std::regex_search(line, directive)) << file << ": " << line;
}

TEST(Worlds, NoSourceFileIsLongerThan500Lines) {
  for (const std::string folder :
       {"dsl", "algorithms", "schedules", "autoscheduler", "generators", "runtime", "apps", "tests", "bench"})
    for (const std::string &file : sources(folder)) EXPECT_LE(lines(file).size(), 500u) << file;
}

}  // namespace
