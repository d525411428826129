#include "algorithms/elementwise.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

const int million = 1 << 20;

// NAME(x) -> y and NAME_gradient(x, dy) -> dx for every row of the table.
std::vector<Kernel> declare() {
  std::vector<Kernel> kernels;
  for (const algorithms::UnaryRow &f : algorithms::unary_rows()) {
    const Range domain = {f.low, f.high};
    kernels.emplace_back(
        f.name, [&f, domain](Build &k) { k.output("y", f.of(k.input("x", {"n"}, Type::f32, domain))); },
        std::vector<Call>{{{1}}, {{17}}, {{40001}}}, std::vector<Timing>{{"1M", {{million}}, 1.0 * million}});
    kernels.emplace_back(
        f.name + "_gradient",
        [&f, domain](Build &k) {
          const formula::Value x = k.input("x", {"n"}, Type::f32, domain), dy = k.input("dy", {"n"});
          k.output("dx", formula::gradient({f.of(x)}, {dy}, {x})[0]);
        },
        std::vector<Call>{{{7}, {7}}, {{40001}, {40001}}},
        std::vector<Timing>{{"1M", {{million}, {million}}, 1.0 * million}});
  }
  return kernels;
}

const std::vector<Kernel> kernels = declare();

}  // namespace
}  // namespace saltern::generators
