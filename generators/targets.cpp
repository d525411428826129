#include "generators/targets.h"

#include <array>

#include "runtime/kernels/instruction_set.h"
#include "schedules/machine.h"

namespace saltern::generators {

namespace {

// What a GPU target adds to the host's CPU target.
struct GpuRow {
  const char *name, *features;
};

constexpr std::array<GpuRow, 2> gpu_rows = {{{"opencl", "-opencl"}, {"cuda", "-cuda-cuda_capability_80"}}};

bool runs_here(const std::string &target) {
  for (InstructionSet set : available_instruction_sets())
    if (name(set) == target) return true;
  return false;
}

}  // namespace

std::vector<TargetFacts> all_targets() {
  std::vector<TargetFacts> all;
  for (const CpuTarget &t : cpu_targets()) all.push_back({t.name, "cpu", t.halide, runs_here(t.name)});
  for (const GpuRow &g : gpu_rows) all.push_back({g.name, "gpu", host_target().to_string() + g.features, false});
  return all;
}

}  // namespace saltern::generators
