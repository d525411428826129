#include "algorithms/pooling.h"

#include "dsl/axis_order.h"
#include "generators/kernel.h"
#include "generators/sliding.h"
#include "schedules/patterns/window.h"

namespace saltern::generators {
namespace {

using algorithms::Slide;
using formula::Expression;
using formula::Value;
using Halide::Expr;
using Halide::Func;

// Images lie in memory as (n, y, x, c).
Value image(Build &k, const std::string &name, const std::vector<std::string> &sizes, Type type = Type::f32,
            Range range = {}) {
  return formula::permuted(k.input(name, sizes, type, range), {0, 3, 1, 2});
}
Value pixels(Build &k) { return image(k, "x", {"n", "height", "width", "c"}); }
// Of an element for each window.
Value windows(Build &k, const std::string &name, Type type = Type::f32, Range range = {}) {
  return image(k, name, {"n", "rows", "columns", "c"}, type, range);
}
const std::vector<int> in_memory = {0, 2, 3, 1};

// Of two axes, y and x.
struct Windows {
  algorithms::Window taps;
  algorithms::Slides slides;
};

Windows declared_windows(Build &k) {
  const Expression kernel_x = k.count("kernel_x", 1), kernel_y = k.count("kernel_y", 1);
  return {{kernel_y, kernel_x}, slides(k)};
}

// That stand where `dy` has elements.
Windows over(const Windows &w, const Value &dy) { return {w.taps, algorithms::that_stand_at(w.slides, dy)}; }

// Windows two apart, in which those that see an element are found by shifts.
Expr two_apart(Build &k, const Windows &w) {
  Expr all = Halide::Internal::const_true();
  for (const Slide &s : {w.slides[0], w.slides[1]}) all = all && k.size(s.stride) == 2 && k.size(s.dilation) == 1;
  return all;
}

// Windows of 2 x 2 that do not overlap, the usual ones.
Expr halving(Build &k, const Windows &w) { return k.size(w.taps[0]) == 2 && k.size(w.taps[1]) == 2 && two_apart(k, w); }

// `walk` is the stage that goes through the windows.
void schedule(Build &k, const Func &out, const Value &walk, const std::vector<Expr> &cases = {}) {
  k.schedule([&](const Machine &m) { schedules::window(out, k.stage(walk).func, m, cases); });
}

// By all taps of a window where `padding` is not 0, else by those inside of the image, which are no more.
algorithms::Divisor divisor(const Expression &padding, const Windows &w, const std::vector<Expression> &image) {
  const auto all = algorithms::divisor(w.taps, w.slides, image, algorithms::Counts::all),
             inside = algorithms::divisor(w.taps, w.slides, image, algorithms::Counts::inside);
  return [=](const formula::Axes &place) { return max(inside(place), all(place) * min(padding, 1)); };
}

std::vector<Expression> declared_image(Build &k, const Value &dy) {
  const Expression width = k.count("width", 1), height = k.count("height", 1);
  return {dy.extent(0), dy.extent(1), height, width};
}

const Kernel max_pool2d("max_pool2d",
                        [](Build &k) {
                          const Value x = pixels(k);
                          const Windows w = declared_windows(k);
                          const auto best =
                              formula::in_order({algorithms::max_pool(x, w.taps, w.slides),
                                                 algorithms::positions_of_maxima(x, w.taps, w.slides, Type::i32)},
                                                in_memory);
                          schedule(k, k.outputs({"y", "index"}, best), best[0], {halving(k, w)});
                        },
                        {{{1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0},
                         {{3, 8, 7, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0},
                         {{9, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0},
                         {{3, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0},
                         {{33, 2, 2, 1}, 5, 4, 1, 1, 2, 2, 2, 1, 1, 2},
                         {{130, 7, 6, 1}, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}},
                        {{"demo", {{32, 28, 28, 64}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0}, 32.0 * 28 * 28 * 64},
                         {"colours", {{3, 56, 56, 16}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0}, 3.0 * 56 * 56 * 16}});

const Kernel max_pool2d_gradient(
    "max_pool2d_gradient",
    [](Build &k) {
      const Value index = windows(k, "index", Type::i32, {0, 4}), dy = windows(k, "dy");
      const Windows w = over(declared_windows(k), dy);
      const Value dx = formula::in_order(
          algorithms::max_pool_gradient(index, dy, w.taps, w.slides, declared_image(k, dy)), in_memory);
      schedule(k, k.output("dx", dx), dx, {halving(k, w), two_apart(k, w)});
    },
    {{{1, 1, 1, 1}, {1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1},
     {{32, 4, 3, 2}, {32, 4, 3, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 8, 7},
     {{9, 5, 4, 3}, {9, 5, 4, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 7, 8},
     {{3, 5, 4, 3}, {3, 5, 4, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 7, 8},
     {{17, 2, 3, 1}, {17, 2, 3, 1}, 2, 1, 3, 1, 0, 0, 2, 1, 0, 0, 5, 5},
     {{130, 7, 6, 1}, {130, 7, 6, 1}, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 7, 6}},
    {{"demo", {{32, 14, 14, 64}, {32, 14, 14, 64}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 28, 28}, 32.0 * 28 * 28 * 64},
     {"colours", {{3, 28, 28, 16}, {3, 28, 28, 16}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 56, 56}, 3.0 * 56 * 56 * 16}});

const Kernel max_pool2d_pick("max_pool2d_pick",
                             [](Build &k) {
                               const Value index = windows(k, "index", Type::i32, {0, 4}), x = pixels(k);
                               const Windows w = declared_windows(k);
                               const Value y =
                                   formula::in_order(algorithms::at_positions(index, x, w.taps, w.slides), in_memory);
                               schedule(k, k.output("y", y), y);
                             },
                             {{{1, 1, 1, 1}, {1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0},
                              {{32, 4, 3, 2}, {32, 8, 7, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0},
                              {{9, 5, 5, 3}, {9, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0},
                              {{3, 5, 5, 3}, {3, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0},
                              {{130, 7, 6, 1}, {130, 7, 6, 1}, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}});

const Kernel average_pool2d(
    "average_pool2d",
    [](Build &k) {
      const Value x = pixels(k);
      const Windows w = declared_windows(k);
      const Value sums = algorithms::pooled(formula::Function::sum, x, w.taps, w.slides);
      const auto y = formula::in_order(
          {algorithms::average_pool(x, w.taps, w.slides, divisor(k.count("count_padding", 0), w, x.extents())), sums},
          in_memory);
      schedule(k, k.output("y", y[0]), y[1], {halving(k, w)});
    },
    {{{1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0},
     {{3, 8, 7, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0},
     {{9, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 1},
     {{3, 7, 8, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 1},
     {{33, 2, 2, 1}, 5, 4, 1, 1, 2, 2, 2, 1, 1, 2, 0},
     {{130, 7, 6, 1}, 7, 6, 3, 1, 0, 0, 4, 1, 0, 0, 0}},
    {{"demo", {{32, 28, 28, 64}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0}, 32.0 * 28 * 28 * 64},
     {"colours", {{3, 56, 56, 16}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0}, 3.0 * 56 * 56 * 16}});

const Kernel average_pool2d_gradient(
    "average_pool2d_gradient",
    [](Build &k) {
      const Value dy = windows(k, "dy");
      const Windows w = over(declared_windows(k), dy);
      const Expression padding = k.count("count_padding", 0);
      const std::vector<Expression> image = declared_image(k, dy);
      const Value dx = formula::in_order(
          algorithms::average_pool_gradient(dy, w.taps, w.slides, image, divisor(padding, w, image)), in_memory);
      schedule(k, k.output("dx", dx), dx, {halving(k, w), two_apart(k, w)});
    },
    {{{1, 1, 1, 1}, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1},
     {{3, 4, 3, 2}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0, 8, 7},
     {{9, 5, 4, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 1, 7, 8},
     {{3, 5, 4, 3}, 3, 2, 1, 2, 1, 1, 2, 1, 1, 0, 1, 7, 8},
     {{33, 2, 1, 1}, 5, 4, 1, 1, 2, 2, 2, 1, 1, 2, 0, 2, 2},
     {{130, 1, 1, 1}, 7, 6, 3, 1, 0, 0, 4, 1, 0, 0, 0, 7, 6}},
    {{"demo", {{32, 14, 14, 64}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0, 28, 28}, 32.0 * 28 * 28 * 64},
     {"colours", {{3, 28, 28, 16}, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0, 56, 56}, 3.0 * 56 * 56 * 16}});

}  // namespace
}  // namespace saltern::generators
