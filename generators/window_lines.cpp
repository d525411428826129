#include "schedules/forms/window_lines.h"

#include "generators/kernel.h"
#include "generators/sliding.h"
#include "schedules/forms/padding.h"
#include "schedules/patterns/window_lines.h"

namespace saltern::generators {
namespace {

using forms::Tensor;
using formula::Pattern;
using Halide::Expr;

// x(line, y, n), or d(run, ky, q, p, n), and integers: channels, the kernel (x, y) or the image's (width, height), sliding.
const Kernel window_lines(
    "window_lines",
    [](Build &k) {
      const Tensor x = forms::zero_padded(k.input("x", 3));
      const Expr channels = k.integer("channels"), kernel_x = k.integer("kernel_x"), kernel_y = k.integer("kernel_y");
      const Halide::Func out = k.output("windows", forms::window_lines(x, channels, kernel_x, kernel_y, sliding(k)));
      k.schedule(Pattern::map, [&](const Machine &m) { schedules::window_lines(out, x.func(), m); });
    },
    {{{1, 1, 1}, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0},
     {{17, 9, 2}, 1, 5, 3, 1, 1, 2, 2, 1, 1, 1, 1},
     {{33, 7, 3}, 3, 2, 5, 3, 1, 1, 0, 2, 1, 0, 4},
     {{84, 14, 2}, 6, 5, 5, 1, 1, 0, 0, 1, 1, 0, 0}},
    {{"1 channel of 28 x 28, 5 x 5, 6 images", {{28, 28, 6}, 1, 5, 5, 1, 1, 2, 2, 1, 1, 2, 2}, 25.0 * 28 * 28 * 6}});

const Kernel image_of_window_lines("image_of_window_lines",
                                   [](Build &k) {
                                     const Tensor d = k.input("d", 5);
                                     const Expr channels = k.integer("channels"), width = k.integer("width"),
                                                height = k.integer("height");
                                     const forms::ImageOfLines lines =
                                         forms::image_of_window_lines(d, channels, sliding(k), width, height);
                                     const Halide::Func out = k.output("image", lines.image);
                                     k.schedule(Pattern::scatter, [&](const Machine &m) {
                                       schedules::image_of_window_lines(out, lines.sums, m);
                                     });
                                   },
                                   {{{1, 1, 1, 1, 1}, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0},
                                    {{5, 3, 17, 9, 2}, 1, 17, 9, 1, 1, 2, 2, 1, 1, 1, 1},
                                    {{6, 5, 4, 4, 3}, 3, 11, 7, 3, 1, 1, 0, 2, 1, 0, 4},
                                    {{30, 5, 10, 10, 2}, 6, 14, 14, 1, 1, 0, 0, 1, 1, 0, 0}},
                                   {{"6 channels of 14 x 14, 5 x 5, 8 images",
                                     {{30, 5, 10, 10, 8}, 6, 14, 14, 1, 1, 0, 0, 1, 1, 0, 0},
                                     150.0 * 10 * 10 * 8}});

}  // namespace
}  // namespace saltern::generators
