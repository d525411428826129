// Products of quantized numbers are exact, however long the sums.

#include <gtest/gtest.h>

#include "tests/errors.h"
#include "tests/run_operator.h"

namespace saltern {
namespace {

// Numbers at both ends of the type, so that sums grow as large as they can.
template <typename T>
Tensor extremes(const Shape &shape, int seed) {
  const Tensor t = Tensor::empty(shape, TypeOf<T>::value);
  for (int64_t i = 0; i < t.size(); ++i)
    t.data<T>()[i] = (i * 31 + seed) % 7 < 6 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  return t;
}

TEST(MatMulInteger, LongSumsAreExact) {
  const int64_t inner = 2111;
  const Tensor a = extremes<uint8_t>({3, inner}, 1), b = extremes<int8_t>({inner, 2}, 2);
  const Tensor a_zero = Tensor::of<uint8_t>({}, {3}), b_zero = Tensor::of<int8_t>({2}, {-128, 5});
  const auto y = values_of<int32_t>(OperatorCall{"MatMulInteger", {a, b, a_zero, b_zero}}.lowered()[0]);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      int64_t sum = 0;
      for (int64_t k = 0; k < inner; ++k)
        sum += (a.at<uint8_t>({i, k}) - 3) * (b.at<int8_t>({k, j}) - b_zero.at<int8_t>({j}));
      EXPECT_EQ(y[static_cast<size_t>(2 * i + j)], sum) << i << " " << j;
    }
}

TEST(MatMulInteger, MatricesThatDoNotFitAreRefused) {
  const OperatorCall call = {"MatMulInteger", {extremes<uint8_t>({3, 4}, 1), extremes<uint8_t>({5, 2}, 1)}};
  expect_error([&] { call.lowered(); }, {"[3, 4]", "[5, 2]"});
}

TEST(MatMulInteger, ZeroPointsThatDoNotFitAreRefused) {
  const Tensor a = extremes<uint8_t>({3, 4}, 1), b = extremes<uint8_t>({4, 2}, 1);
  for (const Shape &shape : std::vector<Shape>{{3}, {1, 4, 2}}) {
    const OperatorCall call = {"MatMulInteger", {a, b, HostValue(), extremes<uint8_t>(shape, 1)}};
    expect_error([&] { call.lowered(); }, {to_string(shape), "[4, 2]"});
  }
}

TEST(ConvInteger, LongSumsAreExactInOneGroupAndInSeveral) {
  for (const int64_t groups : {1, 2, 8}) {
    const int64_t channels = 80 / groups, outputs = 8 / groups;
    const Tensor x = extremes<uint8_t>({1, 80, 5}, 3), w = extremes<uint8_t>({8, channels, 3}, 4);
    const Tensor zero = Tensor::of<uint8_t>({}, {7});
    const Attributes a = {{"group", groups}, {"pads", std::vector<int64_t>{1, 1}}};
    const auto y = values_of<int32_t>(OperatorCall{"ConvInteger", {x, w, zero}, a}.lowered()[0]);
    for (int64_t o = 0; o < 8; ++o)
      for (int64_t p = 0; p < 5; ++p) {
        int64_t sum = 0;
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t t = 0; t < 3; ++t)
            if (p + t >= 1 && p + t <= 5)
              sum += (x.at<uint8_t>({0, o / outputs * channels + c, p + t - 1}) - 7) * w.at<uint8_t>({o, c, t});
        EXPECT_EQ(y[static_cast<size_t>(5 * o + p)], sum) << groups << " groups, " << o << " " << p;
      }
  }
}

}  // namespace
}  // namespace saltern
