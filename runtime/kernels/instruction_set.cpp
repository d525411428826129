#include "runtime/kernels/instruction_set.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "dsl/cpu.h"
#include "runtime/error.h"

namespace saltern {

namespace {

struct Row {
  InstructionSet set;
  std::string_view name;
  bool (*cpu_has_it)();
};

constexpr std::array<Row, 3> rows = {{
    {InstructionSet::sse41, "sse41", cpu_has_sse41},
    {InstructionSet::avx2, "avx2", cpu_has_avx2},
    {InstructionSet::avx512, "avx512", cpu_has_avx512},
}};

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
    if (r.cpu_has_it()) sets.push_back(r.set);
  return sets;
}

InstructionSet instruction_set_in_use() { return in_use(); }

std::string cpu_model() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (const size_t colon = line.find(": "); line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown";
}

LimitInstructionSet::LimitInstructionSet(InstructionSet set) : Temporarily(in_use(), std::min(set, in_use())) {}

}  // namespace saltern
