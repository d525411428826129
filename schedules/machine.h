#pragma once
// What a schedule may know about the machine that it compiles for.

#include <Halide.h>

#include <array>
#include <string>

#include "dsl/cpu.h"

namespace saltern {

struct Machine {
  Halide::Target target;
  int vector_registers;  // architectural vector registers

  static Machine of(const Halide::Target &target) {
    const bool wide = target.has_feature(Halide::Target::AVX512_Skylake) || target.arch == Halide::Target::ARM;
    return {target, wide ? 32 : 16};
  }

  // Elements in one vector register.
  int lanes(const Halide::Type &type) const { return target.natural_vector_size(type); }
  int float_lanes() const { return lanes(Halide::Float(32)); }
  bool is_gpu() const { return target.has_gpu_feature(); }
};

// The CPU targets that every library kernel is built for, best first: at run time the first that the CPU has is used.
struct CpuTarget {
  std::string name;
  std::string halide;
};

inline const std::array<CpuTarget, 3> &cpu_targets() {
  static const std::array<CpuTarget, 3> targets = {{
      {"avx512", "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake"},
      {"avx2", "x86-64-linux-sse41-avx-f16c-fma-avx2"},
      {"sse41", "x86-64-linux-sse41"},
  }};
  return targets;
}

// The best CPU target that this machine can run; not Halide's get_host_target(), for the reason that dsl/cpu.h gives.
inline Halide::Target host_target() {
  return Halide::Target(cpu_targets()[cpu_has_avx512() ? 0 : cpu_has_avx2() ? 1 : 2].halide);
}

}  // namespace saltern
