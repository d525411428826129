#include "algorithms/dense.h"

#include "dsl/padding.h"
#include "generators/kernel.h"
#include "schedules/patterns/contraction.h"

namespace saltern::generators {
namespace {

using dsl::Tensor;

const Kernel dense(
    "dense",
    [](Build &k) {
      const Tensor x = dsl::edge_repeated(k.input("x", 2), 1);
      const Tensor w = dsl::zero_padded(k.input("w", 2)), b = dsl::zero_padded(k.input("b", 1));
      const Tensor y = algorithms::dense(x, w, b);
      const Halide::Func out = k.output("y", y);
      k.schedule([&](const Machine &m) {
        schedules::contraction(out, y.func(), w.func(), m, k.tuned(schedules::ContractionKnobs::fitting(m)));
      });
    },
    {{{1, 1}, {1, 1}, {1}}, {{7, 3}, {7, 5}, {5}}, {{129, 33}, {129, 70}, {70}}, {{16, 6}, {16, 16}, {16}}},
    {{"1024", {{1024, 1024}, {1024, 1024}, {1024}}, 2.0 * 1024 * 1024 * 1024}});

}  // namespace
}  // namespace saltern::generators
