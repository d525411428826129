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

// Folders in levels: a file may include what is in its own level or below, so that there is no cycle between levels.
using Levels = std::vector<std::vector<std::string>>;

const Levels folders = {{"dsl"},        {"algorithms"},    {"schedules"}, {"runtime"},
                        {"generators"}, {"autoscheduler"}, {"apps"}};

// Of runtime/. Rooms of one level know each other: a tensor is copied by a kernel, a gradient is made of layers.
const Levels rooms = {{"runtime/error.h", "runtime/temporarily.h", "runtime/version.h", "runtime/version.cpp"},
                      {"runtime/files"},
                      {"runtime/tensor", "runtime/kernels"},
                      {"runtime/formula"},
                      {"runtime/autograd", "runtime/layers", "runtime/layers.h", "runtime/operations.h",
                       "runtime/operations.cpp", "runtime/graph"},
                      {"runtime/data", "runtime/optim", "runtime/report", "runtime/nn"},
                      {"runtime/metrics", "runtime/transforms"},
                      {"runtime/training"},
                      {"runtime/onnx"},
                      {"runtime/python"}};

// -1: it is in none of them.
int level_of(const std::string &path, const Levels &levels) {
  for (size_t i = 0; i < levels.size(); ++i)
    for (const std::string &place : levels[i])
      if (path == place || is_in(path, place)) return static_cast<int>(i);
  return -1;
}

std::set<std::string> includes_upwards(const std::string &file, const std::set<std::string> &all,
                                       const Levels &levels) {
  std::set<std::string> found;
  for (const std::string &i : all)
    if (level_of(i, levels) > level_of(file, levels)) found.insert(i);
  return found;
}

void expect_no_include_upwards(const std::string &folder, const Levels &levels) {
  for (const std::string &file : sources(folder)) {
    EXPECT_GE(level_of(file, levels), 0) << file << " is in a place that nobody has ordered";
    for (const std::string &i : includes_upwards(file, includes(file), levels))
      ADD_FAILURE() << file << " includes " << i;
  }
}

TEST(Worlds, TheLanguageAndItsAlgorithmsNeedNoHalide) {
  for (const std::string folder : {"dsl", "algorithms"})
    for (const std::string &file : sources(folder))
      for (const std::string &i : reached_from(file))
        EXPECT_EQ(i.find("Halide"), std::string::npos) << file << ": " << i;
}

TEST(Worlds, FoldersIncludeDownwardsOnly) {
  for (const auto &level : folders)
    for (const std::string &folder : level) expect_no_include_upwards(folder, folders);
}

TEST(Worlds, RoomsOfTheRuntimeIncludeDownwardsOnly) { expect_no_include_upwards("runtime", rooms); }

TEST(Worlds, AnIncludeUpwardsIsFound) {
  const std::set<std::string> all = {"dsl/types.h", "generators/call.h", "autoscheduler/database.h", "Halide.h"};
  EXPECT_EQ(includes_upwards("generators/kernel.cpp", all, folders), std::set<std::string>{"autoscheduler/database.h"});
  EXPECT_EQ(includes_upwards("runtime/graph/graph.cpp", {"runtime/onnx/model.h", "runtime/layers/unary.h"}, rooms),
            std::set<std::string>{"runtime/onnx/model.h"});
}

// What both worlds share are those headers of the language that need no Halide, which the first test asks.
TEST(Worlds, TheRuntimeKnowsNoSchedules) {
  for (const std::string &file : sources("runtime"))
    for (const std::string &i : includes(file)) EXPECT_FALSE(is_in(i, "schedules")) << file << " includes " << i;
}

TEST(Worlds, NoAlgorithmHasAScheduleDirective) {
  const std::regex directive(
      R"(\.(vectorize|parallel|unroll|compute_at|compute_root|store_at|store_in|gpu_tile|gpu_blocks|reorder|tile|split)\()");
  for (const std::string folder : {"dsl", "algorithms"})
    for (const std::string &file : sources(folder))
      for (const std::string &line : lines(file))
        EXPECT_FALSE(std::regex_search(line, directive)) << file << ": " << line;
}

// Of two types with one name a program destroys one as the other, which nobody but a debug build notices.
TEST(Worlds, NoTwoHeadersDefineTypesOfOneName) {
  static const std::regex space(R"re(^namespace ([\w:]+) \{)re"),
      type(R"re(^(?:struct|class|enum class) (\w+)[^;]*\{)re");
  std::map<std::string, std::string> defined;
  std::smatch match;
  for (const auto &level : folders)
    for (const std::string &folder : level)
      for (const std::string &file : sources(folder)) {
        if (fs::path(file).extension() != ".h") continue;
        std::string within;
        for (const std::string &line : lines(file)) {
          if (std::regex_search(line, match, space)) within = match[1];
          if (!std::regex_search(line, match, type)) continue;
          const std::string name = within + "::" + match[1].str();  // or a part of it, in the same header
          EXPECT_EQ(defined.emplace(name, file).first->second, file) << "both define " << name;
        }
      }
  EXPECT_GT(defined.size(), 100u) << "types are not found any more";
}

TEST(Worlds, NoSourceFileIsLongerThan500Lines) {
  for (const std::string folder :
       {"dsl", "algorithms", "schedules", "autoscheduler", "generators", "runtime", "apps", "tests", "bench"})
    for (const std::string &file : sources(folder)) EXPECT_LE(lines(file).size(), 500u) << file;
}

}  // namespace
