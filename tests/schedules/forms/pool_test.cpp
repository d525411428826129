#include "schedules/forms/pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradients.h"
#include "tests/schedules/forms/component.h"

namespace saltern {
namespace {

using forms::Tensor;

struct PoolCase {
  int channels, width, height, images, kernel_x, kernel_y;
  Sliding2d<int> sliding;

  int out_width() const { return window_positions(width, kernel_x, sliding.x); }
  int out_height() const { return window_positions(height, kernel_y, sliding.y); }
  std::vector<int> in_extents() const { return {channels, width, height, images}; }
  forms::Window2d window() const {
    const auto expression = [](const Sliding<int> &s) {
      return forms::Sliding1d{s.stride, s.dilation, s.pad_before, s.pad_after};
    };
    return {kernel_x, kernel_y, {expression(sliding.x), expression(sliding.y)}};
  }

  // Calls visit(kx, ky, x, y) for the pixels inside the image of the window at (at_x, at_y), in the window's order.
  template <typename Visit>
  void walk(int at_x, int at_y, Visit visit) const {
    for (int ky = 0; ky < kernel_y; ++ky)
      for (int kx = 0; kx < kernel_x; ++kx) {
        const int x = at_x * sliding.x.stride + kx * sliding.x.dilation - sliding.x.pad_before;
        const int y = at_y * sliding.y.stride + ky * sliding.y.dilation - sliding.y.pad_before;
        if (x >= 0 && x < width && y >= 0 && y < height) visit(kx, ky, x, y);
      }
  }

  template <typename Visit>
  void each_window(Visit visit) const {
    for (int n = 0; n < images; ++n)
      for (int y = 0; y < out_height(); ++y)
        for (int x = 0; x < out_width(); ++x)
          for (int c = 0; c < channels; ++c) visit(c, x, y, n);
  }
};

std::ostream &operator<<(std::ostream &os, const PoolCase &p) {
  return os << p.kernel_x << "x" << p.kernel_y << " over " << p.width << "x" << p.height;
}

const std::vector<PoolCase> cases = {
    {1, 1, 1, 1, 1, 1, {{1, 1, 0, 0}, {1, 1, 0, 0}}},  {3, 8, 6, 2, 2, 2, {{2, 1, 0, 0}, {2, 1, 0, 0}}},  // halving
    {2, 7, 5, 2, 2, 2, {{2, 1, 0, 0}, {2, 1, 0, 0}}},   // halving, with a row and a column left over
    {2, 7, 6, 1, 3, 3, {{1, 1, 1, 1}, {2, 1, 1, 1}}},   // overlapping
    {2, 9, 8, 1, 2, 1, {{3, 1, 0, 0}, {4, 1, 0, 0}}},   // stride greater than the window
    {2, 9, 10, 1, 3, 2, {{2, 2, 1, 2}, {1, 3, 0, 1}}},  // dilation
    {2, 2, 3, 1, 5, 4, {{1, 1, 2, 2}, {1, 1, 1, 2}}},   // window larger than the image
    {1, 1, 1, 1, 2, 2, {{1, 3, 2, 2}, {1, 3, 2, 2}}},   // windows without a pixel inside
};

class Pool : public testing::TestWithParam<PoolCase> {};

// Values all different, far apart against a finite difference's step.
Halide::Buffer<double> distinct_image(const PoolCase &p) {
  auto x = random_buffer<double>(p.in_extents(), 3);
  double i = 0;
  x.for_each_value([&](double &v) { v = std::floor(v * 50) + 1e-3 * i++; });
  return x;
}

// Few values, so that windows have ties.
Halide::Buffer<double> tied_image(const PoolCase &p) {
  auto x = random_buffer<double>(p.in_extents(), 5, 0, 2);
  x.for_each_value([](double &v) { v = std::floor(v); });
  return x;
}

TEST_P(Pool, MaximumAndItsFirstPositionAreThoseOfALoop) {
  const PoolCase &p = GetParam();
  for (const auto &x : {distinct_image(p), tied_image(p)}) {
    const auto pool = forms::max_pool2d(Tensor(x), p.window());
    const auto value = evaluate<double>(forms::component(pool, 0));
    const auto position = evaluate<int>(forms::component(pool, 1));
    EXPECT_EQ(value.dim(1).extent(), p.out_width());
    EXPECT_EQ(value.dim(2).extent(), p.out_height());
    p.each_window([&](int c, int at_x, int at_y, int n) {
      double best = -INFINITY;
      int first = -1;
      p.walk(at_x, at_y, [&](int kx, int ky, int px, int py) {
        if (first >= 0 && !(x(c, px, py, n) > best)) return;
        best = x(c, px, py, n);
        first = kx + p.kernel_x * ky;
      });
      EXPECT_EQ(value(c, at_x, at_y, n), best);
      if (first >= 0) {
        EXPECT_EQ(position(c, at_x, at_y, n), first);
      }
    });
  }
}

TEST_P(Pool, GradientOfTheMaximumGoesToTheFirstMaximumOnly) {
  const PoolCase &p = GetParam();
  const auto x = tied_image(p);
  const auto pool = forms::max_pool2d(Tensor(x), p.window());
  const auto position = evaluate<int>(forms::component(pool, 1));
  const auto dy = random_buffer<double>({p.channels, p.out_width(), p.out_height(), p.images}, 7);
  const auto got =
      evaluate<double>(forms::max_pool2d_gradient(Tensor(position), Tensor(dy), p.window(), p.width, p.height));
  Halide::Buffer<double> want(p.in_extents());
  want.fill(0);
  p.each_window([&](int c, int at_x, int at_y, int n) {
    p.walk(at_x, at_y, [&](int kx, int ky, int px, int py) {
      if (kx + p.kernel_x * ky == position(c, at_x, at_y, n)) want(c, px, py, n) += dy(c, at_x, at_y, n);
    });
  });
  EXPECT_LE(relative_difference(got, want), 1e-14);
}

TEST_P(Pool, GradientOfTheMaximumMatchesFiniteDifferences) {
  const PoolCase &p = GetParam();
  if (p.width == 1 && p.kernel_x > 1) return;  // -infinity has no differences
  check_gradient(
      {distinct_image(p)}, [&](const Tensors &in) { return forms::component(forms::max_pool2d(in[0], p.window()), 0); },
      {{0,
        [&](const Tensors &in, const Tensor &dy) {
          const auto position = forms::component(forms::max_pool2d(in[0], p.window()), 1);
          return forms::max_pool2d_gradient(position, dy, p.window(), p.width, p.height);
        }}},
      Adjoint::no);
}

// The gradient of the maximum is linear in dy; what picks elements by their positions is the gradient of it.
TEST_P(Pool, SecondGradientOfTheMaximumPicksByPosition) {
  const PoolCase &p = GetParam();
  const auto pool = forms::max_pool2d(Tensor(tied_image(p)), p.window());
  const auto position = evaluate<int>(forms::component(pool, 1));
  check_gradient(
      {random_buffer<double>({p.channels, p.out_width(), p.out_height(), p.images}, 3)},
      [&](const Tensors &in) {
        return forms::max_pool2d_gradient(Tensor(position), in[0], p.window(), p.width, p.height);
      },
      {{0,
        [&](const Tensors &, const Tensor &dx) { return forms::max_pool2d_pick(Tensor(position), dx, p.window()); }}},
      Adjoint::no);
}

TEST_P(Pool, AverageIsThatOfALoop) {
  const PoolCase &p = GetParam();
  const auto x = random_buffer<double>(p.in_extents(), 3);
  for (const int count_padding : {0, 1}) {
    const auto got = evaluate<double>(forms::average_pool2d(Tensor(x), p.window(), count_padding).y);
    auto want = Halide::Buffer<double>::make_with_shape_of(got);
    p.each_window([&](int c, int at_x, int at_y, int n) {
      double sum = 0;
      int inside = 0;
      p.walk(at_x, at_y, [&](int, int, int px, int py) {
        sum += x(c, px, py, n);
        ++inside;
      });
      const int count = count_padding ? p.kernel_x * p.kernel_y : inside;
      want(c, at_x, at_y, n) = count == 0 ? 0 : sum / count;
    });
    EXPECT_LE(relative_difference(got, want), 1e-14) << "count_padding " << count_padding;
  }
}

TEST_P(Pool, GradientOfTheAverageIsTheAutomaticOneAndMatchesFiniteDifferences) {
  const PoolCase &p = GetParam();
  for (const int count_padding : {0, 1})
    check_gradient({random_buffer<double>(p.in_extents(), 3)},
                   [&](const Tensors &in) { return forms::average_pool2d(in[0], p.window(), count_padding).y; },
                   {{0, [&](const Tensors &, const Tensor &dy) {
                       return forms::average_pool2d_gradient(dy, p.window(), count_padding, p.width, p.height);
                     }}});
}

// Average pooling is linear: the gradient of its gradient is itself.
TEST_P(Pool, SecondGradientOfTheAverageIsTheAverage) {
  const PoolCase &p = GetParam();
  check_gradient(
      {random_buffer<double>({p.channels, p.out_width(), p.out_height(), p.images}, 3)},
      [&](const Tensors &in) { return forms::average_pool2d_gradient(in[0], p.window(), 0, p.width, p.height); },
      {{0, [&](const Tensors &, const Tensor &dx) { return forms::average_pool2d(dx, p.window(), 0).y; }}});
}

INSTANTIATE_TEST_SUITE_P(Cases, Pool, testing::ValuesIn(cases));

TEST(MaxPool, FirstPositionInsideIsTheMaximumOfAWindowOfMinusInfinity) {
  const PoolCase p = {1, 2, 2, 1, 2, 2, {{1, 1, 1, 0}, {1, 1, 1, 0}}};
  Halide::Buffer<double> x(p.in_extents());
  x.fill(-INFINITY);
  const auto position = evaluate<int>(forms::component(forms::max_pool2d(Tensor(x), p.window()), 1));
  EXPECT_EQ(position(0, 0, 0, 0), 3);  // only the last position of the first window is inside
  EXPECT_EQ(position(0, 1, 1, 0), 0);
}

}  // namespace
}  // namespace saltern
