// This program names no layer: what it finds is what a linker takes of a static library for any program.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "runtime/autograd/operation.h"

namespace saltern {
namespace {

// As the files of layers have them: const Operation softmax("softmax", ... and SALTERN_UNARY(relu)
std::vector<std::string> written_rows() {
  static const std::regex row(R"re((const (Operation|Binary) \w+\(\s*"|\nSALTERN_UNARY\()(\w+))re");
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(SALTERN_SOURCE_DIR "/runtime/layers")) {
    if (entry.path().extension() != ".cpp") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string s = text.str();
    for (auto it = std::sregex_iterator(s.begin(), s.end(), row); it != std::sregex_iterator(); ++it)
      names.push_back((*it)[3]);
  }
  return names;
}

TEST(Rows, EveryOneIsInTheTable) {
  const std::vector<std::string> names = written_rows();
  EXPECT_GE(names.size(), 50u) << "the rows are written in another way";
  for (const std::string &name : names) EXPECT_NE(find_operation(name), nullptr) << name;
}

}  // namespace
}  // namespace saltern
