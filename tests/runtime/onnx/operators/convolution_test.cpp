// Products, convolutions and pools against naive loops, where ONNX's own cases do not look: types without a kernel,
// one and three dimensions, groups, padding that is not even, windows that leave the image.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/run_operator.h"

namespace saltern {
namespace {

using Integers = std::vector<int64_t>;

// y(n, o, p) of a convolution along one dimension.
double convolved(const Tensor &x, const Tensor &w, int64_t n, int64_t o, int64_t p, int64_t stride, int64_t before,
                 int64_t dilation, int64_t groups) {
  const int64_t channels = w.extent(1), first = o / (w.extent(0) / groups) * channels;
  double sum = 0;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < w.extent(2); ++t) {
      const int64_t i = p * stride - before + t * dilation;
      if (i >= 0 && i < x.extent(2)) sum += x.at<double>({n, first + c, i}) * w.at<double>({o, c, t});
    }
  return sum;
}

Tensor as_f32(const Tensor &t) {
  const Tensor y = Tensor::empty(t.shape());
  for (int64_t i = 0; i < t.size(); ++i) y.data<float>()[i] = static_cast<float>(t.data<double>()[i]);
  return y;
}

TEST(Conv, IsWhatLoopsGiveInTypesWithAndWithoutAKernel) {
  for (int64_t groups : {1, 2, 4})
    for (int64_t dilation : {1, 2}) {
      const Tensor x = scrambled<double>({2, 4, 9}), w = scrambled<double>({8, 4 / groups, 3});
      const Attributes a = {
          {"strides", Integers{2}}, {"dilations", Integers{dilation}}, {"pads", Integers{1, 3}}, {"group", groups}};
      const Tensor y = OperatorCall{"Conv", {x, w}, a}.tensors()[0],
                   z = OperatorCall{"Conv", {as_f32(x), as_f32(w)}, a}.tensors()[0];
      ASSERT_EQ(y.shape(), (Shape{2, 8, (9 + 4 - 2 * dilation - 1) / 2 + 1}));
      ASSERT_EQ(z.shape(), y.shape());
      for (int64_t n = 0; n < 2; ++n)
        for (int64_t o = 0; o < 8; ++o)
          for (int64_t p = 0; p < y.extent(2); ++p) {
            const double wanted = convolved(x, w, n, o, p, 2, 1, dilation, groups);
            EXPECT_EQ(y.at<double>({n, o, p}), wanted);
            EXPECT_FLOAT_EQ(z.at<float>({n, o, p}), static_cast<float>(wanted));
          }
    }
}

TEST(Conv, OfNothingIsTheBias) {
  const Tensor y =
      OperatorCall{"Conv", {Tensor::empty({1, 0, 3}), Tensor::empty({2, 0, 1}), Tensor::of<float>({2}, {5, -7})}}
          .tensors()[0];
  EXPECT_EQ(y.at<float>({0, 0, 2}), 5);
  EXPECT_EQ(y.at<float>({0, 1, 0}), -7);
}

TEST(Conv, RefusesWindowsThatAreNone) {
  const Tensor x = Tensor::zeros({1, 2, 4}), w = Tensor::zeros({3, 2, 2});
  EXPECT_THROW((OperatorCall{"Conv", {x, Tensor::zeros({3, 2, 0})}}.lowered()), Error);
  for (int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 62}) {
    EXPECT_THROW((OperatorCall{"Conv", {x, w}, {{"strides", Shape{bad}}}}.lowered()), Error) << bad;
    EXPECT_THROW((OperatorCall{"Conv", {x, w}, {{"dilations", Shape{bad}}}}.lowered()), Error) << bad;
  }
  EXPECT_THROW((OperatorCall{"Conv", {x, w}, {{"pads", Shape{int64_t{1} << 62, int64_t{1} << 62}}}}.lowered()), Error);
}

TEST(ConvTranspose, IsTheTransposeOfConv) {
  // <conv(x), y> = <x, transposed(y)>, for integers exactly.
  for (int64_t groups : {1, 2}) {
    const Attributes a = {
        {"strides", Integers{2, 3}}, {"dilations", Integers{2, 1}}, {"pads", Integers{1, 0, 0, 1}}, {"group", groups}};
    const Tensor x = scrambled<double>({1, 2, 8, 7}), w = scrambled<double>({4, 2 / groups, 2, 3});
    const Tensor y = OperatorCall{"Conv", {x, w}, a}.tensors()[0];
    const Tensor v = scrambled<double>(y.shape());
    for (bool narrow : {false, true}) {
      const Tensor back = OperatorCall{"ConvTranspose",
                                       {narrow ? as_f32(v) : v, narrow ? as_f32(w) : w},
                                       a.with("output_padding", Integers{(8 + 1 - 3) % 2, (7 + 1 - 3) % 3})}
                              .tensors()[0];
      ASSERT_EQ(back.shape(), x.shape());
      double left = 0, right = 0;
      for (int64_t i = 0; i < y.size(); ++i) left += y.data<double>()[i] * v.data<double>()[i];
      for (int64_t i = 0; i < x.size(); ++i)
        right += x.data<double>()[i] * (narrow ? back.data<float>()[i] : back.data<double>()[i]);
      EXPECT_EQ(left, right);
    }
  }
}

TEST(MaxPool, SaysWhereItFoundTheLargest) {
  const Tensor x = scrambled<int8_t>({1, 2, 4, 5});
  for (int64_t columns_first : {0, 1}) {
    const std::vector<Tensor> y = OperatorCall{"MaxPool",
                                               {x},
                                               {{"kernel_shape", Integers{2, 3}},
                                                {"strides", Integers{2, 2}},
                                                {"pads", Integers{1, 1, 0, 0}},
                                                {"ceil_mode", int64_t{1}},
                                                {"storage_order", columns_first}},
                                               2}
                                      .tensors();
    ASSERT_EQ(y[0].shape(), (Shape{1, 2, 3, 3}));
    for (int64_t i = 0; i < y[0].size(); ++i) {
      const int64_t place = y[1].data<int64_t>()[i], channel = place / 20, inside = place % 20;
      const Shape at =
          columns_first ? Shape{0, channel, inside % 4, inside / 4} : Shape{0, channel, inside / 5, inside % 5};
      EXPECT_EQ(x.at<int8_t>(at), y[0].data<int8_t>()[i]);
    }
  }
}

// In windows of any rank, by a kernel or by a formula.
TEST(MaxPool, PassesOverNaN) {
  const Tensor x = Tensor::of<float>({1, 1, 6}, {NAN, 1, 2, NAN, -INFINITY, NAN});
  const Attributes pairs = {{"kernel_shape", Integers{2}}, {"strides", Integers{2}}};
  EXPECT_EQ(values_of<float>(OperatorCall{"MaxPool", {x}, pairs}.lowered()[0]), (std::vector<float>{1, 2, -INFINITY}));
  const Tensor wide = Tensor::of<double>({1, 1, 1, 1, 4}, {NAN, 1, 2, NAN});
  const Attributes cubes = {{"kernel_shape", Integers{1, 1, 2}}, {"strides", Integers{1, 1, 2}}};
  EXPECT_EQ(values_of<double>(OperatorCall{"MaxPool", {wide}, cubes}.lowered()[0]), (std::vector<double>{1, 2}));
}

TEST(MaxPool, WithPlacesKeepsANaNThatBeginsAWindow) {
  const Tensor x = Tensor::of<float>({1, 1, 6}, {NAN, 1, 2, NAN, 3, 4});
  const Attributes pairs = {{"kernel_shape", Integers{2}}, {"strides", Integers{2}}};
  const std::vector<Tensor> y = OperatorCall{"MaxPool", {x}, pairs, 2}.tensors();
  EXPECT_TRUE(std::isnan(y[0].data<float>()[0]));
  EXPECT_EQ(y[0].data<float>()[1], 2);
  EXPECT_EQ(values_of<int64_t>(HostValue(y[1])), (std::vector<int64_t>{0, 2, 5}));
}

// What onnxruntime gives: the formula's room is rounded towards zero, or up under ceil_mode.
TEST(Pools, MayMissTheImageByLessThanAStride) {
  struct Row {
    int64_t kernel, stride, ceil;
    std::vector<float> largest;
  };
  const Tensor x = Tensor::of<float>({1, 1, 2}, {1, 2});
  const auto pooled = [&](const char *pool, int64_t kernel, int64_t stride, int64_t ceil) {
    return OperatorCall{
        pool, {x}, {{"kernel_shape", Integers{kernel}}, {"strides", Integers{stride}}, {"ceil_mode", ceil}}}
        .tensors()[0];
  };
  for (const Row &row : {Row{4, 2, 0, {}}, {4, 3, 0, {2}}, {5, 3, 0, {}}, {4, 2, 1, {}}, {4, 3, 1, {2}}, {9, 5, 1, {}}})
    for (const char *pool : {"MaxPool", "AveragePool", "LpPool"}) {
      const Tensor y = pooled(pool, row.kernel, row.stride, row.ceil);
      EXPECT_EQ(y.shape(), (Shape{1, 1, static_cast<int64_t>(row.largest.size())}))
          << pool << " of " << row.kernel << " by " << row.stride;
      if (pool == std::string("MaxPool")) {
        EXPECT_EQ(values_of<float>(y), row.largest);
      }
    }
  EXPECT_EQ(pooled("MaxPool", 3, 1, 0).shape(), (Shape{1, 1, 0}));
  EXPECT_THROW(pooled("MaxPool", 4, 1, 0), Error);
  EXPECT_THROW((OperatorCall{"Conv", {x, Tensor::zeros({1, 1, 3})}}.tensors()), Error);
}

TEST(Pools, LeaveOutBothEndsWhereStridesAreLongerThanWindows) {
  const Tensor x = Tensor::of<float>({1, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
  for (const char *padding : {"SAME_UPPER", "SAME_LOWER"}) {
    const Attributes a = {{"kernel_shape", Integers{1}}, {"strides", Integers{4}}, {"auto_pad", std::string(padding)}};
    EXPECT_EQ(values_of<float>(OperatorCall{"AveragePool", {x}, a}.tensors()[0]), (std::vector<float>{2, 6}));
    EXPECT_EQ(values_of<float>(OperatorCall{"Conv", {x, Tensor::full({1, 1, 1}, 1)}, a}.tensors()[0]),
              (std::vector<float>{1, 5}));
  }
}

TEST(AveragePool, CountsPaddingButNotWhatRoundingUpAdds) {
  // Windows of 3 at 0, 2 and 4 of (0, 1, 2, 3, 4, 0): the last reaches behind the padding.
  const Tensor x = Tensor::of<float>({1, 1, 4}, {1, 2, 3, 4});
  const Attributes a = {
      {"kernel_shape", Integers{3}}, {"strides", Integers{2}}, {"pads", Integers{1, 1}}, {"ceil_mode", int64_t{1}}};
  const Tensor with = OperatorCall{"AveragePool", {x}, a.with("count_include_pad", int64_t{1})}.tensors()[0];
  const Tensor without = OperatorCall{"AveragePool", {x}, a}.tensors()[0];
  ASSERT_EQ(with.shape(), (Shape{1, 1, 3}));
  EXPECT_FLOAT_EQ(with.data<float>()[0], 1);
  EXPECT_FLOAT_EQ(with.data<float>()[2], 2);  // (4 + 0) / 2
  EXPECT_FLOAT_EQ(without.data<float>()[0], 1.5);
  EXPECT_FLOAT_EQ(without.data<float>()[2], 4);
}

TEST(MaxUnpool, PutsTheLastOfSeveralInOnePlace) {
  const Tensor y = OperatorCall{"MaxUnpool",
                                {Tensor::of<float>({1, 1, 3}, {5, 6, 7}), Tensor::of<int64_t>({1, 1, 3}, {1, 1, 3})},
                                {{"kernel_shape", Integers{2}}, {"strides", Integers{1}}}}
                       .tensors()[0];
  ASSERT_EQ(y.shape(), (Shape{1, 1, 4}));
  EXPECT_EQ(std::vector<float>(y.data<float>(), y.data<float>() + 4), (std::vector<float>{0, 6, 0, 7}));
}

TEST(QLinearMatMul, SaturatesAndRoundsHalvesToEven) {
  const auto scale = [](float v) { return Tensor::of<float>({}, {v}); };
  const auto zero = [](uint8_t v) { return Tensor::of<uint8_t>({}, {v}); };
  const Tensor y = OperatorCall{
      "QLinearMatMul",
      {Tensor::of<uint8_t>({1, 1}, {3}), scale(1), zero(2), Tensor::of<uint8_t>({1, 4}, {11, 13, 255, 0}), scale(0.5),
       zero(10), scale(1),
       zero(4)}}.tensors()[0];
  // 0.5, 1.5, 122.5 and -5 beside a zero of 4.
  EXPECT_EQ(std::vector<int>(y.data<uint8_t>(), y.data<uint8_t>() + 4), (std::vector<int>{4, 6, 126, 0}));
}

TEST(Gemm, ScalesIntegersAsRealNumbers) {
  const Tensor y = OperatorCall{
      "Gemm",
      {Tensor::of<int32_t>({1, 2}, {3, 4}), Tensor::of<int32_t>({2, 1}, {5, 6}), Tensor::of<int32_t>({}, {9})},
      {{"alpha", 0.5},
       {"beta", -1.0}}}.tensors()[0];
  EXPECT_EQ(y.data<int32_t>()[0], 19 - 9);
}

}  // namespace
}  // namespace saltern
