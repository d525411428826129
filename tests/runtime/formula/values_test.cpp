// What operations compute, against loops as a textbook writes them: that shapes, strides and attributes reach the
// kernels the right way round.

#include <gtest/gtest.h>

#include "tests/jacobian.h"

namespace saltern {
namespace {

void expect_near(const Variable &got, const Tensor &wanted, double tolerance = 1e-5) {
  ASSERT_EQ(got.shape(), wanted.shape());
  const Tensor a = got.value().in_layout(Layout::row_major), b = wanted.in_layout(Layout::row_major);
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data<float>()[i], y = b.data<float>()[i];
    ASSERT_TRUE(std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y))) << i << ": " << x << ", not " << y;
  }
}

Tensor random_tensor(const Shape &shape, uint64_t seed, Layout layout = Layout::row_major) {
  return Random(seed).uniform_tensor(shape, -1, 1, layout);
}

struct ConvCase {
  Shape x, w;
  Conv2dOptions options;
};

TEST(Values, ConvolutionInEveryOption) {
  const std::vector<ConvCase> cases = {
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
      {{2, 3, 7, 5}, {4, 3, 3, 3}, {1, 1}},
      {{1, 3, 9, 8}, {5, 3, 3, 2}, {{2, 3}, {1, 0}, {1, 2}}},
      {{2, 6, 6, 7}, {4, 3, 3, 3}, {1, 1, 1, 2}},
      {{2, 5, 6, 7}, {5, 1, 3, 5}, {{1, 2}, {1, 2}, 1, 5}},
      {{3, 17, 4, 4}, {33, 17, 1, 1}, {}},
  };
  for (const ConvCase &c : cases)
    for (Layout layout : {Layout::row_major, Layout::channels_last}) {
      const Tensor x = random_tensor(c.x, 1, layout), w = random_tensor(c.w, 2), b = random_tensor({c.w[0]}, 3);
      const Conv2dOptions &o = c.options;
      const int64_t height = (c.x[2] + 2 * o.padding.y - o.dilation.y * (c.w[2] - 1) - 1) / o.stride.y + 1;
      const int64_t width = (c.x[3] + 2 * o.padding.x - o.dilation.x * (c.w[3] - 1) - 1) / o.stride.x + 1;
      const Tensor wanted = Tensor::zeros({c.x[0], c.w[0], height, width});
      const int64_t outputs_of_group = c.w[0] / o.groups;
      for (int64_t n = 0; n < c.x[0]; ++n)
        for (int64_t out = 0; out < c.w[0]; ++out)
          for (int64_t py = 0; py < height; ++py)
            for (int64_t px = 0; px < width; ++px) {
              double total = b.at<float>({out});
              for (int64_t in = 0; in < c.w[1]; ++in)
                for (int64_t ky = 0; ky < c.w[2]; ++ky)
                  for (int64_t kx = 0; kx < c.w[3]; ++kx) {
                    const int64_t y = py * o.stride.y - o.padding.y + ky * o.dilation.y;
                    const int64_t at_x = px * o.stride.x - o.padding.x + kx * o.dilation.x;
                    if (y < 0 || y >= c.x[2] || at_x < 0 || at_x >= c.x[3]) continue;
                    total += static_cast<double>(x.at<float>({n, out / outputs_of_group * c.w[1] + in, y, at_x})) *
                             static_cast<double>(w.at<float>({out, in, ky, kx}));
                  }
              wanted.at<float>({n, out, py, px}) = static_cast<float>(total);
            }
      SCOPED_TRACE(to_string(c.x) + " * " + to_string(c.w));
      expect_near(conv2d(x, w, b, o), wanted);
    }
}

TEST(Values, PoolingOverlapsAndPads) {
  const Tensor x = random_tensor({2, 3, 7, 5}, 1);
  const Tensor largest = Tensor::empty({2, 3, 4, 3}), mean = Tensor::empty({2, 3, 4, 3}),
               counted = Tensor::empty({2, 3, 4, 3});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t py = 0; py < 4; ++py)
        for (int64_t px = 0; px < 3; ++px) {
          float most = -INFINITY, total = 0, count = 0;
          for (int64_t y = std::max<int64_t>(0, 2 * py - 1); y <= std::min<int64_t>(6, 2 * py + 1); ++y)
            for (int64_t at = std::max<int64_t>(0, 2 * px - 1); at <= std::min<int64_t>(4, 2 * px + 1); ++at) {
              most = std::max(most, x.at<float>({n, c, y, at}));
              total += x.at<float>({n, c, y, at});
              ++count;
            }
          largest.at<float>({n, c, py, px}) = most;
          mean.at<float>({n, c, py, px}) = total / 9;
          counted.at<float>({n, c, py, px}) = total / count;
        }
  expect_near(max_pool2d(x, 3, {2, 1}), largest);
  expect_near(average_pool2d(x, 3, {2, 1}), mean);
  expect_near(average_pool2d(x, 3, {2, 1, 1, false}), counted);
}

TEST(Values, FlattenIsRowMajorWhateverTheLayout) {
  const Tensor x = random_tensor({2, 3, 4, 5}, 1);
  expect_near(nn::Flatten()(x.in_layout(Layout::channels_last)), x.reshaped({2, 60}), 0);
}

TEST(Values, SumsOverEverySetOfDimensionsInEveryLayout) {
  const Shape shape = {2, 3, 4, 5};
  const Tensor x = random_tensor(shape, 1);
  for (int set = 0; set < 16; ++set)
    for (const Tensor &arranged :
         {x, x.in_layout(Layout::channels_last), random_tensor({2, 3, 4, 9}, 1).slice(3, 2, 5)}) {
      std::vector<int64_t> axes;
      Shape kept = shape;
      for (int d = 0; d < 4; ++d)
        if (set >> d & 1) {
          axes.push_back(d);
          kept[d] = 1;
        }
      const Tensor wanted = Tensor::zeros(kept);
      for (int64_t i = 0; i < x.size(); ++i) {
        const Shape at = {i / 60, i / 20 % 3, i / 5 % 4, i % 5};
        Shape to = at;
        for (int64_t d : axes) to[d] = 0;
        wanted.at<float>(to) += 0.5f * arranged.at<float>(at);
      }
      SCOPED_TRACE(set);
      expect_near(sum(arranged, axes, 0.5), wanted);
    }
}

TEST(Values, BroadcastingFollowsNumPy) {
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{}, {}},
      {{5}, {}},
      {{}, {2, 3}},
      {{2, 3}, {3}},
      {{2, 1}, {1, 3}},
      {{4, 2, 3}, {2, 1}},
      {{2, 3, 4, 5}, {3, 1, 1}},
      {{1, 3, 1, 5}, {2, 1, 4, 1}},
      {{2, 1, 3, 1, 2}, {1, 2, 1, 3, 1}},
  };
  for (const auto &[left, right] : cases)
    for (Layout layout : {Layout::row_major, Layout::channels_last}) {
      const Tensor a = random_tensor(left, 1, layout), b = random_tensor(right, 2);
      const Shape shape = broadcast_shape(left, right, "test");
      const Tensor wanted = Tensor::empty(shape);
      for (int64_t i = 0; i < wanted.size(); ++i) {
        Shape at(shape.size());
        int64_t rest = i;
        for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
          at[d] = rest % shape[d];
          rest /= shape[d];
        }
        const auto value = [&](const Tensor &t) {
          Shape own(at.end() - t.rank(), at.end());
          for (int d = 0; d < t.rank(); ++d)
            if (t.extent(d) == 1) own[d] = 0;
          return t.at<float>(own);
        };
        wanted.data<float>()[i] = value(a) - 2 * value(b);
      }
      SCOPED_TRACE(to_string(left) + " - " + to_string(right));
      expect_near(subtract(a, Variable(b) * 2.0), wanted);
    }
}

TEST(Values, MatmulReadsTransposedOperandsAndBroadcastsBatches) {
  const Tensor a = random_tensor({2, 1, 3, 4}, 1), b = random_tensor({3, 5, 4}, 2);
  const Tensor wanted = Tensor::zeros({2, 3, 3, 5});
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t m = 0; m < 3; ++m)
        for (int64_t n = 0; n < 5; ++n)
          for (int64_t k = 0; k < 4; ++k)
            wanted.at<float>({i, j, m, n}) += a.at<float>({i, 0, m, k}) * b.at<float>({j, n, k});
  expect_near(matmul(a, transposed(b)), wanted);
}

TEST(Values, SoftmaxOverAnyAxisSumsToOne) {
  const Tensor x = random_tensor({2, 3, 4, 5}, 1, Layout::channels_last);
  for (int64_t axis = -4; axis < 4; ++axis) {
    const Variable y = softmax(x, axis), total = sum(y, {axis});
    expect_near(total, Tensor::full(total.shape(), 1));
    expect_near(log_softmax(x, axis), log(y).value());
    expect_near(y, (exp(x) / sum(exp(x), {axis})).value());
  }
}

TEST(Values, CrossEntropyIsTheMeanOfMinusLogOfTheProbability) {
  const Tensor x = random_tensor({3, 4}, 1), p = softmax(x).value();
  const std::vector<int64_t> labels = {2, 0, 3};
  double wanted = 0;
  for (int64_t n = 0; n < 3; ++n) wanted -= std::log(static_cast<double>(p.at<float>({n, labels[n]}))) / 3;
  EXPECT_NEAR(cross_entropy(x, Tensor::of<int64_t>({3}, labels)).value().item(), wanted, 1e-5);
  EXPECT_NEAR(cross_entropy(x, Tensor::of<int32_t>({3}, {2, 0, 3})).value().item(), wanted, 1e-5);
}

TEST(Values, CrossEntropyLeavesTheIgnoredLabelOut) {
  const Variable all(random_tensor({4, 3}, 1), true), some(random_tensor({4, 3}, 1), true);
  const Tensor kept = Tensor::of<int32_t>({2}, {2, 1}), labels = Tensor::of<int32_t>({4}, {2, -100, -100, 1});
  // Rows 0 and 3 alone.
  const Tensor rows = Tensor::empty({2, 3});
  rows.slice(0, 0, 1).copy_from(all.value().slice(0, 0, 1));
  rows.slice(0, 1, 1).copy_from(all.value().slice(0, 3, 1));
  const Variable alone(rows, true), loss = cross_entropy(all, labels, -100), wanted = cross_entropy(alone, kept);
  EXPECT_NEAR(loss.value().item(), wanted.value().item(), 1e-6);
  backward(loss);
  backward(wanted);
  for (int64_t n = 0; n < 4; ++n)
    for (int64_t c = 0; c < 3; ++c)
      EXPECT_NEAR(all.gradient().value().at<float>({n, c}),
                  n == 0 || n == 3 ? alone.gradient().value().at<float>({n / 3, c}) : 0, 1e-6);
  // A batch of nothing but ignored labels has nothing to say; any other label without a class is a mistake.
  const Variable none = cross_entropy(some, Tensor::full({4}, -100, Type::i32), -100);
  EXPECT_EQ(none.value().item(), 0);
  backward(none);
  EXPECT_EQ(sum(square(some.gradient())).value().item(), 0);
  EXPECT_THROW(cross_entropy(some, labels, -1), Error);
}

TEST(Values, GradientsOfPowerHaveTheirLimitsAtTheEdges) {
  const std::vector<float> bases = {0, 0, 0, 0, 3, 2}, exponents = {0, 1, 2, 3, 0, 1};
  const Variable a(Tensor::of({6}, bases), true), b(Tensor::of({6}, exponents), true);
  backward(sum(power(a, b)));
  expect_near(a.gradient(), Tensor::of<float>({6}, {0, 1, 0, 0, 0, 1}));
  expect_near(b.gradient(), Tensor::of<float>({6}, {0, 0, 0, 0, std::log(3.0f), 2 * std::log(2.0f)}));
}

TEST(Values, ATensorOfSixPermutedDimensionsIsCopied) {
  const Shape shape = {2, 3, 2, 3, 2, 3};
  const Tensor x = random_tensor(shape, 1), to = Tensor::empty({3, 2, 3, 2, 3, 2});
  const Shape strides(x.strides().rbegin(), x.strides().rend());
  const Tensor turned = x.viewed({3, 2, 3, 2, 3, 2}, strides);
  copy(to, turned);
  for (int64_t i = 0; i < x.size(); ++i) {
    Shape at(6);
    int64_t rest = i;
    for (int d = 5; d >= 0; --d) {
      at[d] = rest % shape[d];
      rest /= shape[d];
    }
    ASSERT_EQ(to.at<float>(Shape(at.rbegin(), at.rend())), x.at<float>(at)) << i;
  }
}

TEST(Values, BatchNormKeepsRunningStatisticsAsPyTorchDoes) {
  const Tensor x = random_tensor({4, 3, 2, 2}, 1, Layout::channels_last);
  nn::Layer layer = nn::BatchNorm2d(3);
  const Variable y = layer(x);
  const auto state = layer.state();
  for (int64_t c = 0; c < 3; ++c) {
    double mean = 0, square = 0, mean_y = 0, square_y = 0;
    for (int64_t n = 0; n < 4; ++n)
      for (int64_t p = 0; p < 4; ++p) {
        const double v = x.at<float>({n, c, p / 2, p % 2}), w = y.value().at<float>({n, c, p / 2, p % 2});
        mean += v / 16;
        square += v * v / 16;
        mean_y += w / 16;
        square_y += w * w / 16;
      }
    EXPECT_NEAR(mean_y, 0, 1e-5);
    EXPECT_NEAR(square_y, 1, 1e-3);
    EXPECT_NEAR(state.at("running_mean").at<float>({c}), 0.1 * mean, 1e-6);
    EXPECT_NEAR(state.at("running_var").at<float>({c}), 0.9 + 0.1 * (square - mean * mean) * 16 / 15, 1e-5);
  }
  EXPECT_EQ(state.at("num_batches_tracked").item(), 1);
}

}  // namespace
}  // namespace saltern
