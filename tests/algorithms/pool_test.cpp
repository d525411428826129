// Pools beside loops and finite differences. Buffers are images as they lie in memory, channels innermost.

#include "algorithms/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dsl/axis_order.h"
#include "dsl/shapes.h"
#include "tests/values.h"

namespace saltern {
namespace {

using algorithms::Slide;
using algorithms::Slides;
using formula::Value;
using formula::Values;
using Halide::Buffer;

Value pixels(const Value &v) { return formula::permuted(v, {0, 3, 1, 2}); }
Value in_memory(const Value &v) { return formula::in_order(v, {0, 2, 3, 1}); }

struct PoolCase {
  int channels, width, height, images, kernel_x, kernel_y;
  Sliding2d<int> sliding;

  int out_width() const { return window_positions(width, kernel_x, sliding.x); }
  int out_height() const { return window_positions(height, kernel_y, sliding.y); }
  std::vector<int> in_extents() const { return {channels, width, height, images}; }
  std::vector<int> out_extents() const { return {channels, out_width(), out_height(), images}; }
  algorithms::Window window() const { return {kernel_y, kernel_x}; }
  Slides slides() const {
    const auto slide = [](const Sliding<int> &s) { return Slide{s.stride, s.dilation, s.pad_before, s.pad_after}; };
    return {slide(sliding.y), slide(sliding.x)};
  }
  std::vector<formula::Expression> image() const { return {images, channels, height, width}; }

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

class Pool : public testing::TestWithParam<PoolCase> {
 protected:
  const PoolCase &p = GetParam();

  Value maximum(const Value &x) const { return in_memory(algorithms::max_pool(pixels(x), p.window(), p.slides())); }
  Value positions(const Value &x) const {
    return in_memory(algorithms::positions_of_maxima(pixels(x), p.window(), p.slides(), Type::i32));
  }
  Value maximum_gradient(const Value &positions, const Value &dy) const {
    return in_memory(algorithms::max_pool_gradient(pixels(positions), pixels(dy), p.window(), p.slides(), p.image()));
  }
  Value average(const Value &x, algorithms::Counts counts) const {
    return in_memory(algorithms::average_pool(pixels(x), p.window(), p.slides(), counts));
  }
  Value average_gradient(const Value &dy, algorithms::Counts counts) const {
    const auto by = algorithms::divisor(p.window(), p.slides(), p.image(), counts);
    return in_memory(algorithms::average_pool_gradient(pixels(dy), p.window(), p.slides(), p.image(), by));
  }
};

// Values all different, far apart against a finite difference's step.
Buffer<double> distinct_image(const PoolCase &p) {
  auto x = random_buffer<double>(p.in_extents(), 3);
  double i = 0;
  x.for_each_value([&](double &v) { v = std::floor(v * 50) + 1e-3 * i++; });
  return x;
}

// Few values, so that windows have ties.
Buffer<double> tied_image(const PoolCase &p) {
  auto x = random_buffer<double>(p.in_extents(), 5, 0, 2);
  x.for_each_value([](double &v) { v = std::floor(v); });
  return x;
}

TEST_P(Pool, MaximumAndItsFirstPositionAreThoseOfALoop) {
  for (const auto &x : {distinct_image(p), tied_image(p)}) {
    const auto both = results_of([&](const Values &in) { return Values{maximum(in[0]), positions(in[0])}; }, {x});
    const Buffer<double> value = both[0];
    const Buffer<int> position = both[1];
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
  const auto x = tied_image(p);
  const Buffer<int> position = result_of<int>([&](const Values &in) { return positions(in[0]); }, {x});
  const auto dy = random_buffer<double>(p.out_extents(), 7);
  const auto got = result_of<double>([&](const Values &in) { return maximum_gradient(in[0], in[1]); }, {position, dy});
  Buffer<double> want(p.in_extents());
  want.fill(0);
  p.each_window([&](int c, int at_x, int at_y, int n) {
    p.walk(at_x, at_y, [&](int kx, int ky, int px, int py) {
      if (kx + p.kernel_x * ky == position(c, at_x, at_y, n)) want(c, px, py, n) += dy(c, at_x, at_y, n);
    });
  });
  EXPECT_LE(relative_difference(got, want), 1e-14);
}

TEST_P(Pool, GradientOfTheMaximumIsTheDerivedOneAndMatchesFiniteDifferences) {
  if (p.width == 1 && p.kernel_x > 1) return;  // -infinity has no differences
  expect_gradients([&](const Values &in) { return maximum(in[0]); }, {distinct_image(p)},
                   [&](const Values &in, const Value &dy) { return Values{maximum_gradient(positions(in[0]), dy)}; });
}

// The gradient of the maximum is linear in dy; what picks elements by their positions is the gradient of it.
TEST_P(Pool, SecondGradientOfTheMaximumPicksByPosition) {
  const Buffer<int> position = result_of<int>([&](const Values &in) { return positions(in[0]); }, {tied_image(p)});
  expect_gradients(
      [&](const Values &in) { return maximum_gradient(in[1], in[0]); },
      {random_buffer<double>(p.out_extents(), 3), position},
      [&](const Values &in, const Value &dx) {
        return Values{in_memory(algorithms::at_positions(pixels(in[1]), pixels(dx), p.window(), p.slides()))};
      });
}

TEST_P(Pool, AverageIsThatOfALoop) {
  const auto x = random_buffer<double>(p.in_extents(), 3);
  for (const auto counts : {algorithms::Counts::all, algorithms::Counts::inside}) {
    const auto got = result_of<double>([&](const Values &in) { return average(in[0], counts); }, {x});
    p.each_window([&](int c, int at_x, int at_y, int n) {
      double sum = 0;
      int inside = 0;
      p.walk(at_x, at_y, [&](int, int, int px, int py) {
        sum += x(c, px, py, n);
        ++inside;
      });
      const int count = counts == algorithms::Counts::all ? p.kernel_x * p.kernel_y : inside;
      EXPECT_NEAR(got(c, at_x, at_y, n), count == 0 ? 0 : sum / count, 1e-14);
    });
  }
}

TEST_P(Pool, GradientOfTheAverageIsTheDerivedOneAndMatchesFiniteDifferences) {
  for (const auto counts : {algorithms::Counts::all, algorithms::Counts::inside})
    expect_gradients([&](const Values &in) { return average(in[0], counts); },
                     {random_buffer<double>(p.in_extents(), 3)},
                     [&](const Values &, const Value &dy) { return Values{average_gradient(dy, counts)}; });
}

// Average pooling is linear: the gradient of its gradient is itself.
TEST_P(Pool, SecondGradientOfTheAverageIsTheAverage) {
  const auto counts = algorithms::Counts::inside;
  expect_gradients([&](const Values &in) { return average_gradient(in[0], counts); },
                   {random_buffer<double>(p.out_extents(), 3)},
                   [&](const Values &, const Value &dx) { return Values{average(dx, counts)}; });
}

INSTANTIATE_TEST_SUITE_P(Cases, Pool, testing::ValuesIn(cases));

Values best_of(const PoolCase &p, const Value &x) {
  return {in_memory(algorithms::max_pool(pixels(x), p.window(), p.slides())),
          in_memory(algorithms::positions_of_maxima(pixels(x), p.window(), p.slides(), Type::i32))};
}

TEST(MaxPool, FirstPositionInsideIsTheMaximumOfAWindowOfMinusInfinity) {
  const PoolCase p = {1, 2, 2, 1, 2, 2, {{1, 1, 1, 0}, {1, 1, 1, 0}}};
  Buffer<double> x(p.in_extents());
  x.fill(-INFINITY);
  const Buffer<int> position = results_of([&](const Values &in) { return best_of(p, in[0]); }, {x})[1];
  EXPECT_EQ(position(0, 0, 0, 0), 3);  // only the last position of the first window is inside
  EXPECT_EQ(position(0, 1, 1, 0), 0);
}

TEST(MaxPool, PassesOverNan) {
  const PoolCase p = {1, 4, 2, 1, 2, 2, {{2, 1, 0, 0}, {2, 1, 0, 0}}};
  const auto x = buffer_with<double>(p.in_extents(), {NAN, -3, NAN, NAN, -4, NAN, NAN, NAN});
  const auto best = results_of([&](const Values &in) { return best_of(p, in[0]); }, {x});
  const Buffer<double> value = best[0];
  const Buffer<int> position = best[1];
  EXPECT_EQ(value(0, 0, 0, 0), -3);
  EXPECT_EQ(position(0, 0, 0, 0), 1);
  EXPECT_EQ(value(0, 1, 0, 0), -INFINITY);
  EXPECT_EQ(position(0, 1, 0, 0), 0);
}

}  // namespace
}  // namespace saltern
