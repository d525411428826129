// Nets that were put together wrongly say so: which layer an error came from, and parameters that nobody would train.

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
#include "runtime/layers.h"
#include "runtime/optim/optimizer.h"
#include "tests/errors.h"

namespace saltern {
namespace {

struct Forgetful : Module {
  Linear named, forgotten;
  bool names_one;
  Forgetful(Random &random, bool names_one) : named(random, 4, 4), forgotten(random, 4, 2), names_one(names_one) {}
  Variable forward(const Variable &x) override { return forgotten(named(x)); }
  void visit(Visitor &v) override {
    if (names_one) v.child("named", named);
  }
};

TEST(Sequential, AnErrorNamesTheLayerByItsPlaceAndClass) {
  Random random(1);
  Sequential net(Linear(random, 4, 8), ReLU(), Linear(random, 9, 2));
  expect_error([&] { net(Variable(Tensor::zeros({3, 4}))); }, {"layer 2 (Linear): ", "9 inputs", "[3, 8]"});
}

TEST(Sequential, AnErrorInsideAnotherHasThePath) {
  Random random(1);
  Sequential net(ReLU(), Sequential(Tanh(), Conv2d(random, 3, 4, 3)));
  expect_error([&] { net(Variable(Tensor::zeros({3, 4}))); }, {"layer 1 (Sequential): layer 1 (Conv2d): "});
}

TEST(Sequential, AClassOfAUserIsNamedAsItIs) {
  Random random(1);
  Sequential net(Forgetful(random, true));
  expect_error([&] { net(Variable(Tensor::zeros({3, 5}))); }, {"layer 0 (Forgetful): "});
}

TEST(Optimizer, OfAModuleWithoutParametersIsAnError) {
  Random random(1);
  Forgetful net(random, false);
  expect_error([&] { SGD optimizer(net); }, {"without parameters", "Forgetful", "visit()"});
  expect_error([&] { Adam optimizer(net); }, {"visit()"});
  Sequential empty{ReLU()};
  expect_error([&] { SGD optimizer(empty); }, {"without parameters"});
}

TEST(Optimizer, CheckFindsParametersThatNobodyNamed) {
  Random random(1);
  Forgetful net(random, true);
  SGD optimizer(net);
  const Variable loss = mean(net(Variable(Tensor::full({3, 4}, 1))));
  expect_error([&] { optimizer.check(loss); }, {"'dense'", "[2, 4]", "visit()"});
}

TEST(Optimizer, CheckIsContentWithANetThatNamesAll) {
  Random random(1);
  Sequential net(Conv2d(random, 1, 4, 3), BatchNorm(4), ReLU(), Flatten(), Linear(random, 4 * 6 * 6, 3));
  SGD optimizer(net);
  const Variable loss = cross_entropy(net(Variable(Tensor::full({2, 1, 8, 8}, 1))), Tensor::zeros({2}, Type::i32));
  optimizer.check(loss);
  backward(loss);
}

}  // namespace
}  // namespace saltern
