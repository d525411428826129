#include "runtime/instruction_set.h"

#include <HalideRuntime.h>

#include <algorithm>
#include <array>

#include "runtime/error.h"

namespace saltern {

namespace {

struct Row {
  InstructionSet set;
  std::string_view name;
  halide_target_feature_t feature;  // one that the set has and lesser ones have not
};

constexpr std::array<Row, 3> rows = {{
    {InstructionSet::sse41, "sse41", halide_target_feature_sse41},
    {InstructionSet::avx2, "avx2", halide_target_feature_avx2},
    {InstructionSet::avx512, "avx512", halide_target_feature_avx512_skylake},
}};

bool cpu_has(halide_target_feature_t f) {
  constexpr int words = (halide_target_feature_end + 63) / 64;
  std::array<uint64_t, words> features = {};
  features[f / 64] |= uint64_t{1} << (f % 64);
  return halide_default_can_use_target_features(words, features.data()) != 0;
}

InstructionSet best() {
  const std::vector<InstructionSet> sets = available_instruction_sets();
  if (sets.empty()) fail("this CPU has no SSE4.1, which is the least that kernels are built for");
  return sets.back();
}

InstructionSet &in_use() {
  static InstructionSet set = best();
  return set;
}

}  // namespace

std::string_view name(InstructionSet set) { return rows[static_cast<size_t>(set)].name; }

InstructionSet instruction_set(std::string_view name) {
  for (const Row &r : rows)
    if (r.name == name) return r.set;
  fail("there is no instruction set '", name, "'; expected sse41, avx2 or avx512");
}

std::vector<InstructionSet> available_instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const Row &r : rows)
    if (cpu_has(r.feature)) sets.push_back(r.set);
  return sets;
}

InstructionSet instruction_set_in_use() { return in_use(); }

LimitInstructionSet::LimitInstructionSet(InstructionSet set) : previous_(in_use()) {
  in_use() = std::min(set, previous_);
}

LimitInstructionSet::~LimitInstructionSet() { in_use() = previous_; }

}  // namespace saltern
