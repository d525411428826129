#include "algorithms/contraction.h"
#include "algorithms/normalisation.h"
#include "generators/kernel.h"
#include "schedules/known_sizes.h"
#include "schedules/patterns/few_rows.h"

namespace saltern::generators {
namespace {

using formula::Value;

Call call(int in, int out, int batch) { return {{in, batch}, {in, out}, {out}}; }

Timing timing(int in, int out, int batch) {
  return {std::to_string(in) + "-" + std::to_string(out) + " batch " + std::to_string(batch), call(in, out, batch),
          2.0 * in * out * batch};
}

// Its gradients are products (matmul.cpp).
const Kernel dense(
    "dense",
    [](Build &k) {
      const Value x = k.input("x", {"n", "i"}), w = k.input("w", {"o", "i"});
      const Value product = algorithms::dense(x, w);
      const Halide::Func out = k.output("y", product + k.input("b", {"o"}));
      k.schedule([&](const Machine &m) {
        using schedules::known;
        const schedules::FewRows rows = {
            out, k.stage(product).func, k.stage(x).func, known(x.extent(0)), known(w.extent(0)), known(x.extent(1))};
        rows.fits(m) ? schedules::few_rows(rows, m) : k.by_structure(m);
      });
    },
    {call(1, 1, 1), call(7, 5, 3), call(129, 70, 33), call(16, 16, 6), call(31, 65, 1)},
    {timing(1024, 1024, 1024), timing(512, 512, 64), timing(3136, 10, 64)});

// The bias of a convolution too: channels last, its pixels and images are one long batch.
const Kernel dense_gradient_b("dense_gradient_b",
                              [](Build &k) {
                                const Value dy = k.input("dy", {"n", "o"});
                                k.output("db", algorithms::of_channel(formula::sum(dy, {0}), 1));
                              },
                              {{{1, 1}}, {{5, 3}}, {{17, 300}}},
                              {{"32 channels, 64 images of 28 x 28", {{32, 64 * 28 * 28}}, 32.0 * 64 * 28 * 28}});

}  // namespace
}  // namespace saltern::generators
