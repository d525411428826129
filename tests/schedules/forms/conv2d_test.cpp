// Convolution, depthwise convolution and their gradients, against naive loops, automatic adjoints and finite
// differences.

#include "schedules/forms/conv2d.h"

#include <gtest/gtest.h>

#include "schedules/forms/depthwise2d.h"
#include "schedules/forms/padding.h"
#include "tests/gradients.h"

namespace saltern {
namespace {

using forms::Tensor;
using forms::zero_padded;
using Halide::Buffer;

struct Convolution {
  int ci, groups, width, height, n, kernel_x, kernel_y, co;
  saltern::Sliding2d<int> s;

  int out_width() const { return window_positions(width, kernel_x, s.x); }
  int out_height() const { return window_positions(height, kernel_y, s.y); }
  forms::Sliding2d sliding() const {
    const auto of = [](const Sliding<int> &a) {
      return forms::Sliding1d{a.stride, a.dilation, a.pad_before, a.pad_after};
    };
    return {of(s.x), of(s.y)};
  }
  // Calls visit(kx, ky, x, y) for the window's elements that lie inside the image.
  template <typename Visit>
  void for_each_inside(int at_x, int at_y, const Visit &visit) const {
    for (int ky = 0; ky < kernel_y; ++ky)
      for (int kx = 0; kx < kernel_x; ++kx) {
        const int x = at_x * s.x.stride + kx * s.x.dilation - s.x.pad_before;
        const int y = at_y * s.y.stride + ky * s.y.dilation - s.y.pad_before;
        if (x >= 0 && x < width && y >= 0 && y < height) visit(kx, ky, x, y);
      }
  }
};

const auto awkward_convolutions = testing::Values(
    Convolution{1, 1, 1, 1, 1, 1, 1, 1, {{1, 1, 0, 0}, {1, 1, 0, 0}}},
    Convolution{3, 1, 5, 4, 2, 3, 3, 2, {{1, 1, 1, 1}, {1, 1, 1, 1}}},
    Convolution{2, 1, 7, 6, 1, 3, 2, 3, {{2, 1, 1, 0}, {1, 2, 2, 1}}},   // stride one way, dilation the other
    Convolution{2, 3, 5, 7, 1, 2, 3, 2, {{3, 1, 0, 2}, {2, 1, 1, 1}}},   // groups, uneven padding
    Convolution{2, 1, 3, 3, 2, 5, 5, 1, {{1, 1, 2, 2}, {1, 1, 3, 1}}},   // window larger than the image
    Convolution{1, 1, 9, 8, 1, 2, 2, 1, {{4, 2, 0, 0}, {3, 1, 0, 0}}});  // stride beyond the window

class Conv2d : public testing::TestWithParam<Convolution> {};

TEST_P(Conv2d, IsTheSumOverItsWindow) {
  const Convolution &c = GetParam();
  const auto x = random_buffer<double>({c.ci, c.groups, c.width, c.height, c.n}, 1),
             w = random_buffer<double>({c.ci, c.kernel_x, c.kernel_y, c.co, c.groups}, 2),
             b = random_buffer<double>({c.co, c.groups}, 3);
  const Tensor padded = zero_padded(Tensor(x));
  const auto got = evaluate<double>(forms::conv2d(padded, Tensor(w), Tensor(b), c.sliding()));
  const auto numbered = evaluate<double>(forms::numbered_conv2d(padded, Tensor(w), Tensor(b), c.sliding()).image());
  Buffer<double> want(c.co, c.groups, c.out_width(), c.out_height(), c.n);
  want.for_each_element([&](int co, int g, int at_x, int at_y, int n) {
    double sum = b(co, g);
    c.for_each_inside(at_x, at_y, [&](int kx, int ky, int in_x, int in_y) {
      for (int ci = 0; ci < c.ci; ++ci) sum += w(ci, kx, ky, co, g) * x(ci, g, in_x, in_y, n);
    });
    want(co, g, at_x, at_y, n) = sum;
  });
  EXPECT_LE(relative_difference(got, want), 1e-12);
  EXPECT_LE(relative_difference(numbered, want), 1e-12) << "pixels numbered";
}

TEST_P(Conv2d, GradientsMatchAdjointAndFiniteDifferences) {
  const Convolution &c = GetParam();
  const forms::Sliding2d s = c.sliding();
  check_gradient({random_buffer<double>({c.ci, c.groups, c.width, c.height, c.n}, 1),
                  random_buffer<double>({c.ci, c.kernel_x, c.kernel_y, c.co, c.groups}, 2),
                  random_buffer<double>({c.co, c.groups}, 3)},
                 [&](const Tensors &in) { return forms::conv2d(zero_padded(in[0]), in[1], in[2], s); },
                 {{0,
                   [&](const Tensors &in, const Tensor &dy) {
                     return forms::conv2d_gradient_x(in[1], zero_padded(dy), s, c.width, c.height).image();
                   }},
                  {1, [&](const Tensors &in, const Tensor &dy) {
                     return forms::conv2d_gradient_w(zero_padded(in[0]), dy, s, c.kernel_x, c.kernel_y);
                   }}});
}

INSTANTIATE_TEST_SUITE_P(Awkward, Conv2d, awkward_convolutions);

// Channels are the groups here.
class Depthwise2d : public testing::TestWithParam<Convolution> {
 protected:
  const Convolution &c = GetParam();
  const int channels = GetParam().groups * 3;
  const Buffer<double> x = random_buffer<double>({channels, c.width, c.height, c.n}, 1),
                       w = random_buffer<double>({channels, c.kernel_x, c.kernel_y}, 2),
                       b = random_buffer<double>({channels}, 3);
};

TEST_P(Depthwise2d, IsTheSumOverItsWindow) {
  const auto got = evaluate<double>(forms::depthwise2d(zero_padded(Tensor(x)), Tensor(w), Tensor(b), c.sliding()));
  Buffer<double> want(channels, c.out_width(), c.out_height(), c.n);
  want.for_each_element([&](int ch, int at_x, int at_y, int n) {
    double sum = b(ch);
    c.for_each_inside(at_x, at_y,
                      [&](int kx, int ky, int in_x, int in_y) { sum += w(ch, kx, ky) * x(ch, in_x, in_y, n); });
    want(ch, at_x, at_y, n) = sum;
  });
  EXPECT_LE(relative_difference(got, want), 1e-12);
}

TEST_P(Depthwise2d, GradientsMatchAdjointAndFiniteDifferences) {
  const forms::Sliding2d s = c.sliding();
  check_gradient({x, w, b}, [&](const Tensors &in) { return forms::depthwise2d(zero_padded(in[0]), in[1], in[2], s); },
                 {{0,
                   [&](const Tensors &in, const Tensor &dy) {
                     return forms::depthwise2d_gradient_x(in[1], forms::spread(zero_padded(dy), s), s, c.width,
                                                          c.height);
                   }},
                  {1, [&](const Tensors &in, const Tensor &dy) {
                     return forms::depthwise2d_gradient_w(zero_padded(in[0]), dy, s, c.kernel_x, c.kernel_y);
                   }}});
}

INSTANTIATE_TEST_SUITE_P(Awkward, Depthwise2d, awkward_convolutions);

}  // namespace
}  // namespace saltern
