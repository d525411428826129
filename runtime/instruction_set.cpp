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

InstructionSet limit = InstructionSet::avx512;

bool has(const uint64_t *features, halide_target_feature_t f) { return (features[f / 64] >> (f % 64)) & 1; }

int can_use_up_to_limit(int count, const uint64_t *features) {
  for (const Row &r : rows)
    if (r.set > limit && has(features, r.feature)) return 0;
  return halide_default_can_use_target_features(count, features);
}

bool cpu_has(halide_target_feature_t f) {
  constexpr int words = (halide_target_feature_end + 63) / 64;
  std::array<uint64_t, words> features = {};
  features[f / 64] |= uint64_t{1} << (f % 64);
  return halide_default_can_use_target_features(words, features.data()) != 0;
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

LimitInstructionSet::LimitInstructionSet(InstructionSet set) : previous_(limit) {
  limit = std::min(limit, set);
  halide_set_custom_can_use_target_features(can_use_up_to_limit);
}

LimitInstructionSet::~LimitInstructionSet() { limit = previous_; }

}  // namespace saltern
