// Convolutions of few pixels or few channels by products of matrices, against loops.

#include "runtime/layers/window_rows.h"

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/layers/conv2d.h"
#include "runtime/operations.h"
#include "runtime/tensor/random.h"

namespace saltern {
namespace {

struct Case {
  Shape x, w;
  Attributes window;
};

Attributes sliding(const Shape &strides, const Shape &pads) {
  return {{"strides", strides}, {"dilations", Shape{1, 1}}, {"pads", pads}, {"groups", int64_t{1}}};
}

// y without a bias, dx and dw.
struct Results {
  std::vector<double> y, dx, dw;
};

Results by_loops(const Case &c, const Tensor &x, const Tensor &w, const Tensor &dy) {
  const std::vector<double> in = x.reals(), weights = w.reals(), d = dy.reals();
  const Window s = window(c.window);
  const Shape &y = dy.shape();
  Results r = {std::vector<double>(d.size()), std::vector<double>(in.size()), std::vector<double>(weights.size())};
  const auto at = [](const Shape &shape, const Shape &index) {
    int64_t place = 0;
    for (size_t i = 0; i < 4; ++i) place = place * shape[i] + index[i];
    return static_cast<size_t>(place);
  };
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t o = 0; o < y[1]; ++o)
      for (int64_t i = 0; i < y[2]; ++i)
        for (int64_t j = 0; j < y[3]; ++j)
          for (int64_t k = 0; k < elements(c.w) / c.w[0]; ++k) {
            const int64_t channel = k / (c.w[2] * c.w[3]), ky = k / c.w[3] % c.w[2], kx = k % c.w[3];
            const int64_t row = i * s.y.stride + ky - s.y.pad_before, column = j * s.x.stride + kx - s.x.pad_before;
            if (row < 0 || column < 0 || row >= c.x[2] || column >= c.x[3]) continue;
            const size_t from = at(c.x, {n, channel, row, column}), to = at(y, {n, o, i, j}),
                         by = at(c.w, {o, channel, ky, kx});
            r.y[to] += in[from] * weights[by];
            r.dx[from] += d[to] * weights[by];
            r.dw[by] += d[to] * in[from];
          }
  return r;
}

void expect_near(const char *what, const Case &c, const Tensor &got, const std::vector<double> &want) {
  const std::vector<double> is = got.reals();
  ASSERT_EQ(is.size(), want.size());
  for (size_t i = 0; i < is.size(); ++i)
    ASSERT_NEAR(is[i], want[i], 1e-4) << what << " of " << to_string(c.x) << " at " << i;
}

const std::vector<Case> cases = {
    {{3, 16, 2, 2}, {32, 16, 3, 3}, sliding({1, 1}, {1, 1, 1, 1})},
    {{2, 32, 4, 4}, {16, 32, 3, 3}, sliding({2, 2}, {1, 1, 1, 1})},
    {{5, 16, 3, 4}, {48, 16, 2, 3}, sliding({1, 1}, {0, 1, 1, 2})},
    {{2, 16, 7, 9}, {16, 16, 3, 2}, sliding({3, 2}, {2, 0, 0, 1})},  // the last rows are in no window
    {{1, 16, 3, 3}, {16, 16, 5, 5}, sliding({1, 1}, {2, 2, 2, 2})},
    // few channels
    {{2, 1, 1, 2}, {1, 1, 1, 2}, sliding({1, 1}, {0, 0, 0, 0})},
    {{7, 1, 28, 28}, {6, 1, 5, 5}, sliding({1, 1}, {2, 2, 2, 2})},  // more than one stretch of images
    {{9, 6, 14, 14}, {16, 6, 5, 5}, sliding({1, 1}, {0, 0, 0, 0})},
    {{3, 3, 17, 11}, {37, 3, 7, 2}, sliding({2, 3}, {3, 0, 1, 2})},
    {{2, 15, 9, 8}, {17, 15, 3, 3}, sliding({4, 2}, {0, 1, 2, 0})},  // windows that do not meet
    {{1, 2, 3, 3}, {5, 2, 2, 3}, sliding({1, 1}, {3, 4, 2, 5})},     // windows of nothing but padding
};

TEST(WindowRows, GiveConvolutionsAndTheirGradients) {
  for (const Case &c : cases) {
    Random random(5);
    const Variable x(random.uniform_tensor(c.x, -1, 1), true), w(random.uniform_tensor(c.w, -1, 1), true);
    const Variable y = apply_one(operations::conv2d, {x, w}, c.window);
    EXPECT_TRUE((WindowRows{c.x, c.w, y.shape(), window(c.window)}.fits())) << to_string(c.x);
    const Tensor dy = random.uniform_tensor(y.shape(), -1, 1);
    backward(y, dy);
    const Results want = by_loops(c, x.value(), w.value(), dy);
    expect_near("y", c, y.value(), want.y);
    expect_near("dx", c, x.gradient().value(), want.dx);
    expect_near("dw", c, w.gradient().value(), want.dw);
  }
}

TEST(WindowRows, GiveTheSameBitsOnAnyNumberOfThreads) {
  const int before = threads();
  for (const Case &c : cases) {
    std::vector<std::vector<double>> all;
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      Random random(7);
      const Variable x(random.uniform_tensor(c.x, -1, 1), true), w(random.uniform_tensor(c.w, -1, 1), true);
      const Variable y = apply_one(operations::conv2d, {x, w}, c.window);
      backward(y, random.uniform_tensor(y.shape(), -1, 1));
      for (const Tensor &t : {y.value(), x.gradient().value(), w.gradient().value()}) all.push_back(t.reals());
    }
    for (size_t i = 3; i < all.size(); ++i) EXPECT_EQ(all[i], all[i % 3]) << to_string(c.x);
  }
  set_threads(before);
}

TEST(WindowRows, AddABias) {
  for (const Case &c : {cases[0], cases[6]}) {
    Random random(6);
    const Tensor x = random.uniform_tensor(c.x, -1, 1), w = random.uniform_tensor(c.w, -1, 1),
                 b = random.uniform_tensor({c.w[0]}, -1, 1);
    const Tensor without = apply_one(operations::conv2d, {x, w}, c.window).value(),
                 with = apply_one(operations::conv2d, {x, w, b}, c.window).value();
    const std::vector<double> bias = b.reals();
    std::vector<double> want = without.reals();
    const size_t pixels = static_cast<size_t>(without.extent(2) * without.extent(3));
    for (size_t i = 0; i < want.size(); ++i) want[i] += bias[i / pixels % bias.size()];
    expect_near("y", c, with, want);
  }
}

TEST(WindowRows, AreForFewPixelsOfWholeVectorsAndForFewChannels) {
  const auto fits = [](const Shape &x, const Shape &w, const Shape &y) {
    return WindowRows{x, w, y, window(sliding({1, 1}, {1, 1, 1, 1}))}.fits();
  };
  EXPECT_TRUE(fits({2, 16, 4, 4}, {16, 16, 3, 3}, {2, 16, 4, 4}));
  EXPECT_FALSE(fits({2, 16, 5, 5}, {16, 16, 3, 3}, {2, 16, 5, 5}));
  EXPECT_TRUE(fits({2, 3, 40, 40}, {17, 3, 3, 3}, {2, 17, 40, 40}));       // few channels
  EXPECT_FALSE(fits({2, 3, 400, 400}, {16, 3, 3, 3}, {2, 16, 400, 400}));  // their windows are in no cache
  EXPECT_FALSE(fits({2, 32, 4, 4}, {16, 16, 3, 3}, {2, 16, 4, 4}));        // groups
  Attributes dilated = sliding({1, 1}, {2, 2, 2, 2});
  dilated.set("dilations", Shape{2, 1});
  EXPECT_FALSE((WindowRows{{2, 16, 4, 4}, {16, 16, 3, 3}, {2, 16, 4, 6}, window(dilated)}.fits()));
}

}  // namespace
}  // namespace saltern
