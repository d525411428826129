#include "algorithms/dropout.h"

#include "generators/kernel.h"
#include "schedules/patterns/elementwise.h"

namespace saltern::generators {
namespace {

using dsl::Tensor;
using Halide::Expr;

const Kernel dropout("dropout",
                     [](Build &k) {
                       const Tensor x = k.input("x", 1);
                       const Expr seed = k.integer("seed"), offset = k.integer("offset"),
                                  probability = k.real("probability");
                       const Halide::Func out = k.output("y", algorithms::dropout(x, seed, offset, probability));
                       // A task of fewer elements than elsewhere: each costs ten rounds of the generator.
                       k.schedule([&](const Machine &m) { schedules::elementwise(out, m, {4096}); });
                     },
                     {{{1}, 1, 0, 0.5}, {{7}, 2, 9, 0.0}, {{8193}, -3, 2147483000, 0.3}, {{100}, 5, 1, 1.0}},
                     {{"demo", {{64 * 128}, 1, 0, 0.5}, 2.0 * 64 * 128}});

}  // namespace
}  // namespace saltern::generators
