#include "algorithms/dropout.h"

#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using dsl::Tensor;
using Halide::Expr;

const Kernel dropout("dropout",
                     [](Build &k) {
                       const Tensor x = k.input("x", 1);
                       const Expr seed = k.integer("seed"), offset = k.integer("offset"),
                                  probability = k.real("probability");
                       Halide::Func out = k.output("y", algorithms::dropout(x, seed, offset, probability));
                       k.schedule([&](const Machine &m) {
                         const Halide::Var i = out.args()[0];
                         Halide::Var task("task");
                         out.split(i, task, i, 4096, Halide::TailStrategy::GuardWithIf)
                             .vectorize(i, m.float_lanes(), Halide::TailStrategy::GuardWithIf)
                             .parallel(task);
                       });
                     },
                     {{{1}, 1, 0, 0.5}, {{7}, 2, 9, 0.0}, {{8193}, -3, 2147483000, 0.3}, {{100}, 5, 1, 1.0}},
                     {{"demo", {{64 * 128}, 1, 0, 0.5}, 2.0 * 64 * 128}});

}  // namespace
}  // namespace saltern::generators
