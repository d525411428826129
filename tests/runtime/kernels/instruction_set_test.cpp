// The instruction sets that are said to be here are those that the kernel of the operating system lists, which it does
// only where it saves their registers too.

#include "runtime/kernels/instruction_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "runtime/error.h"

namespace saltern {
namespace {

std::set<std::string> cpu_flags() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

// What each set's kernels are compiled to use: all of it has to be there.
const std::vector<std::pair<InstructionSet, std::set<std::string>>> needs = {
    {InstructionSet::sse41, {"sse4_1"}},
    {InstructionSet::avx2, {"sse4_1", "avx", "f16c", "fma", "avx2"}},
    {InstructionSet::avx512,
     {"sse4_1", "avx", "f16c", "fma", "avx2", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}},
};

TEST(InstructionSets, AreThoseThatTheOperatingSystemLists) {
  const std::set<std::string> flags = cpu_flags();
  ASSERT_FALSE(flags.empty());
  std::vector<InstructionSet> here;
  for (const auto &[set, features] : needs)
    if (std::includes(flags.begin(), flags.end(), features.begin(), features.end())) here.push_back(set);
  EXPECT_EQ(available_instruction_sets(), here);
}

TEST(InstructionSets, TheBestIsUsedUnlessLimited) {
  EXPECT_EQ(instruction_set_in_use(), available_instruction_sets().back());
  {
    const LimitInstructionSet limit(InstructionSet::sse41);
    EXPECT_EQ(instruction_set_in_use(), InstructionSet::sse41);
    const LimitInstructionSet no_way_back(InstructionSet::avx512);
    EXPECT_EQ(instruction_set_in_use(), InstructionSet::sse41);
  }
  EXPECT_EQ(instruction_set_in_use(), available_instruction_sets().back());
}

TEST(InstructionSets, HaveNames) {
  for (const auto &[set, features] : needs) EXPECT_EQ(instruction_set(name(set)), set);
  EXPECT_THROW(instruction_set("mmx"), Error);
}

}  // namespace
}  // namespace saltern
