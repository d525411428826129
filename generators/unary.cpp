#include "algorithms/unary.h"

#include "generators/kernel.h"
#include "schedules/patterns/elementwise.h"

namespace saltern::generators {
namespace {

using algorithms::Unary;
using dsl::Tensor;

const int million = 1 << 20;

// NAME(x) -> y and NAME_gradient(x, dy) -> dx for every row of the table.
std::vector<Kernel> declare() {
  std::vector<Kernel> kernels;
  for (const Unary &f : algorithms::unary_functions()) {
    const Range domain = {f.low, f.high};
    kernels.emplace_back(
        f.name,
        [&f, domain](Build &k) {
          const Tensor x = k.input("x", 1, Halide::Float(32), domain);
          const Halide::Func out = k.output("y", algorithms::apply(f, x));
          k.schedule([&](const Machine &m) { schedules::elementwise(out, m); });
        },
        std::vector<Call>{{{1}}, {{17}}, {{40001}}}, std::vector<Timing>{{"1M", {{million}}, 1.0 * million}});
    kernels.emplace_back(
        f.name + "_gradient",
        [&f, domain](Build &k) {
          const Tensor x = k.input("x", 1, Halide::Float(32), domain), dy = k.input("dy", 1);
          const Halide::Func out = k.output("dx", algorithms::gradient_of(f, x, dy));
          k.schedule([&](const Machine &m) { schedules::elementwise(out, m); });
        },
        std::vector<Call>{{{7}, {7}}, {{40001}, {40001}}},
        std::vector<Timing>{{"1M", {{million}, {million}}, 1.0 * million}});
  }
  return kernels;
}

const std::vector<Kernel> kernels = declare();

}  // namespace
}  // namespace saltern::generators
