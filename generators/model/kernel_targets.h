#pragma once
// The targets that a kernel is compiled for: those that were asked for, and where it multiplies bytes, AVX-512 with VNNI
// beside AVX-512 without: four products an instruction instead of two. Which of them runs the CPU is asked.

#include <vector>

#include "generators/model/emit.h"
#include "schedules/machine.h"

namespace saltern::generators {

// Best first.
inline std::vector<CpuTarget> targets_of(const EmittedKernel &kernel, const std::vector<CpuTarget> &asked) {
  std::vector<CpuTarget> all;
  for (const CpuTarget &t : asked) {
    // Halide has no feature for VNNI alone; Zen 4 is the least that has it.
    if (kernel.multiplies_bytes && t.name == "avx512")
      all.push_back({"avx512_vnni", t.halide + "-avx512_cannonlake-avx512_zen4"});
    all.push_back(t);
  }
  return all;
}

// The feature that tells them apart, as Halide's run-time support numbers it.
inline int bytes_feature() { return static_cast<int>(Halide::Target::AVX512_Zen4); }

}  // namespace saltern::generators
