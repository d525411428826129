// Resizing, sampling, Einsum and normalizations against naive loops and results made by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/onnx/operators/resize_table.h"
#include "tests/run_operator.h"

namespace saltern {
namespace {

using Integers = std::vector<int64_t>;

std::vector<float> reals(const Tensor &t) { return {t.data<float>(), t.data<float>() + t.size()}; }

TEST(ResizeTable, WeightsAddUpToOneWhateverTheRule) {
  for (const char *mode : {"linear", "cubic"})
    for (const char *where :
         {"half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric", "pytorch_half_pixel"})
      for (bool antialias : {false, true})
        for (bool exclude : {false, true})
          for (int64_t to : {1, 3, 7, 12}) {
            ResizeRule rule;
            rule.mode = mode;
            rule.coordinates = where;
            rule.antialias = antialias;
            rule.exclude_outside = exclude;
            const ResizeTable t = resize_table(rule, {7, to, static_cast<double>(to) / 7});
            for (int64_t o = 0; o < to; ++o) {
              double sum = 0;
              for (int64_t k = 0; k < t.taps; ++k) sum += t.weights[static_cast<size_t>(o * t.taps + k)];
              EXPECT_NEAR(sum, 1, 1e-12) << mode << " " << where << " to " << to;
            }
            for (int64_t e : t.elements) EXPECT_TRUE(e >= 0 && e < 7);
          }
}

// Where the edge moves both taps to one element, their products add up to it, to the bit.
TEST(ResizeTable, WhatLiesBeyondTheEdgeIsWhatLiesOnIt) {
  ResizeRule rule;
  rule.mode = "linear";
  const ResizeTable t = resize_table(rule, {2, 6, 3});
  const float edge = 0.607117533F;
  for (size_t o : {0, 4, 5}) {
    ASSERT_EQ(t.elements[2 * o], t.elements[2 * o + 1]) << o;
    EXPECT_EQ(static_cast<float>(t.weights[2 * o]) * edge + static_cast<float>(t.weights[2 * o + 1]) * edge, edge) << o;
  }
}

TEST(ResizeTable, RoundsHalvesAsItIsTold) {
  // Places 0, 0.5, 1, 1.5 of two elements.
  const auto elements = [](const char *rounding) {
    ResizeRule rule;
    rule.coordinates = "asymmetric";
    rule.rounding = rounding;
    return resize_table(rule, {2, 4, 2}).elements;
  };
  EXPECT_EQ(elements("round_prefer_floor"), (Integers{0, 0, 1, 1}));
  EXPECT_EQ(elements("round_prefer_ceil"), (Integers{0, 1, 1, 1}));
  EXPECT_EQ(elements("floor"), (Integers{0, 0, 1, 1}));
  EXPECT_EQ(elements("ceil"), (Integers{0, 1, 1, 1}));
}

// The first of four lies exactly on the first of three.
TEST(ResizeTable, FindsWhatLiesOnAnElementWhenItRoundsUp) {
  ResizeRule rule;
  rule.coordinates = "half_pixel_symmetric";
  rule.rounding = "ceil";
  EXPECT_EQ(resize_table(rule, {3, 4, 1.5}).elements, (std::vector<int64_t>{0, 1, 2, 2}));
}

TEST(Resize, RoundsAndSaturatesIntegers) {
  const Tensor x = Tensor::of<uint8_t>({4}, {0, 255, 255, 0});
  const Tensor y =
      OperatorCall{"Resize", {x, Tensor(), Tensor(), Tensor::of<int64_t>({1}, {8})}, {{"mode", "cubic"}}}.tensors()[0];
  // A cubic filter overshoots between the two large elements.
  EXPECT_EQ(*std::max_element(y.data<uint8_t>(), y.data<uint8_t>() + 8), 255);
  EXPECT_EQ(y.data<uint8_t>()[3], 255);
  EXPECT_EQ(y.data<uint8_t>()[0], 0);
}

TEST(Resize, KeepsTheAspectRatioOfTheAxesItIsGiven) {
  const Attributes a = {{"axes", Integers{1, -1}}, {"keep_aspect_ratio_policy", "not_larger"}};
  const Tensor y =
      OperatorCall{"Resize", {scrambled<float>({3, 4, 6}), Tensor(), Tensor(), Tensor::of<int64_t>({2}, {6, 6})}, a}
          .tensors()[0];
  EXPECT_EQ(y.shape(), (Shape{3, 4, 6}));
}

TEST(Resize, ToNothingIsEmptyInEveryMode) {
  for (const char *mode : {"nearest", "linear", "cubic"}) {
    const Tensor scales = Tensor::of<float>({4}, {1, 1, 3, 0.5F});
    const Tensor y =
        OperatorCall{"Resize", {Tensor::zeros({1, 1, 2, 1}), HostValue(), scales}, {{"mode", std::string(mode)}}}
            .tensors()[0];
    EXPECT_EQ(y.shape(), (Shape{1, 1, 6, 0})) << mode;
  }
}

TEST(Upsample, RepeatsElements) {
  const Tensor y =
      OperatorCall{"Upsample", {Tensor::of<float>({2}, {1, 2})}, {{"scales", std::vector<double>{2.5}}}, 1, 7}
          .tensors()[0];
  EXPECT_EQ(reals(y), (std::vector<float>{1, 1, 1, 2, 2}));
}

TEST(CenterCropPad, PutsTextsInTheMiddleOfEmptyOnes) {
  const Tensor x = Tensor::of<std::string>({2}, {"a", "b"});
  const OperatorCall c = {"CenterCropPad", {x, Tensor::of<int64_t>({1}, {5})}};
  EXPECT_EQ(values_of<std::string>(c.on_host()[0]), (std::vector<std::string>{"", "a", "b", "", ""}));
}

TEST(GridSample, ReflectsAtEdgesOrAtCentres) {
  // Three elements; places 1 and 2 elements to the left of the first one.
  const Tensor x = Tensor::of<float>({1, 1, 1, 3}, {10, 20, 30});
  const auto sampled = [&](int64_t aligned, double at) {
    const auto place = static_cast<float>(aligned ? at - 1 : (2 * at + 1) / 3 - 1);
    return OperatorCall{"GridSample",
                        {x, Tensor::of<float>({1, 1, 1, 2}, {place, aligned ? -1.0f : 0.0f})},
                        {{"mode", "linear"}, {"padding_mode", "reflection"}, {"align_corners", aligned}}}
        .tensors()[0]
        .data<float>()[0];
  };
  EXPECT_NEAR(sampled(0, -1), 10, 1e-4);
  EXPECT_NEAR(sampled(0, -2), 20, 1e-4);
  EXPECT_NEAR(sampled(1, -1), 20, 1e-4);
  EXPECT_NEAR(sampled(1, -2), 30, 1e-4);
  EXPECT_NEAR(sampled(1, 2.5), 25, 1e-4);
}

TEST(Einsum, OfThreeIsTheSumOverAllSharedLabels) {
  const Tensor a = scrambled<float>({2, 3, 2}), b = scrambled<float>({3, 4}), c = scrambled<float>({4, 2, 5});
  const Tensor y = OperatorCall{"Einsum", {a, b, c}, {{"equation", "iji, jk,k...->...i"}}}.tensors()[0];
  // The ellipsis is the last two dimensions of c.
  ASSERT_EQ(y.shape(), (Shape{2, 5, 2}));
  for (int64_t p = 0; p < 2; ++p)
    for (int64_t q = 0; q < 5; ++q)
      for (int64_t i = 0; i < 2; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < 3; ++j)
          for (int64_t k = 0; k < 4; ++k) sum += a.at<float>({i, j, i}) * b.at<float>({j, k}) * c.at<float>({k, p, q});
        EXPECT_FLOAT_EQ(y.at<float>({p, q, i}), static_cast<float>(sum));
      }
}

TEST(Det, OfAMatrixThatNeedsItsRowsChanged) {
  const Tensor x = Tensor::of<double>({2, 3, 3}, {0, 2, 1, 3, 0, 0, 0, 0, 4, 1, 2, 3, 2, 4, 6, 0, 1, 1});
  const Tensor y = OperatorCall{"Det", {x}}.tensors()[0];
  EXPECT_NEAR(y.data<double>()[0], -24, 1e-12);
  EXPECT_NEAR(y.data<double>()[1], 0, 1e-12);
}

TEST(BatchNormalization, KeepsTheStatisticsOfTheBatch) {
  const Tensor x = Tensor::of<float>({2, 1, 2}, {1, 2, 3, 6}), one = Tensor::of<float>({1}, {1}),
               zero = Tensor::of<float>({1}, {0});
  const std::vector<Tensor> y = OperatorCall{"BatchNormalization",
                                             {x, one, zero, zero, one},
                                             {{"training_mode", int64_t{1}}, {"momentum", 0.5}, {"epsilon", 0.0}},
                                             3}
                                    .tensors();
  EXPECT_FLOAT_EQ(y[1].data<float>()[0], 1.5);            // half of the mean, 3
  EXPECT_FLOAT_EQ(y[2].data<float>()[0], 0.5 + 3.5 / 2);  // the population's variance is 3.5
  EXPECT_FLOAT_EQ(y[0].data<float>()[0], static_cast<float>(-2 / std::sqrt(3.5)));
}

TEST(Softmax, TookAllDimensionsFromItsAxisOnAsOneBeforeOpset13) {
  const Tensor x = Tensor::zeros({2, 3, 4});
  EXPECT_FLOAT_EQ((OperatorCall{"Softmax", {x}, {}, 1, 11}.tensors()[0].data<float>()[0]), 1.0f / 12);
  EXPECT_FLOAT_EQ((OperatorCall{"Softmax", {x}, {}, 1, 13}.tensors()[0].data<float>()[0]), 1.0f / 4);
}

}  // namespace
}  // namespace saltern
