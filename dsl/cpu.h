#pragma once
// Which instruction sets this CPU has, for both worlds: what kernels may be called, and what the host is compiled for.
//
// Asked of the CPU itself and of what its operating system saves (XGETBV), both of which __builtin_cpu_supports looks
// at. Halide's own detectors go by the CPU's model, and are wrong where a hypervisor hides features of it (seen on an
// AMD Zen 4 without AVX-512). Each set is all that its kernels' target names: see cpu_targets() in schedules/machine.h.

namespace saltern {

inline bool cpu_has_sse41() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.1");
}

inline bool cpu_has_avx2() {
  return cpu_has_sse41() && __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
}

inline bool cpu_has_avx512() {
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace saltern
