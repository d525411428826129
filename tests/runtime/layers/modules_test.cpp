// Nets that were put together wrongly say so: which layer an error came from, and parameters that nobody would train.

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
#include "runtime/nn/all.h"
#include "runtime/optim/optimizer.h"
#include "tests/errors.h"

namespace saltern {
namespace {

struct Forgetful : Module {
  nn::Layer named = nn::Linear(4, 4), forgotten = nn::Linear(4, 2);
  bool names_one;
  explicit Forgetful(bool names_one) : names_one(names_one) {}
  Variable forward(const Variable &x) override { return forgotten(named(x)); }
  void visit(Visitor &v) override {
    if (names_one) v.child("named", named);
  }
};

TEST(Sequential, AnErrorNamesTheLayerByItsPlaceAndClass) {
  Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(9, 2));
  expect_error([&] { net(Variable(Tensor::zeros({3, 4}))); }, {"layer 2 (Linear): ", "in = 9", "(3, 8)"});
}

TEST(Sequential, AnErrorInsideAnotherHasThePath) {
  Sequential net(nn::ReLU(), Sequential(nn::Tanh(), nn::Conv2d(3, 4, 3)));
  expect_error([&] { net(Variable(Tensor::zeros({3, 4}))); }, {"layer 1 (Sequential): layer 1 (Conv2d): "});
}

TEST(Sequential, AClassOfAUserIsNamedAsItIs) {
  Sequential net(Forgetful(true));
  expect_error([&] { net(Variable(Tensor::zeros({3, 5}))); }, {"layer 0 (Forgetful): "});
}

TEST(Optimizer, OfAModuleWithoutParametersIsAnError) {
  Forgetful net(false);
  expect_error([&] { SGD optimizer(net); }, {"without parameters", "Forgetful", "visit()"});
  expect_error([&] { Adam optimizer(net); }, {"visit()"});
  Sequential empty{nn::ReLU()};
  expect_error([&] { SGD optimizer(empty); }, {"without parameters"});
}

TEST(Optimizer, CheckFindsParametersThatNobodyNamed) {
  Forgetful net(true);
  SGD optimizer(net);
  const Variable loss = mean(net(Variable(Tensor::full({3, 4}, 1))));
  expect_error([&] { optimizer.check(loss); }, {"'dense'", "[2, 4]", "visit()"});
}

TEST(Optimizer, CheckIsContentWithANetThatNamesAll) {
  Sequential net(nn::Conv2d(1, 4, 3), nn::BatchNorm2d(4), nn::ReLU(), nn::Flatten(), nn::Linear(4 * 6 * 6, 3));
  SGD optimizer(net);
  const Variable loss = cross_entropy(net(Variable(Tensor::full({2, 1, 8, 8}, 1))), Tensor::zeros({2}, Type::i32));
  optimizer.check(loss);
  backward(loss);
}

}  // namespace
}  // namespace saltern
