#include "schedules/forms/pool.h"

#include "generators/kernel.h"
#include "generators/sliding.h"
#include "schedules/patterns/window.h"

namespace saltern::generators {
namespace {

using forms::Tensor;
using forms::Window2d;
using Halide::Expr;
using Halide::Func;

Window2d window(Build &k) {
  const Expr kernel_x = k.integer("kernel_x"), kernel_y = k.integer("kernel_y");
  return {kernel_x, kernel_y, sliding(k)};
}

// Windows of 2 x 2 that do not overlap, the usual ones.
Expr halving(const Window2d &w) {
  return w.kernel_x == 2 && w.kernel_y == 2 && w.sliding.x.stride == 2 && w.sliding.y.stride == 2 &&
         w.sliding.x.dilation == 1 && w.sliding.y.dilation == 1;
}

// Windows two apart, in which an element's windows are found by shifts.
Expr two_apart(const Window2d &w) {
  return w.sliding.x.stride == 2 && w.sliding.y.stride == 2 && w.sliding.x.dilation == 1 && w.sliding.y.dilation == 1;
}

const Kernel max_pool2d("max_pool2d",
                        [](Build &k) {
                          const Tensor x = k.input("x", 4);
                          const Window2d w = window(k);
                          const Tensor best = forms::max_pool2d(x, w);
                          const Func out = k.outputs({"y", "index"}, best);
                          k.schedule(formula::Pattern::window,
                                     [&](const Machine &m) { schedules::window(out, best.func(), m, {halving(w)}); });
                        },
                        {{{1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0},
                         {{3, 8, 7, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0},
                         {{9, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0},
                         {{33, 2, 2, 1}, 5, 4, 1, 1, 2, 2, 2, 1, 1, 2},
                         {{130, 7, 6, 1}, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}},
                        {{"demo", {{32, 28, 28, 64}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0}, 32.0 * 28 * 28 * 64}});

const Kernel max_pool2d_gradient(
    "max_pool2d_gradient",
    [](Build &k) {
      const Tensor index = k.input("index", 4, Halide::Int(32), {0, 4}), dy = k.input("dy", 4);
      const Window2d w = window(k);
      const Expr width = k.integer("width"), height = k.integer("height");
      const Tensor dx = forms::max_pool2d_gradient(index, dy, w, width, height);
      const Func out = k.output("dx", dx);
      k.schedule(formula::Pattern::window, [&](const Machine &m) {
        schedules::window(out, dx.func(), m, {halving(w), two_apart(w)});
      });
    },
    {{{1, 1, 1, 1}, {1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1},
     {{32, 4, 3, 2}, {32, 4, 3, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 8, 7},
     {{9, 5, 4, 3}, {9, 5, 4, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 7, 8},
     {{17, 2, 3, 1}, {17, 2, 3, 1}, 2, 1, 3, 1, 0, 0, 2, 1, 0, 0, 5, 5},
     {{130, 7, 6, 1}, {130, 7, 6, 1}, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 7, 6}},
    {{"demo", {{32, 14, 14, 64}, {32, 14, 14, 64}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 28, 28}, 32.0 * 28 * 28 * 64}});

const Kernel max_pool2d_pick("max_pool2d_pick",
                             [](Build &k) {
                               const Tensor index = k.input("index", 4, Halide::Int(32), {0, 4}), x = k.input("x", 4);
                               const Window2d w = window(k);
                               const Tensor y = forms::max_pool2d_pick(index, x, w);
                               const Func out = k.output("y", y);
                               k.schedule(formula::Pattern::gather,
                                          [&](const Machine &m) { schedules::window(out, y.func(), m); });
                             },
                             {{{1, 1, 1, 1}, {1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0},
                              {{32, 4, 3, 2}, {32, 8, 7, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0},
                              {{9, 5, 5, 3}, {9, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0},
                              {{130, 7, 6, 1}, {130, 7, 6, 1}, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}});

const Kernel average_pool2d("average_pool2d",
                            [](Build &k) {
                              const Tensor x = k.input("x", 4);
                              const Window2d w = window(k);
                              const auto pool = forms::average_pool2d(x, w, k.integer("count_padding"));
                              const Func out = k.output("y", pool.y);
                              k.schedule(formula::Pattern::window,
                                         [&](const Machine &m) { schedules::window(out, pool.sum, m, {halving(w)}); });
                            },
                            {{{1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0},
                             {{3, 8, 7, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0},
                             {{9, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 1},
                             {{33, 2, 2, 1}, 5, 4, 1, 1, 2, 2, 2, 1, 1, 2, 0},
                             {{130, 7, 6, 1}, 7, 6, 3, 1, 0, 0, 4, 1, 0, 0, 0}},
                            {{"demo", {{32, 28, 28, 64}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0}, 32.0 * 28 * 28 * 64}});

const Kernel average_pool2d_gradient(
    "average_pool2d_gradient",
    [](Build &k) {
      const Tensor dy = k.input("dy", 4);
      const Window2d w = window(k);
      const Expr count_padding = k.integer("count_padding"), width = k.integer("width"), height = k.integer("height");
      const Tensor dx = forms::average_pool2d_gradient(dy, w, count_padding, width, height);
      const Func out = k.output("dx", dx);
      k.schedule(formula::Pattern::window, [&](const Machine &m) {
        schedules::window(out, dx.func(), m, {halving(w), two_apart(w)});
      });
    },
    {{{1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1},
     {{3, 4, 3, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0, 8, 7},
     {{9, 5, 4, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 1, 7, 8},
     {{33, 2, 1, 1}, 5, 4, 1, 1, 2, 2, 2, 1, 1, 2, 0, 2, 2},
     {{130, 1, 1, 1}, 7, 6, 3, 1, 0, 0, 4, 1, 0, 0, 0, 7, 6}},
    {{"demo", {{32, 14, 14, 64}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0, 28, 28}, 32.0 * 28 * 28 * 64}});

}  // namespace
}  // namespace saltern::generators
