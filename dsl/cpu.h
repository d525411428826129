#pragma once
// Which instruction sets this CPU has, for both worlds: what kernels may be called, and what the host is compiled for.
//
// Asked of the CPU itself and of what its operating system saves (XGETBV), both of which __builtin_cpu_supports looks
// at. Halide's own detectors go by the CPU's model, and are wrong where a hypervisor hides features of it (seen on an
// AMD Zen 4 without AVX-512). Each set is all that its kernels' target names: see cpu_targets() in schedules/machine.h.

#include <cpuid.h>

namespace saltern {

inline bool cpu_has_sse41() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.1");
}

// (Not every compiler's __builtin_cpu_supports knows its name; its registers are AVX's.)
inline bool cpu_has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

inline bool cpu_has_avx2() {
  return cpu_has_sse41() && __builtin_cpu_supports("avx") && cpu_has_f16c() && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("avx2");
}

inline bool cpu_has_avx512() {
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace saltern
