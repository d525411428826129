// Convolutions of images of few pixels by products of matrices, against loops.

#include "runtime/layers/window_rows.h"

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
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

TEST(WindowRows, AddABias) {
  const Case &c = cases[0];
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

TEST(WindowRows, AreForFewPixelsOfWholeVectors) {
  const auto fits = [](const Shape &x, const Shape &w, const Shape &y) {
    return WindowRows{x, w, y, window(sliding({1, 1}, {1, 1, 1, 1}))}.fits();
  };
  EXPECT_TRUE(fits({2, 16, 4, 4}, {16, 16, 3, 3}, {2, 16, 4, 4}));
  EXPECT_FALSE(fits({2, 16, 5, 5}, {16, 16, 3, 3}, {2, 16, 5, 5}));
  EXPECT_FALSE(fits({2, 3, 4, 4}, {16, 3, 3, 3}, {2, 16, 4, 4}));
  EXPECT_FALSE(fits({2, 32, 4, 4}, {16, 16, 3, 3}, {2, 16, 4, 4}));  // groups
  Attributes dilated = sliding({1, 1}, {2, 2, 2, 2});
  dilated.set("dilations", Shape{2, 1});
  EXPECT_FALSE((WindowRows{{2, 16, 4, 4}, {16, 16, 3, 3}, {2, 16, 4, 6}, window(dilated)}.fits()));
}

}  // namespace
}  // namespace saltern
