#include "schedules/forms/depthwise2d.h"

#include "generators/convolution_cases.h"
#include "generators/kernel.h"
#include "generators/sliding.h"
#include "schedules/forms/padding.h"
#include "schedules/patterns/depthwise.h"

namespace saltern::generators {
namespace {

using forms::Tensor;

const std::vector<ConvolutionCase> cases = {{1, 1, 1, 1, 1, 1, 1, 1, {{1, 1, 0, 0}, {1, 1, 0, 0}}},
                                            {1, 5, 9, 8, 2, 3, 3, 1, {{1, 1, 1, 1}, {1, 1, 1, 1}}},
                                            {1, 17, 17, 11, 1, 3, 5, 1, {{2, 1, 1, 0}, {1, 2, 3, 2}}},
                                            {1, 33, 7, 13, 3, 2, 3, 1, {{3, 1, 0, 2}, {2, 1, 1, 1}}}};
const std::vector<SquareConvolution> squares = {
    {1, 1, 96, 112, 3, 1, 1}, {1, 1, 96, 56, 5, 1, 1}, {1, 1, 144, 56, 3, 2, 1}};

const Kernel depthwise2d(
    "depthwise2d",
    [](Build &k) {
      const Tensor x = forms::zero_padded(k.input("x", 4)), w = forms::zero_padded(k.strided_input("w", 3)),
                   b = forms::zero_padded(k.input("b", 1));
      const Tensor y = forms::depthwise2d(x, w, b, sliding(k));
      const Halide::Func out = k.output("y", y);
      k.schedule(formula::Pattern::window, [&](const Machine &m) {
        schedules::depthwise({out, y.func(), w.func(), x.func()}, m,
                             k.tuned(schedules::DepthwiseKnobs::fitting(m, Halide::Internal::simplify(y.extent(2)))));
      });
    },
    calls(cases, &ConvolutionCase::depthwise_forward), timings(squares, &ConvolutionCase::depthwise_forward));

const Kernel depthwise2d_gradient_x(
    "depthwise2d_gradient_x",
    [](Build &k) {
      const Tensor w = forms::zero_padded(k.strided_input("w", 3)), dy = forms::zero_padded(k.input("dy", 4));
      const forms::Sliding2d s = sliding(k);
      const Halide::Expr width = k.integer("width"), height = k.integer("height");
      const Tensor spread = forms::spread(dy, s);
      const Tensor dx = forms::depthwise2d_gradient_x(w, spread, s, width, height);
      const Halide::Func out = k.output("dx", dx);
      k.schedule(formula::Pattern::window, [&](const Machine &m) {
        schedules::depthwise({out, dx.func(), w.func(), spread.func()}, m,
                             k.tuned(schedules::DepthwiseKnobs::fitting(m)));
      });
    },
    calls(cases, &ConvolutionCase::depthwise_gradient_x), timings(squares, &ConvolutionCase::depthwise_gradient_x));

const Kernel depthwise2d_gradient_w(
    "depthwise2d_gradient_w",
    [](Build &k) {
      const Tensor x = forms::zero_padded(k.input("x", 4)), dy = forms::zero_padded(k.input("dy", 4));
      const forms::Sliding2d s = sliding(k);
      const Halide::Expr kernel_x = k.integer("kernel_x"), kernel_y = k.integer("kernel_y");
      const Tensor dw = forms::depthwise2d_gradient_w(x, dy, s, kernel_x, kernel_y);
      k.output("dw", dw);
      k.schedule(formula::Pattern::column, [&](const Machine &m) {
        schedules::depthwise_weight_gradient(dw.func(), x.func(), dy.func(), m,
                                             k.tuned(schedules::DepthwiseKnobs{4, 1, 1}));
      });
    },
    calls(cases, &ConvolutionCase::depthwise_gradient_w), timings(squares, &ConvolutionCase::depthwise_gradient_w));

}  // namespace
}  // namespace saltern::generators
