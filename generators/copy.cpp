#include "generators/kernel.h"
#include "schedules/patterns/transposition.h"

namespace saltern::generators {
namespace {

using formula::Value;

const Kernel copy("copy",
                  [](Build &k) {
                    const Halide::Func out = k.output("y", k.strided_input("x", {"e", "d", "c", "b", "a"}));
                    k.allow_any_stride(out);
                    k.schedule([&](const Machine &m) {
                      const Halide::ImageParam x = k.buffers()[0];
                      schedules::transposition(out, x, m);
                      k.by_structure(m, {}, {x.dim(0).stride() == 1 && out.output_buffer().dim(0).stride() == 1});
                    });
                  },
                  {{{1, 5, 1, 4, 3}}, {{17, 3, 2, 1, 2}}, {{5, 7000, 1, 1, 1}}, {{19, 35, 9, 1, 2}}},
                  {{"1M", {{1 << 20, 1, 1, 1, 1}}, 1.0 * (1 << 20)}});

// x is dense along p, y along c; both are at least as long as a vector.
const Kernel transpose("transpose",
                       [](Build &k) {
                         const Value x = k.input("x", {"e", "d", "b", "c", "p"});
                         const Value y = formula::inlined(
                             {x.extent(0), x.extent(1), x.extent(2), x.extent(4), x.extent(3)},
                             [&](const formula::Axes &at) { return x(at[0], at[1], at[2], at[4], at[3]); });
                         const Halide::Func out = k.output("y", y);
                         k.schedule([&](const Machine &m) { schedules::by_blocks(out, k.buffers()[0], m); });
                       },
                       {{{16, 16, 1, 1, 1}}, {{17, 35, 2, 1, 3}}, {{300, 16, 1, 2, 1}}, {{31, 64, 3, 1, 1}}},
                       {{"image", {{56 * 56, 64, 8, 1, 1}}, 56.0 * 56 * 64 * 8}});

}  // namespace
}  // namespace saltern::generators
