#pragma once
// The instruction sets that library kernels are built for, and which of them this CPU has. Kernels choose the best at
// run time; a test or a benchmark can hold them to a lesser one.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/temporarily.h"

namespace saltern {

enum class InstructionSet { sse41, avx2, avx512 };
constexpr int instruction_sets = 3;

std::string_view name(InstructionSet set);
InstructionSet instruction_set(std::string_view name);

// Those that this CPU has, least first.
std::vector<InstructionSet> available_instruction_sets();

// The one that kernels are called for: the best that this CPU has, or the limit that is set.
InstructionSet instruction_set_in_use();

// What this machine's CPU calls itself, for measured times belong to it; "unknown" where the system does not say.
std::string cpu_model();

// While it lives, kernels use nothing better than `set`. Not for concurrent use.
struct LimitInstructionSet : Temporarily<InstructionSet> {
  explicit LimitInstructionSet(InstructionSet set);
};

}  // namespace saltern
