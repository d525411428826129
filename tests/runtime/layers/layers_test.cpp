// Every layer's gradients, by one line each.

#include "tests/jacobian.h"

namespace saltern {
namespace {

using namespace nn::literals;

LAYER_TEST(ReLU, nn::ReLU(), {2, 3, 5})
LAYER_TEST(LeakyReLU, nn::LeakyReLU(), {17})
LAYER_TEST(Sigmoid, nn::Sigmoid(), {2, 3, 5})
LAYER_TEST(Tanh, nn::Tanh(), {2, 3, 5})
LAYER_TEST(GELU, nn::GELU(), {2, 3, 5})
LAYER_TEST(SiLU, nn::SiLU(), {2, 3, 5})
LAYER_TEST(Exp, Lambda(std::cref(exp)), {2, 3, 3})
LAYER_TEST(Log, Lambda(std::cref(log)), {2, 3, 3}, 0.5)
LAYER_TEST(Sqrt, Lambda(std::cref(sqrt)), {2, 3, 3}, 0.5)
LAYER_TEST(Reciprocal, Lambda(std::cref(reciprocal)), {2, 3, 3}, 0.7)
LAYER_TEST(Negate, Lambda(std::cref(negate)), {7})
LAYER_TEST(Absolute, Lambda(std::cref(absolute)), {7})
LAYER_TEST(Square, Lambda(std::cref(square)), {7})
LAYER_TEST(Erf, Lambda(std::cref(erf)), {7})
LAYER_TEST(Sine, Lambda(std::cref(sine)), {7})
LAYER_TEST(Cosine, Lambda(std::cref(cosine)), {7})

LAYER_TEST(Linear, nn::Linear(5, 7), {3, 5})
LAYER_TEST(LinearToMany, nn::Linear(2, 7), {3, 2})
LAYER_TEST(LinearOfOne, nn::Linear(1, 1), {1, 1})
LAYER_TEST(LinearWithoutBias, nn::Linear(17, 3, false), {2, 17})
LAYER_TEST(LinearOnSequences, nn::Linear(5, 2), {2, 3, 5})

LAYER_TEST(Conv2d, nn::Conv2d(3, 5, 3, 1, 1), {2, 3, 5, 4})
LAYER_TEST(Conv2dOfOne, nn::Conv2d(1, 1, 1), {1, 1, 1, 1})
LAYER_TEST(Conv2dUneven, nn::Conv2d(2, 3, {3, 2}, {2, 1}, {0, 1}, {1, 2}), {1, 2, 6, 5})
LAYER_TEST(Conv2dInGroups, nn::Conv2d(4, 6, 3, 1, 1, 1, 2), {1, 4, 4, 3})
LAYER_TEST(Conv2dDepthwise, nn::Conv2d(5, 5, 3, 2, 1, 1, 5), {2, 5, 5, 4})
LAYER_TEST(Conv2dWithoutBias, nn::Conv2d(2, 2, 2, 1, 0, 1, 1, false), {1, 2, 3, 3})

LAYER_TEST(MaxPool2d, nn::MaxPool2d(2), {2, 3, 4, 6})
LAYER_TEST(MaxPool2dOverlapping, nn::MaxPool2d(3, 2, 1), {1, 2, 5, 7})
LAYER_TEST(AvgPool2d, nn::AvgPool2d(2), {2, 3, 4, 6})
LAYER_TEST(AvgPool2dPadded, nn::AvgPool2d(3, 2, 1, false, false), {1, 2, 5, 7})
LAYER_TEST(Flatten, nn::Flatten(), {2, 3, 2, 2})

LAYER_TEST(BatchNorm2d, nn::BatchNorm2d(3), {2, 3, 3, 2})
LAYER_TEST(BatchNorm1d, nn::BatchNorm1d(5), {4, 5})
nn::Layer in_evaluation(int64_t channels) {
  nn::Layer layer = nn::BatchNorm2d(channels);
  layer.eval();
  return layer;
}
LAYER_TEST(BatchNorm2dInEvaluation, in_evaluation(3), {2, 3, 3, 2})

LAYER_TEST(LayerNorm, nn::LayerNorm({5}), {2, 3, 5})
LAYER_TEST(LayerNormOfWholeImages, nn::LayerNorm({3, 2, 2}), {2, 3, 2, 2})
LAYER_TEST(RMSNorm, nn::RMSNorm({7}), {3, 7})

LAYER_TEST(RNN, nn::RNN(3, 4), {3, 2, 3})
LAYER_TEST(GRU, nn::GRU(3, 4, "bidirectional"_a = true), {3, 2, 3})
LAYER_TEST(LSTM, nn::LSTM(3, 4), {3, 2, 3})
LAYER_TEST(LSTMOfOne, nn::LSTM(1, 1), {2, 1, 1})
LAYER_TEST(LSTMWithAll,
           nn::LSTM(3, 4, 2, "bias"_a = false, "batch_first"_a = true, "bidirectional"_a = true, "proj_size"_a = 2),
           {2, 3, 3})

LAYER_TEST(Softmax, nn::Softmax(-1), {3, 7})
LAYER_TEST(SoftmaxOverChannels, nn::Softmax(1), {2, 3, 2, 2})
LAYER_TEST(LogSoftmax, Lambda([](const Variable &x) { return log_softmax(x); }), {3, 7})
LAYER_TEST(CrossEntropy, Lambda([](const Variable &x) {
             return cross_entropy(x, Tensor::of<int64_t>({3}, {0, 4, 2}));
           }),
           {3, 5})
LAYER_TEST(MeanSquaredError, Lambda([](const Variable &x) {
             return mean_squared_error(x, Tensor::full({3, 5}, 0.5));
           }),
           {3, 5})

LAYER_TEST(Sum, Lambda([](const Variable &x) { return sum(x); }), {3, 5})
LAYER_TEST(SumOverFirstAndLast, Lambda([](const Variable &x) { return sum(x, {0, 3}); }), {2, 3, 2, 4})
LAYER_TEST(MeanOverTheMiddle, Lambda([](const Variable &x) { return mean(x, {1}); }), {2, 3, 4})
LAYER_TEST(Expand, Lambda([](const Variable &x) { return expand(x, {4, 2, 3}); }), {2, 1})
LAYER_TEST(Transpose, Lambda([](const Variable &x) { return transpose(x, {2, 0, 1}); }), {2, 3, 4})
LAYER_TEST(Concat, Lambda([](const Variable &x) { return concat({x, square(x), x}, -1); }), {2, 3, 2})
LAYER_TEST(Slice, Lambda([](const Variable &x) { return slice(square(x), 1, 1, 2); }), {2, 4, 2})
LAYER_TEST(Matmul, Lambda([](const Variable &x) { return matmul(x, transposed(x)); }), {2, 3, 4})
LAYER_TEST(MatmulWithOneMatrixForAll, Lambda([](const Variable &x) {
             return matmul(x, Tensor::full({4, 2}, 0.5));
           }),
           {3, 5, 4})

LAYER_TEST(Add, Lambda([](const Variable &x) { return x + sum(x, {0}); }), {3, 4})
LAYER_TEST(Subtract, Lambda([](const Variable &x) { return sum(x, {0}) - x; }), {3, 4})
LAYER_TEST(Multiply, Lambda([](const Variable &x) { return x * sum(x, {1}); }), {3, 4})
LAYER_TEST(Divide, Lambda([](const Variable &x) { return sum(x, {1}) / x; }), {3, 4}, 0.9)
LAYER_TEST(Power, Lambda([](const Variable &x) { return power(x, mean(x, {1})); }), {3, 4}, 0.5)
LAYER_TEST(Maximum, Lambda([](const Variable &x) { return maximum(x, mean(x, {0})); }), {4, 3})
LAYER_TEST(Minimum, Lambda([](const Variable &x) { return minimum(x, mean(x, {0})); }), {4, 3})

LAYER_TEST(Sequential,
           Sequential(nn::Conv2d(1, 4, 3, 1, 1), nn::Tanh(), nn::AvgPool2d(2), nn::Flatten(), nn::Linear(16, 3)),
           {2, 1, 4, 4})
LAYER_TEST(Residual, Lambda([conv = std::make_shared<nn::Layer>(nn::Conv2d(3, 3, 3, 1, 1))](const Variable &x) {
             return x + tanh((*conv)(x));
           }),
           {1, 3, 3, 4})

TEST(Dropout, KeepsTheMeanAndItsGradientDropsTheSame) {
  nn::manual_seed(1);
  nn::Layer layer = nn::Dropout(0.25);
  const Variable x(Tensor::full({40000}, 1), true);
  const Variable y = layer(x);
  backward(sum(y));
  const float *values = y.value().data<float>(), *gradient = x.gradient().value().data<float>();
  int64_t zeros = 0;
  for (int64_t i = 0; i < 40000; ++i) {
    zeros += values[i] == 0;
    ASSERT_TRUE(values[i] == 0 || std::fabs(values[i] - 1 / 0.75f) < 1e-6f);
    ASSERT_EQ(values[i], gradient[i]) << i;
  }
  EXPECT_NEAR(static_cast<double>(zeros) / 40000, 0.25, 0.01);
}

TEST(Dropout, DrawsAnewEachTimeAndResumesFromTheStateOfItsStream) {
  nn::manual_seed(1);
  nn::Layer layer = nn::Dropout(0.5);
  const Variable x(Tensor::full({100}, 1));
  const Variable first = layer(x);
  const Tensor saved = random_stream().clone();
  const Variable second = layer(x);
  EXPECT_NE(dot(first.value(), second.value()), dot(first.value(), first.value()));
  random_stream().copy_from(saved);
  const Variable again = layer(x);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(again.value().data<float>()[i], second.value().data<float>()[i]);
  layer.eval();
  EXPECT_EQ(layer(x).value().raw(), x.value().raw());
}

TEST(Dropout, GoesOnUnderAnotherSeedWhereAStreamIsUsedUp) {
  nn::Layer layer = nn::Dropout(0.5);
  const Variable x(Tensor::full({100}, 1));
  const auto begin_at = [](int64_t offset) { random_stream().copy_from(Tensor::of<int64_t>({2}, {7, offset})); };
  constexpr int64_t last = 0x7fffffff;
  begin_at(last - 100);
  layer(x);
  EXPECT_EQ(random_stream().integers(), (std::vector<int64_t>{7, last}));
  layer(x);
  const std::vector<int64_t> next = random_stream().integers();
  EXPECT_EQ(next[1], 100);
  EXPECT_NE(next[0], 7);
  EXPECT_GE(next[0], 0);
  begin_at(last - 99);
  layer(x);
  EXPECT_EQ(random_stream().integers(), next);
}

}  // namespace
}  // namespace saltern
