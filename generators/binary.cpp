#include "algorithms/binary.h"

#include "generators/kernel.h"
#include "schedules/patterns/elementwise.h"

namespace saltern::generators {
namespace {

using algorithms::Binary;
using dsl::Tensor;

// The same extents for every one of `inputs` inputs.
std::vector<Call> calls(size_t inputs) {
  std::vector<Call> all;
  for (const std::vector<int> &extents :
       std::vector<std::vector<int>>{{1, 5, 1, 4, 3}, {17, 3, 2, 1, 2}, {40001, 1, 1, 1, 1}, {5, 7000, 1, 1, 1}})
    all.emplace_back(inputs, CallArgument(extents));
  return all;
}

std::vector<Timing> timings(size_t inputs) {
  const int million = 1 << 20;
  return {{"1M", Call(inputs, CallArgument({million, 1, 1, 1, 1})), 1.0 * million}};
}

// Fast where both operands are dense, or one of them is broadcast along the innermost dimension.
void schedule(Halide::Func out, const Build &k, const Machine &m) {
  std::vector<Halide::OutputImageParam> inputs;
  for (const Halide::ImageParam &p : k.buffers()) inputs.push_back(p);
  std::vector<Halide::Expr> vectorizable;
  for (const std::vector<int> &operands : std::vector<std::vector<int>>{{1, 1}, {1, 0}, {0, 1}}) {
    std::vector<int> strides = operands;
    strides.resize(inputs.size(), 1);  // dy, where there is one
    vectorizable.push_back(schedules::innermost_strides(inputs, strides));
  }
  schedules::elementwise(out, vectorizable, m);
}

// NAME(a, b) -> y, NAME_gradient_a(a, b, dy) -> da, NAME_gradient_b(a, b, dy) -> db for every row of the table.
std::vector<Kernel> declare() {
  std::vector<Kernel> kernels;
  for (const Binary &f : algorithms::binary_functions()) {
    const Range domain = {f.low, f.high};
    kernels.emplace_back(
        f.name,
        [&f, domain](Build &k) {
          const Tensor a = k.strided_input("a", 5, Halide::Float(32), domain),
                       b = k.strided_input("b", 5, Halide::Float(32), domain);
          const Halide::Func out = k.output("y", algorithms::apply(f, a, b));
          k.schedule([&](const Machine &m) { schedule(out, k, m); });
        },
        calls(2), timings(2));
    using Gradient = Tensor (*)(const Binary &, const Tensor &, const Tensor &, const Tensor &);
    const auto declare_gradient = [&](const char *operand, Gradient gradient) {
      kernels.emplace_back(
          f.name + "_gradient_" + operand,
          [&f, domain, operand, gradient](Build &k) {
            const Tensor a = k.strided_input("a", 5, Halide::Float(32), domain),
                         b = k.strided_input("b", 5, Halide::Float(32), domain), dy = k.strided_input("dy", 5);
            const Halide::Func out = k.output(std::string("d") + operand, gradient(f, a, b, dy));
            k.schedule([&](const Machine &m) { schedule(out, k, m); });
          },
          calls(3), timings(3));
    };
    declare_gradient("a", algorithms::gradient_of_a);
    declare_gradient("b", algorithms::gradient_of_b);
  }
  return kernels;
}

const std::vector<Kernel> kernels = declare();

}  // namespace
}  // namespace saltern::generators
