#include "algorithms/reductions.h"
#include "generators/kernel.h"
#include "schedules/patterns/reduction.h"

namespace saltern::generators {
namespace {

using formula::Function;
using formula::Value;

const std::vector<Call> shapes = {{{1, 1, 1}}, {{1, 129, 3}}, {{17, 5, 3}}, {{7, 1, 5}}, {{1, 40001, 1}}};

Value reduced(Build &k, Range range = {}) { return k.strided_input("x", {"b", "r", "a"}, Type::f32, range); }

const Kernel sum("sum",
                 [](Build &k) {
                   const Value total = algorithms::over_middle(Function::sum, reduced(k));
                   const Halide::Func out = k.output("y", total * k.parameter("scale"));
                   k.schedule([&](const Machine &m) {
                     schedules::associative_reduction(out, k.stage(total).func, k.buffers()[0], m);
                   });
                 },
                 {{{1, 1, 1}, 1.0}, {{1, 129, 3}, 0.5}, {{17, 5, 3}, 0.25}, {{7, 1, 5}, -2.0}, {{1, 40001, 1}, 1.0}},
                 {{"rows of 1024", {{1, 1024, 1024}, 1.0}, 1024.0 * 1024},
                  {"columns", {{1024, 1024, 1}, 1.0}, 1024.0 * 1024}});

const Kernel product_over("product_over",
                          [](Build &k) {
                            const Value y = algorithms::over_middle(Function::product, reduced(k, {0.9, 1.1}));
                            const Halide::Func out = k.output("y", y);
                            k.schedule([&](const Machine &m) {
                              schedules::ordered_reduction(out, k.stage(y).func, k.buffers()[0], m);
                            });
                          },
                          {{{1, 1, 1}}, {{1, 129, 3}}, {{17, 5, 3}}, {{7, 1, 5}}});

// The best element, and where it comes first: one walk finds both.
void declare_best(Build &k, Function best, Function place) {
  const Value x = reduced(k), y = algorithms::over_middle(best, x), index = algorithms::over_middle(place, x);
  const Halide::Func out = k.outputs({"y", "index"}, {y, formula::cast(Type::i32, index)});
  k.schedule([&](const Machine &m) { schedules::ordered_reduction(out, k.stage(index).func, k.buffers()[0], m); });
}

const Kernel maximum_over("maximum_over",
                          [](Build &k) { declare_best(k, Function::greatest, Function::first_greatest); }, shapes,
                          {{"columns", {{1024, 1024, 1}}, 1024.0 * 1024}});
const Kernel minimum_over(
    "minimum_over", [](Build &k) { declare_best(k, Function::least, Function::first_least); }, shapes);

const Kernel maximum_over_gradient(
    "maximum_over_gradient",
    [](Build &k) {
      const Value index = k.input("index", {"b", "a"}, Type::i32, {0, 3}), dy = k.input("dy", {"b", "a"});
      k.output("dx", algorithms::at_its_place(index, dy, k.count("count", 1)));
    },
    {{{1, 1}, {1, 1}, 1}, {{17, 5}, {17, 5}, 3}, {{3, 50}, {3, 50}, 129}});

}  // namespace
}  // namespace saltern::generators
