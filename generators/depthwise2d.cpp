#include "algorithms/convolution.h"

#include "dsl/axis_order.h"
#include "generators/convolution_cases.h"
#include "generators/kernel.h"
#include "generators/sliding.h"
#include "schedules/patterns/depthwise.h"

namespace saltern::generators {
namespace {

using algorithms::Slides;
using formula::Expression;
using formula::Value;

// Images lie in memory as (n, y, x, c), weights as (y, x, c). Tiles of channels reach past the last one.
Value zero_outside(Build &k, const Value &v) {
  k.stages().read_as_zero_outside(v);
  return v;
}
Value pixels(Build &k) { return zero_outside(k, k.input("x", {"n", "height", "width", "c"})); }
Value gradients(Build &k) { return zero_outside(k, k.input("dy", {"n", "rows", "columns", "c"})); }
Value weights(Build &k) { return zero_outside(k, k.strided_input("w", {"kernel_y", "kernel_x", "c"})); }
Value image(const Value &v) { return formula::permuted(v, {0, 3, 1, 2}); }
const std::vector<int> in_memory = {0, 2, 3, 1};

const std::vector<ConvolutionCase> cases = {{1, 1, 1, 1, 1, 1, 1, 1, {{1, 1, 0, 0}, {1, 1, 0, 0}}},
                                            {1, 5, 9, 8, 2, 3, 3, 1, {{1, 1, 1, 1}, {1, 1, 1, 1}}},
                                            {1, 17, 17, 11, 1, 3, 5, 1, {{2, 1, 1, 0}, {1, 2, 3, 2}}},
                                            {1, 33, 7, 13, 3, 2, 3, 1, {{3, 1, 0, 2}, {2, 1, 1, 1}}}};
const std::vector<SquareConvolution> squares = {
    {1, 1, 96, 112, 3, 1, 1}, {1, 1, 96, 56, 5, 1, 1}, {1, 1, 144, 56, 3, 2, 1}};

const Kernel depthwise2d(
    "depthwise2d",
    [](Build &k) {
      k.keep_sizes_open();
      const Value x = pixels(k), w = weights(k), b = zero_outside(k, k.input("b", {"c"}));
      const Value y = formula::in_order(algorithms::depthwise(image(x), w, slides(k)), in_memory);
      const Halide::Func out = k.output("y", y + b);
      k.schedule([&](const Machine &m) {
        const auto knobs = schedules::DepthwiseKnobs::fitting(m, k.size(y.extent(1)));
        Halide::Func bias = k.stage(b).func;
        bias.compute_root().vectorize(bias.args()[0], m.float_lanes(), Halide::TailStrategy::GuardWithIf);
        schedules::depthwise({out, k.stage(y).func, k.stage(w).func, k.stage(x).func}, m, k.tuned(knobs));
      });
    },
    calls(cases, &ConvolutionCase::depthwise_forward), timings(squares, &ConvolutionCase::depthwise_forward));

const Kernel depthwise2d_gradient_x(
    "depthwise2d_gradient_x",
    [](Build &k) {
      k.keep_sizes_open();
      const Value w = weights(k), dy = gradients(k);
      const Slides s = slides(k);
      const Expression width = k.count("width", 1), height = k.count("height", 1);
      const std::vector<Expression> of = {dy.extent(0), dy.extent(3), height, width};
      const Value spread = zero_outside(k, formula::in_order(algorithms::spread(image(dy), s), in_memory)),
                  dx = formula::in_order(algorithms::depthwise_gradient_x(w, image(dy), s, of), in_memory);
      const Halide::Func out = k.output("dx", dx);
      k.schedule([&](const Machine &m) {
        schedules::depthwise({out, k.stage(dx).func, k.stage(w).func, k.stage(spread).func}, m,
                             k.tuned(schedules::DepthwiseKnobs::fitting(m)));
      });
    },
    calls(cases, &ConvolutionCase::depthwise_gradient_x), timings(squares, &ConvolutionCase::depthwise_gradient_x));

const Kernel depthwise2d_gradient_w(
    "depthwise2d_gradient_w",
    [](Build &k) {
      k.keep_sizes_open();
      const Value x = pixels(k), dy = gradients(k);
      const Slides s = slides(k);
      const Expression kernel_x = k.count("kernel_x", 1), kernel_y = k.count("kernel_y", 1);
      const Value dw = algorithms::depthwise_gradient_w(image(x), image(dy), s, {kernel_y, kernel_x});
      k.output("dw", dw);
      k.schedule([&](const Machine &m) {
        schedules::depthwise_weight_gradient(k.stage(dw).func, k.stage(x).func, k.stage(dy).func, m,
                                             k.tuned(schedules::DepthwiseKnobs{4, 1, 1}));
      });
    },
    calls(cases, &ConvolutionCase::depthwise_gradient_w), timings(squares, &ConvolutionCase::depthwise_gradient_w));

}  // namespace
}  // namespace saltern::generators
