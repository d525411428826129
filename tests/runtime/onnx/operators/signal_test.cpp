// Spectra against the sums that define them, random numbers, and losses.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "tests/run_operator.h"

namespace saltern {
namespace {

using Complex = std::complex<double>;

TEST(Dft, IsItsDefiningSumForLengthsOfAllKinds) {
  for (int64_t length : {1, 2, 3, 4, 7, 12, 16, 25, 30, 31, 49}) {
    std::vector<double> x;
    for (int64_t i = 0; i < 2 * length; ++i) x.push_back(std::cos(static_cast<double>(i * i)));
    const OperatorCall call = {"DFT", {numbers({1, length, 2}, x, Type::f64)}};
    const std::vector<double> y = values_of<double>(call.lowered()[0]);
    for (int64_t k = 0; k < length; ++k) {
      Complex sum = 0;
      for (int64_t i = 0; i < length; ++i)
        sum += Complex(x[static_cast<size_t>(2 * i)], x[static_cast<size_t>(2 * i + 1)]) *
               std::polar(1.0, -2 * M_PI * static_cast<double>(i * k) / static_cast<double>(length));
      EXPECT_NEAR(y[static_cast<size_t>(2 * k)], sum.real(), 1e-10) << length << " " << k;
      EXPECT_NEAR(y[static_cast<size_t>(2 * k + 1)], sum.imag(), 1e-10) << length << " " << k;
    }
  }
}

TEST(Dft, TheInverseOfOneSideIsTheRealSignal) {
  for (int64_t length : {1, 2, 5, 6}) {
    std::vector<double> x;
    for (int64_t i = 0; i < length; ++i) x.push_back(std::sin(static_cast<double>(i) + 0.3));
    const Attributes onesided = {{"onesided", int64_t{1}}};
    const HostValue half = OperatorCall{"DFT", {numbers({1, length, 1}, x, Type::f64)}, onesided}.lowered()[0];
    EXPECT_EQ(half.tensor().shape(), (Shape{1, length / 2 + 1, 2}));
    const OperatorCall back = {"DFT", {half, Tensor::of<int64_t>({}, {length})}, onesided.with("inverse", int64_t{1})};
    const std::vector<double> y = values_of<double>(back.lowered()[0]);
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], x[i], 1e-12);
  }
}

TEST(Stft, ARealSignalMayLackTheDimensionOfItsParts) {
  const Tensor step = Tensor::of<int64_t>({}, {2}), window = numbers({4}, {0.5, 1, 1, 0.5});
  const std::vector<double> signal = {1, -2, 3, 0.5, -1, 4, 2, -3};
  const auto spectrum = [&](const Shape &shape) {
    return values_of<float>(OperatorCall{"STFT", {numbers(shape, signal), step, window}}.lowered()[0]);
  };
  const std::vector<float> want = spectrum({1, 8, 1});
  EXPECT_EQ(want.size(), 3u * 3 * 2);
  EXPECT_NEAR(want[0], 0.5 - 2 + 3 + 0.25, 1e-6);  // the sum of the first frame
  EXPECT_EQ(spectrum({1, 8}), want);
}

TEST(RandomNormal, HasItsMeanAndDeviationAndRepeats) {
  const OperatorCall call = {
      "RandomNormal", {}, {{"shape", Shape{100, 100}}, {"mean", 3.0}, {"scale", 2.0}, {"seed", 7.0}}};
  const std::vector<float> x = values_of<float>(call.lowered()[0]);
  double sum = 0, squares = 0;
  for (float v : x) {
    sum += v;
    squares += (v - 3) * (v - 3);
  }
  EXPECT_NEAR(sum / 1e4, 3, 0.1);
  EXPECT_NEAR(squares / 1e4, 4, 0.2);
  EXPECT_EQ(values_of<float>(call.lowered()[0]), x);
}

TEST(Multinomial, DrawsClassesAsOftenAsTheirSoftmax) {
  const OperatorCall call = {"Multinomial",
                             {numbers({1, 3}, {std::log(0.5), std::log(0.3), std::log(0.2)})},
                             {{"sample_size", int64_t{20000}}, {"seed", 1.0}}};
  std::vector<double> count(3, 0);
  for (int32_t c : values_of<int32_t>(call.lowered()[0])) count.at(static_cast<size_t>(c)) += 1;
  EXPECT_NEAR(count[0] / 20000, 0.5, 0.02);
  EXPECT_NEAR(count[1] / 20000, 0.3, 0.02);
}

TEST(NegativeLogLikelihood, AnIgnoredLabelCountsNeitherAboveNorBelow) {
  const double infinity = std::numeric_limits<double>::infinity();
  const OperatorCall call = {"NegativeLogLikelihoodLoss",
                             {numbers({3, 2}, {-1, -2, -infinity, -infinity, -3, -4}),
                              Tensor::of<int64_t>({3}, {0, -5, 1}), numbers({2}, {0.5, 2})},
                             {{"ignore_index", int64_t{-5}}}};
  EXPECT_NEAR(values_of<float>(call.lowered()[0])[0], (1 * 0.5 + 4 * 2) / 2.5, 1e-6);
}

}  // namespace
}  // namespace saltern
