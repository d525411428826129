// Tensors without elements, as the last batch of a split may be: layers give empty results, and what has none says which
// operation was given which extents, instead of passing on what a kernel says.

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "runtime/optim/optimizer.h"
#include "tests/errors.h"

namespace saltern {
namespace {

Variable nothing(const Shape &shape) { return Variable(Tensor::empty(shape)); }

TEST(Empty, ABatchOfNoSamplesGoesThroughEveryLayer) {
  Sequential net(nn::Conv2d(3, 4, 3), nn::BatchNorm2d(4), nn::ReLU(), nn::MaxPool2d(2), nn::AvgPool2d(2),
                 nn::Dropout(0.5), nn::Flatten(), nn::Linear(16, 8), nn::LayerNorm({8}), nn::GELU(), nn::Softmax(-1));
  net.eval();
  EXPECT_EQ(net(nothing({0, 3, 10, 10})).shape(), (Shape{0, 8}));
  Sequential grouped(nn::Conv2d(4, 4, 3, 1, 1, 1, 4), nn::Tanh());
  EXPECT_EQ(grouped(nothing({0, 4, 5, 5})).shape(), (Shape{0, 4, 5, 5}));
  EXPECT_EQ(matmul(nothing({2, 0, 3}), nothing({3, 4})).shape(), (Shape{2, 0, 4}));
}

TEST(Empty, FunctionsAndMovement) {
  const Variable x = nothing({0, 3});
  EXPECT_EQ((x + 1.0).shape(), (Shape{0, 3}));
  EXPECT_EQ((x * nothing({0, 1})).shape(), (Shape{0, 3}));
  EXPECT_EQ(power(exp(x), x).shape(), (Shape{0, 3}));
  EXPECT_EQ(concat({x, Variable(Tensor::zeros({2, 3}))}, 0).shape(), (Shape{2, 3}));
  EXPECT_EQ(transpose(x, {1, 0}).shape(), (Shape{3, 0}));
  EXPECT_EQ(slice(Variable(Tensor::zeros({2, 3})), 0, 1, 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(expand(nothing({0, 1}), {0, 5}).shape(), (Shape{0, 5}));
}

TEST(Empty, TheSumOfNothingIsZero) {
  EXPECT_EQ(sum(nothing({0, 3})).value().item(), 0);
  EXPECT_EQ(sum(nothing({0, 3}), {0}).value().reals(), std::vector<double>(3, 0));
  EXPECT_EQ(sum(nothing({0, 3}), {1}).shape(), (Shape{0, 1}));
}

TEST(Empty, TheMeanOfNothingIsAnErrorThatNamesItsShape) {
  expect_error([] { mean(nothing({0, 3})); }, {"mean", "[0, 3]"});
  expect_error([] { mean_squared_error(nothing({0, 3}), nothing({0, 3})); }, {"mean", "[0, 3]"});
  expect_error([] { cross_entropy(nothing({0, 3}), Tensor::empty({0}, Type::i32)); }, {"cross_entropy", "[0, 3]"});
  EXPECT_EQ(cross_entropy(nothing({0, 3}), Tensor::empty({0}, Type::i32), -1).value().item(), 0);
  EXPECT_EQ(accuracy(Tensor::empty({0, 3}), Tensor::empty({0}, Type::i32)), 0);
}

TEST(Empty, NothingHasNoTrainingStatisticsAsInPyTorchAndNoChannelsAreAnErrorThatNamesTheShape) {
  nn::Layer norm = nn::BatchNorm1d(4);
  EXPECT_EQ(norm(nothing({0, 4})).shape(), (Shape{0, 4}));
  EXPECT_EQ(norm.buffer("running_mean").reals(), std::vector<double>(4, 0));
  EXPECT_EQ(norm.buffer("running_var").reals(), std::vector<double>(4, 1));
  expect_error([&] { norm(nothing({3, 0})); }, {"BatchNorm1d", "0 channels"});
}

TEST(Empty, GradientsAreZerosOrAnErrorThatNamesTheOperationAndTheShape) {
  Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 2));
  try {
    backward(sum(net(nothing({0, 4}))));
    for (const Variable &p : net.parameters())
      if (p.gradient().defined()) {
        for (double g : p.gradient().value().reals()) EXPECT_EQ(g, 0);
      }
  } catch (const Error &e) {
    EXPECT_TRUE(contains(e.what(), "[0, ")) << e.what();
    EXPECT_TRUE(contains(e.what(), "operation '")) << e.what();
  }
}

TEST(Empty, ASavedGraphRunsOnIt) {
  Sequential net(nn::Linear(4, 8), nn::ReLU());
  EXPECT_EQ(run(trace(net, {0, 4}), {{"x", Tensor::empty({0, 4})}}).at("y").shape(), (Shape{0, 8}));
}

}  // namespace
}  // namespace saltern
