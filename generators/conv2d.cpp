#include "schedules/forms/conv2d.h"

#include "algorithms/convolution.h"
#include "dsl/axis_order.h"
#include "generators/convolution_cases.h"
#include "generators/kernel.h"
#include "generators/sliding.h"
#include "schedules/convolution.h"
#include "schedules/forms/padding.h"
#include "schedules/weight_gradient.h"

namespace saltern::generators {
namespace {

using forms::Tensor;
using formula::Expression;
using formula::Value;

// Images lie in memory as (n, y, x, g, c).
Value image(const Value &v) { return formula::permuted(v, {0, 3, 4, 1, 2}); }

void output(Build &k, const std::string &name, const forms::NumberedConvolution2d &y, const Tensor &weights,
            int channel) {
  const Halide::Func out = k.output(name, y.empty());
  y.put_in(out);
  k.schedule(formula::Pattern::contraction, [&](const Machine &m) {
    schedules::convolution(
        k, m,
        {out, y.sums, weights.func(), channel, y.line.values, weights.extent(3 - channel), {y.pixels, y.line.corner}});
  });
}

const std::vector<ConvolutionCase> cases = {
    {1, 1, 1, 1, 1, 1, 1, 1, {{1, 1, 0, 0}, {1, 1, 0, 0}}},    {3, 1, 9, 8, 2, 3, 3, 5, {{1, 1, 1, 1}, {1, 1, 1, 1}}},
    {5, 1, 17, 11, 1, 3, 5, 19, {{2, 1, 1, 0}, {1, 2, 3, 2}}},  // strided one way, dilated the other
    {4, 3, 7, 13, 2, 2, 3, 7, {{3, 1, 0, 2}, {2, 1, 1, 1}}},    // groups, uneven padding
    {33, 1, 15, 3, 3, 1, 1, 17, {{1, 1, 0, 0}, {1, 1, 0, 0}}},  // pointwise
    {1, 1, 28, 28, 1, 7, 7, 34, {{2, 1, 3, 3}, {2, 1, 3, 3}}}};
const std::vector<SquareConvolution> squares = {
    {64, 64, 1, 56, 3, 1, 1},  {128, 128, 1, 28, 3, 1, 1}, {1, 32, 1, 28, 3, 1, 64},  {32, 32, 1, 28, 3, 1, 64},
    {32, 64, 1, 14, 3, 1, 64}, {64, 64, 1, 14, 3, 1, 64},  {64, 256, 1, 56, 1, 1, 1}, {128, 128, 1, 56, 3, 2, 1}};

const Kernel conv2d(
    "conv2d",
    [](Build &k) {
      const Tensor x = forms::zero_padded(k.input("x", 5)), w = forms::zero_padded(k.input("w", 5)),
                   b = forms::zero_padded(k.input("b", 2));
      output(k, "y", forms::numbered_conv2d(x, w, b, sliding(k)), w, 3);
    },
    calls(cases, &ConvolutionCase::forward), timings(squares, &ConvolutionCase::forward));

const Kernel conv2d_gradient_x(
    "conv2d_gradient_x",
    [](Build &k) {
      const Tensor w = forms::zero_padded(k.input("w", 5)), dy = forms::zero_padded(k.input("dy", 5));
      const forms::Sliding2d s = sliding(k);
      const Halide::Expr width = k.integer("width"), height = k.integer("height");
      output(k, "dx", forms::conv2d_gradient_x(w, dy, s, width, height), w, 0);
    },
    calls(cases, &ConvolutionCase::gradient_x), timings(squares, &ConvolutionCase::gradient_x));

const Kernel conv2d_gradient_w(
    "conv2d_gradient_w",
    [](Build &k) {
      k.keep_sizes_open();
      const Value x = k.input("x", {"n", "height", "width", "g", "i"}),
                  dy = k.input("dy", {"n", "rows", "columns", "g", "o"});
      for (const Value &v : {x, dy}) k.stages().read_as_zero_outside(v);
      const algorithms::Slides s = slides(k);
      const Expression kernel_x = k.count("kernel_x", 1), kernel_y = k.count("kernel_y", 1);
      const Value dw = formula::in_order(
          algorithms::grouped_conv2d_gradient_w(image(x), image(dy), s, {kernel_y, kernel_x}), {0, 1, 3, 4, 2});
      const Halide::Func out = k.output("dw", dw);
      k.schedule(formula::Pattern::contraction, [&](const Machine &m) {
        schedules::weight_gradient(
            k, m,
            {out, k.stage(dw).func, k.stage(x).func, k.stage(dy).func, k.size(x.extent(0)), k.size(dy.extent(4)),
             k.size(x.extent(4)), k.size(kernel_x), k.size(kernel_y), k.size(dy.extent(1)), k.size(dy.extent(2))});
      });
    },
    calls(cases, &ConvolutionCase::gradient_w), timings(squares, &ConvolutionCase::gradient_w));

}  // namespace
}  // namespace saltern::generators
