// Convolutions beside loops; gradients that are written down beside those that are derived, and finite differences.

#include "algorithms/convolution.h"

#include <gtest/gtest.h>

#include "dsl/sums.h"
#include "tests/awkward_convolutions.h"
#include "tests/values.h"

namespace saltern {
namespace {

using algorithms::Slide;
using algorithms::Slides;
using formula::Value;
using formula::Values;
using Halide::Buffer;

// Channels are groups. x(n, c, y, x), w(ky, kx, c).
class Depthwise : public testing::TestWithParam<Convolution> {
 protected:
  const Convolution &c = GetParam();
  const int channels = GetParam().groups * 3;
  const Buffer<double> x = random_buffer<double>({c.width, c.height, channels, c.n}, 1),
                       w = random_buffer<double>({channels, c.kernel_x, c.kernel_y}, 2),
                       dy = random_buffer<double>({c.out_width(), c.out_height(), channels, c.n}, 3);
  Slides slides() const {
    const auto of = [](const Sliding<int> &a) { return Slide{a.stride, a.dilation, a.pad_before, a.pad_after}; };
    return {of(c.s.y), of(c.s.x)};
  }
};

TEST_P(Depthwise, IsTheSumOverItsWindow) {
  const auto depthwise = [&](const Values &in) { return algorithms::depthwise(in[0], in[1], slides()); };
  const auto asked_first = [&](const Values &in) {
    const Value y = depthwise(in);
    return y->is_map() ? y : formula::asked_first(y);
  };
  Buffer<double> want(c.out_width(), c.out_height(), channels, c.n);
  want.for_each_element([&](int at_x, int at_y, int ch, int n) {
    double sum = 0;
    c.for_each_inside(at_x, at_y,
                      [&](int kx, int ky, int in_x, int in_y) { sum += w(ch, kx, ky) * x(in_x, in_y, ch, n); });
    want(at_x, at_y, ch, n) = sum;
  });
  EXPECT_LE(relative_difference(result_of<double>(depthwise, {x, w}), want), 1e-12);
  EXPECT_LE(relative_difference(result_of<double>(asked_first, {x, w}), want), 1e-12) << "conditions first";
  expect_gradients(depthwise, {x, w});
}

TEST_P(Depthwise, GradientsGoBackThroughItsWindow) {
  const auto of_x = [&](const Values &in) {
    return algorithms::depthwise_gradient_x(in[0], in[1], slides(), {c.n, channels, c.height, c.width});
  };
  const auto of_w = [&](const Values &in) {
    return algorithms::depthwise_gradient_w(in[0], in[1], slides(), {c.kernel_y, c.kernel_x});
  };
  Buffer<double> dx(c.width, c.height, channels, c.n), dw(channels, c.kernel_x, c.kernel_y);
  dx.fill(0);
  dw.fill(0);
  dy.for_each_element([&](int at_x, int at_y, int ch, int n) {
    c.for_each_inside(at_x, at_y, [&](int kx, int ky, int in_x, int in_y) {
      dx(in_x, in_y, ch, n) += w(ch, kx, ky) * dy(at_x, at_y, ch, n);
      dw(ch, kx, ky) += x(in_x, in_y, ch, n) * dy(at_x, at_y, ch, n);
    });
  });
  EXPECT_LE(relative_difference(result_of<double>(of_x, {w, dy}), dx), 1e-12);
  EXPECT_LE(relative_difference(result_of<double>(of_w, {x, dy}), dw), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Awkward, Depthwise, awkward_convolutions);

}  // namespace
}  // namespace saltern
