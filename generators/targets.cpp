#include "generators/targets.h"

#include <algorithm>
#include <array>

#include "generators/kernel.h"
#include "runtime/error.h"
#include "schedules/by_structure.h"
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

std::string halide_target(InstructionSet set) {
  for (const CpuTarget &t : cpu_targets())
    if (t.name == name(set)) return t.halide;
  fail("no CPU target is called ", name(set));
}

std::string gpu_features(const std::string &gpu) {
  for (const GpuRow &g : gpu_rows)
    if (g.name == gpu) return g.features;
  fail("there is no GPU target '", gpu, "'; expected opencl or cuda");
}

bool has_gpu_pattern(const std::string &of) {
  using formula::Pattern;
  for (const Pattern p : {Pattern::map, Pattern::gather, Pattern::row, Pattern::column, Pattern::window,
                          Pattern::contraction, Pattern::scatter, Pattern::scan, Pattern::recurrence})
    if (formula::name(p) == of) return schedules::has_gpu_pattern(p);
  fail("there is no class '", of, "'");
}

std::vector<KernelTargets> all_kernel_targets() {
  std::vector<KernelTargets> all;
  for (const Kernel &k : all_kernels()) {
    const Build b = k.build(Halide::Target(host_target().to_string() + gpu_rows[0].features), Build::Schedule::own);
    KernelTargets row = {k.name, {}, b.why_no_gpu()};
    for (const formula::Pattern p : b.classes()) row.classes.emplace_back(formula::name(p));
    all.push_back(std::move(row));
  }
  std::sort(all.begin(), all.end(), [](const KernelTargets &a, const KernelTargets &b) {
    return std::pair(a.classes, a.name) < std::pair(b.classes, b.name);
  });
  return all;
}

}  // namespace saltern::generators
