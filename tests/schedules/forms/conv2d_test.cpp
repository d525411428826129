// Convolutions whose pixels are numbered, against naive loops.

#include "schedules/forms/conv2d.h"

#include <gtest/gtest.h>

#include "schedules/forms/padding.h"
#include "tests/awkward_convolutions.h"
#include "tests/evaluate.h"
#include "tests/random_buffer.h"

namespace saltern {
namespace {

using forms::Tensor;
using forms::zero_padded;
using Halide::Buffer;

class Conv2d : public testing::TestWithParam<Convolution> {
 protected:
  const Convolution &c = GetParam();
  const Buffer<double> x = random_buffer<double>({c.ci, c.groups, c.width, c.height, c.n}, 1),
                       w = random_buffer<double>({c.ci, c.kernel_x, c.kernel_y, c.co, c.groups}, 2);
  forms::Sliding2d sliding() const {
    const auto of = [](const Sliding<int> &a) {
      return forms::Sliding1d{a.stride, a.dilation, a.pad_before, a.pad_after};
    };
    return {of(c.s.x), of(c.s.y)};
  }
};

TEST_P(Conv2d, IsTheSumOverItsWindow) {
  const auto b = random_buffer<double>({c.co, c.groups}, 3);
  const auto got =
      evaluate<double>(forms::numbered_conv2d(zero_padded(Tensor(x)), Tensor(w), Tensor(b), sliding()).image());
  Buffer<double> want(c.co, c.groups, c.out_width(), c.out_height(), c.n);
  want.for_each_element([&](int co, int g, int at_x, int at_y, int n) {
    double sum = b(co, g);
    c.for_each_inside(at_x, at_y, [&](int kx, int ky, int in_x, int in_y) {
      for (int ci = 0; ci < c.ci; ++ci) sum += w(ci, kx, ky, co, g) * x(ci, g, in_x, in_y, n);
    });
    want(co, g, at_x, at_y, n) = sum;
  });
  EXPECT_LE(relative_difference(got, want), 1e-12);
}

TEST_P(Conv2d, GradientGoesBackThroughItsWindow) {
  const auto dy = random_buffer<double>({c.co, c.groups, c.out_width(), c.out_height(), c.n}, 3);
  const auto got = evaluate<double>(
      forms::conv2d_gradient_x(Tensor(w), zero_padded(Tensor(dy)), sliding(), c.width, c.height).image());
  Buffer<double> want(c.ci, c.groups, c.width, c.height, c.n);
  want.fill(0);
  dy.for_each_element([&](int co, int g, int at_x, int at_y, int n) {
    c.for_each_inside(at_x, at_y, [&](int kx, int ky, int in_x, int in_y) {
      for (int ci = 0; ci < c.ci; ++ci) want(ci, g, in_x, in_y, n) += w(ci, kx, ky, co, g) * dy(co, g, at_x, at_y, n);
    });
  });
  EXPECT_LE(relative_difference(got, want), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Awkward, Conv2d, awkward_convolutions);

}  // namespace
}  // namespace saltern
