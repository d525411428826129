#include "generators/declared_timings.h"

#include "generators/kernel.h"

namespace saltern::generators {

std::vector<DeclaredTiming> declared_timings() {
  std::vector<DeclaredTiming> all;
  for (const Kernel &k : all_kernels())
    for (const Timing &t : k.timings) all.push_back({k.name, t.label, t.call, t.flops});
  return all;
}

}  // namespace saltern::generators
