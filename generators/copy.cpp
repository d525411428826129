#include "generators/kernel.h"
#include "schedules/patterns/transposition.h"

namespace saltern::generators {
namespace {

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

}  // namespace
}  // namespace saltern::generators
