// Recurrent layers against loops: directions, ends of sequences, clipping.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/run_operator.h"

namespace saltern {
namespace {

// One feature, one hidden unit: h' = tanh(w x + r h).
struct Scalar {
  double w = 0.8, r = -0.5;
  std::vector<double> walk(const std::vector<double> &x, double h = 0) const {
    std::vector<double> all;
    for (double v : x) all.push_back(h = std::tanh(w * v + r * h));
    return all;
  }
};

TEST(Rnn, ASequenceThatEndsEarlyKeepsItsStateAndGivesZeros) {
  const Scalar s;
  const Tensor x = numbers({3, 2, 1}, {0.1, 0.4, 0.2, 0.5, 0.3, 0.6});
  const OperatorCall call = {
      "RNN",
      {x, numbers({1, 1, 1}, {s.w}), numbers({1, 1, 1}, {s.r}), HostValue(), Tensor::of<int32_t>({2}, {3, 2})},
      {{"hidden_size", int64_t{1}}},
      2};
  const std::vector<HostValue> results = call.lowered();
  const std::vector<double> a = s.walk({0.1, 0.2, 0.3}), b = s.walk({0.4, 0.5});
  const std::vector<double> expected = {a[0], b[0], a[1], b[1], a[2], 0};
  const std::vector<float> y = values_of<float>(results[0]), last = values_of<float>(results[1]);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-6) << i;
  EXPECT_NEAR(last[0], a[2], 1e-6);
  EXPECT_NEAR(last[1], b[1], 1e-6);
}

TEST(Rnn, SequencesAreNoLongerThanWhatIsGiven) {
  const Tensor x = numbers({3, 1, 1}, {0.1, 0.4, 0.2}), w = numbers({1, 1, 1}, {1});
  for (int32_t length : {-1, 4, 1 << 30}) {
    const OperatorCall call = {
        "RNN", {x, w, w, HostValue(), Tensor::of<int32_t>({1}, {length})}, {{"hidden_size", int64_t{1}}}};
    EXPECT_THROW(call.lowered(), Error) << length;
  }
}

// Backwards, a short sequence begins at its own end.
TEST(Rnn, TheOtherDirectionBeginsWhereASequenceEnds) {
  const Scalar s;
  const Tensor x = numbers({3, 1, 1}, {0.1, 0.2, 9});
  const OperatorCall call = {
      "RNN",
      {x, numbers({1, 1, 1}, {s.w}), numbers({1, 1, 1}, {s.r}), HostValue(), Tensor::of<int32_t>({1}, {2})},
      {{"hidden_size", int64_t{1}}, {"direction", "reverse"}},
      2};
  const std::vector<HostValue> results = call.lowered();
  const std::vector<double> walked = s.walk({0.2, 0.1});
  const std::vector<float> y = values_of<float>(results[0]);
  EXPECT_NEAR(y[0], walked[1], 1e-6);
  EXPECT_NEAR(y[1], walked[0], 1e-6);
  EXPECT_EQ(y[2], 0);
  EXPECT_NEAR(values_of<float>(results[1])[0], walked[1], 1e-6);
}

TEST(Rnn, ParametersGoToTheFunctionsThatHaveThem) {
  // Forward: Tanh, which has none; backward: LeakyRelu, which takes the only alpha.
  const OperatorCall call = {"RNN",
                             {numbers({1, 1, 1}, {-2}), numbers({2, 1, 1}, {1, 1}), numbers({2, 1, 1}, {0, 0})},
                             {{"hidden_size", int64_t{1}},
                              {"direction", "bidirectional"},
                              {"activations", std::vector<std::string>{"Tanh", "LeakyRelu"}},
                              {"activation_alpha", std::vector<double>{0.25}}}};
  const std::vector<float> y = values_of<float>(call.lowered()[0]);
  EXPECT_NEAR(y[0], std::tanh(-2), 1e-6);
  EXPECT_NEAR(y[1], -0.5, 1e-6);
}

TEST(Lstm, ClippingBoundsWhatGoesIntoEachFunction) {
  // All gates get 10, bounded by 0.5.
  const double clip = 0.5, gate = 1 / (1 + std::exp(-clip)), cell = gate * std::tanh(clip);
  const OperatorCall call = {
      "LSTM",
      {numbers({1, 1, 1}, {10}), numbers({1, 4, 1}, {1, 1, 1, 1}), numbers({1, 4, 1}, {0, 0, 0, 0})},
      {{"hidden_size", int64_t{1}}, {"clip", clip}},
      3};
  const std::vector<HostValue> results = call.lowered();
  EXPECT_NEAR(values_of<float>(results[2])[0], cell, 1e-6);
  EXPECT_NEAR(values_of<float>(results[1])[0], gate * std::tanh(cell), 1e-6);
}

}  // namespace
}  // namespace saltern
