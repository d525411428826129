#include "algorithms/random.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Expression;
using formula::Value;

const Kernel dropout("dropout",
                     [](Build &k) {
                       const Value x = k.input("x", {"n"});
                       const Expression seed = k.count("seed", INT32_MIN), offset = k.count("offset", INT32_MIN);
                       k.output("y", algorithms::dropout(x, seed, offset, k.parameter("probability")));
                       // A task of fewer elements than elsewhere: each costs ten rounds of the generator.
                       k.schedule([&](const Machine &m) { k.by_structure(m, {4096}); });
                     },
                     {{{1}, 1, 0, 0.5}, {{7}, 2, 9, 0.0}, {{8193}, -3, 2147483000, 0.3}, {{100}, 5, 1, 1.0}},
                     {{"demo", {{64 * 128}, 1, 0, 0.5}, 2.0 * 64 * 128}});

}  // namespace
}  // namespace saltern::generators
