// An own layer declared by its formula alone: right, differentiable by its automatic gradient, trainable.

#include "runtime/layers/formula.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/autograd/backward.h"
#include "runtime/layers.h"
#include "runtime/optim/optimizer.h"

namespace saltern {
namespace {

const Formula scaled_tanh("scaled_tanh");

struct ScaledTanh : Module {
  Variable scale;
  explicit ScaledTanh(int64_t channels) : scale(Tensor::full({channels}, 1), true) {}
  Variable forward(const Variable &x) override { return scaled_tanh(x, scale); }
  void visit(Visitor &v) override { v.parameter("scale", scale); }
};

TEST(Formula, IsWhatItSays) {
  Random random(3);
  const Tensor x = random.normal_tensor({3, 7}), scale = random.normal_tensor({7});
  const Tensor y = scaled_tanh(Variable(x), Variable(scale)).value();
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t c = 0; c < 7; ++c)
      EXPECT_NEAR(y.at<float>({n, c}), scale.at<float>({c}) * std::tanh(x.at<float>({n, c})), 1e-5);
}

TEST(Formula, ItsAutomaticGradientIsTheDerivative) {
  Random random(4);
  const Variable x(random.normal_tensor({5, 9}), true), scale(random.normal_tensor({9}), true);
  const Tensor dy = random.normal_tensor({5, 9});
  backward(scaled_tanh(x, scale), dy);
  for (int64_t c = 0; c < 9; ++c) {
    double sum = 0;
    for (int64_t n = 0; n < 5; ++n) {
      const double t = std::tanh(x.value().at<float>({n, c})), d = dy.at<float>({n, c});
      EXPECT_NEAR(x.gradient().value().at<float>({n, c}), scale.value().at<float>({c}) * (1 - t * t) * d, 1e-5);
      sum += t * d;
    }
    EXPECT_NEAR(scale.gradient().value().at<float>({c}), sum, 1e-5);
  }
}

TEST(Formula, ANetWithItLearns) {
  Random random(5);
  Sequential net(Linear(random, 4, 16), ScaledTanh(16), Linear(random, 16, 1));
  SGD optimizer(net, {0.05, 0.9});
  const Tensor x = random.uniform_tensor({64, 4}, -1, 1);
  const Tensor wanted = Tensor::empty({64, 1});
  for (int64_t n = 0; n < 64; ++n) wanted.at<float>({n, 0}) = std::sin(3 * x.at<float>({n, 0})) * x.at<float>({n, 1});
  double first = 0, last = 0;
  for (int step = 0; step < 200; ++step) {
    const Variable loss = mean_squared_error(net(x), wanted);
    backward(loss);
    optimizer.step();
    optimizer.clear_gradients();
    last = loss.value().item();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, first / 4);
}

}  // namespace
}  // namespace saltern
