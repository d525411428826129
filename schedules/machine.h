#pragma once
// What a schedule may know about the machine that it compiles for.

#include <Halide.h>

#include <array>
#include <string>

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

// The best CPU target that this machine can run. Halide's own get_host_target() goes by the CPU's model, and is wrong
// where a hypervisor hides features of it (seen on an AMD Zen 4 without AVX-512).
inline Halide::Target host_target() {
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return Halide::Target(cpu_targets()[avx512 ? 0 : avx2 ? 1 : 2].halide);
}

}  // namespace saltern
