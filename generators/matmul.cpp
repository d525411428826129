#include "schedules/forms/matmul.h"

#include "generators/kernel.h"
#include "schedules/contraction.h"
#include "schedules/forms/padding.h"

namespace saltern::generators {
namespace {

using forms::Tensor;

Timing cube(int n) { return {std::to_string(n) + " cubed", {{n, n, 1}, {n, n, 1}}, 2.0 * n * n * n}; }

const Kernel matmul(
    "matmul",
    [](Build &k) {
      const Tensor a = forms::edge_repeated(k.strided_input("a", 3), 1),
                   b = forms::zero_padded(k.strided_input("b", 3));
      const Tensor y = forms::matmul(a, b);
      Halide::Func out = k.output("y", y);
      k.schedule(formula::Pattern::contraction, [&](const Machine &m) {
        schedules::contraction(k, m, {out, y.func(), b.func(), 0});
        // Neither transposed: code of its own, without a multiplication in every address.
        const auto stride = [&](int input) { return k.buffers()[input].dim(0).stride(); };
        if (!m.is_gpu()) out.specialize(stride(0) == 1 && stride(1) == 1);
      });
    },
    {{{1, 1, 1}, {1, 1, 1}}, {{7, 3, 2}, {5, 7, 2}}, {{129, 33, 1}, {70, 129, 1}}, {{31, 1, 3}, {65, 31, 3}}},
    {cube(1024), cube(256), cube(64)});

}  // namespace
}  // namespace saltern::generators
