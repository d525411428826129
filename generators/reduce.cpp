#include "algorithms/reduce.h"

#include "generators/kernel.h"
#include "schedules/patterns/elementwise.h"
#include "schedules/patterns/reduction.h"

namespace saltern::generators {
namespace {

using dsl::Tensor;

const std::vector<Call> shapes = {{{1, 1, 1}}, {{1, 129, 3}}, {{17, 5, 3}}, {{7, 1, 5}}, {{1, 40001, 1}}};

const Kernel sum("sum",
                 [](Build &k) {
                   const Tensor x = k.strided_input("x", 3), total = algorithms::sum(x);
                   const Halide::Func out = k.output("y", algorithms::scaled(total, k.real("scale")));
                   k.schedule([&](const Machine &m) {
                     schedules::associative_reduction(out, total.func(), k.buffers()[0], m);
                   });
                 },
                 {{{1, 1, 1}, 1.0}, {{1, 129, 3}, 0.5}, {{17, 5, 3}, 0.25}, {{7, 1, 5}, -2.0}, {{1, 40001, 1}, 1.0}},
                 {{"rows of 1024", {{1, 1024, 1024}, 1.0}, 1024.0 * 1024},
                  {"columns", {{1024, 1024, 1}, 1.0}, 1024.0 * 1024}});

const Kernel product_over(
    "product_over",
    [](Build &k) {
      const Tensor x = k.strided_input("x", 3, Halide::Float(32), {0.9, 1.1}), product = algorithms::product_over(x);
      const Halide::Func out = k.output("y", product);
      k.schedule([&](const Machine &m) { schedules::ordered_reduction(out, product.func(), k.buffers()[0], m); });
    },
    {{{1, 1, 1}}, {{1, 129, 3}}, {{17, 5, 3}}, {{7, 1, 5}}});

void declare_first(Build &k, Tensor (*algorithm)(const Tensor &)) {
  const Tensor first = algorithm(k.strided_input("x", 3));
  const Halide::Func out = k.outputs({"y", "index"}, first);
  k.schedule([&](const Machine &m) { schedules::ordered_reduction(out, first.func(), k.buffers()[0], m); });
}

const Kernel maximum_over("maximum_over", [](Build &k) { declare_first(k, algorithms::maximum_over); }, shapes,
                          {{"columns", {{1024, 1024, 1}}, 1024.0 * 1024}});
const Kernel minimum_over(
    "minimum_over", [](Build &k) { declare_first(k, algorithms::minimum_over); }, shapes);

const Kernel maximum_over_gradient(
    "maximum_over_gradient",
    [](Build &k) {
      const Tensor index = k.input("index", 2, Halide::Int(32), {0, 3}), dy = k.input("dy", 2);
      const Halide::Func out = k.output("dx", algorithms::maximum_over_gradient(index, dy, k.integer("count")));
      k.schedule([&](const Machine &m) { schedules::elementwise(out, m); });
    },
    {{{1, 1}, {1, 1}, 1}, {{17, 5}, {17, 5}, 3}, {{3, 50}, {3, 50}, 129}});

}  // namespace
}  // namespace saltern::generators
