#include "algorithms/elementwise.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Value;

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

// Fast where both operands are dense, or one of them is broadcast along the innermost dimension; dy, where there is one,
// is dense.
void schedule(Build &k) {
  std::vector<Halide::Expr> vectorizable;
  for (const std::vector<int> &strides : std::vector<std::vector<int>>{{1, 1, 1}, {1, 0, 1}, {0, 1, 1}}) {
    Halide::Expr all = Halide::Internal::const_true();
    for (size_t i = 0; i < k.buffers().size(); ++i) all = all && k.buffers()[i].dim(0).stride() == strides[i];
    vectorizable.push_back(all);
  }
  k.schedule([&](const Machine &m) { k.by_structure(m, {}, vectorizable); });
}

// All inputs have the full shape: broadcasting is strides of zero.
Value operand(Build &k, const std::string &name, Range range = {}) {
  return k.strided_input(name, {"e", "d", "c", "b", "a"}, Type::f32, range);
}

// NAME(a, b) -> y, NAME_gradient_a(a, b, dy) -> da, NAME_gradient_b(a, b, dy) -> db for every row of the table. The
// gradient of an operand that was broadcast has the full shape here; its sum is a reduction's task.
std::vector<Kernel> declare() {
  std::vector<Kernel> kernels;
  for (const algorithms::BinaryRow &f : algorithms::binary_rows()) {
    const Range domain = {f.low, f.high};
    kernels.emplace_back(
        f.name,
        [&f, domain](Build &k) {
          const Value a = operand(k, "a", domain), b = operand(k, "b", domain);
          k.output("y", f.of(a, b));
          schedule(k);
        },
        calls(2), timings(2));
    for (const bool second : {false, true})
      kernels.emplace_back(
          f.name + (second ? "_gradient_b" : "_gradient_a"),
          [&f, domain, second](Build &k) {
            const Value a = operand(k, "a", domain), b = operand(k, "b", domain), dy = operand(k, "dy");
            const Value d = formula::gradient({f.of(a, b)}, {dy}, {second ? b : a})[0];
            k.output(second ? "db" : "da", d);
            schedule(k);
          },
          calls(3), timings(3));
  }
  return kernels;
}

const std::vector<Kernel> kernels = declare();

}  // namespace
}  // namespace saltern::generators
