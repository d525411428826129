// What is written in place between forward and backward() is an error that names the operation, where its gradient
// needs what was there before; reading is none, and neither is writing at any other time.

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
#include "runtime/nn/all.h"
#include "runtime/optim/optimizer.h"
#include "tests/errors.h"

namespace saltern {
namespace {

struct Product {
  Variable a = Variable(Tensor::full({3}, 2), true), b = Variable(Tensor::full({3}, 5), true);
  Variable y = sum(a * b);

  void expect_refused() const {
    expect_error([&] { backward(y); }, {"'multiply'", "f32[3]", "in place"});
  }
  void expect_right() const {
    backward(y);
    EXPECT_EQ(a.gradient().value().reals(), std::vector<double>(3, 5));
    EXPECT_EQ(b.gradient().value().reals(), std::vector<double>(3, 2));
  }
};

TEST(Versions, WritingThroughAPointerBeforeBackwardIsAnError) {
  const Product p;
  p.b.value().data<float>()[1] = 7;
  p.expect_refused();
}

TEST(Versions, WritingAnElementBeforeBackwardIsAnError) {
  const Product p;
  p.b.value().at<float>({1}) += 1;
  p.expect_refused();
}

TEST(Versions, CopyingIntoATensorBeforeBackwardIsAnError) {
  const Product p;
  p.a.value().copy_from(Tensor::full({3}, 9));
  p.expect_refused();
}

TEST(Versions, AKernelThatWritesBeforeBackwardIsAnError) {
  const Product p;
  add_to(p.a.value(), Tensor::full({3}, 9));
  p.expect_refused();
}

TEST(Versions, WritingThroughAViewIsWritingToo) {
  const Product p;
  p.a.value().reshaped({1, 3}).slice(1, 0, 2).data<float>()[1] = 9;
  p.expect_refused();
}

TEST(Versions, WhoeverWritesThroughAnAddressSaysSo) {
  const Product p;
  static_cast<float *>(p.a.value().raw())[0] = 9;
  p.a.value().written();
  p.expect_refused();
}

TEST(Versions, AResultThatARuleNeedsCountsToo) {
  const Variable x(Tensor::full({2, 3}, 1), true), y = softmax(x);
  const Variable z = sum(y * y);
  y.value().data<float>()[0] = 0;
  expect_error([&] { backward(z); }, {"in place"});
}

TEST(Versions, ReadingIsNoWriting) {
  const Product p;
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += p.a.value().data<float>()[i] + p.b.value().at<float>({i});
  EXPECT_EQ(sum, 21);
  EXPECT_EQ(p.y.value().item(), 30);
  p.expect_right();
}

TEST(Versions, WritingBeforeTheForwardAndAfterBackwardIsFine) {
  const Variable a(Tensor::full({3}, 1), true), b(Tensor::full({3}, 5), true);
  for (int round = 1; round < 4; ++round) {
    for (int i = 0; i < 3; ++i) a.value().data<float>()[i] = static_cast<float>(round);
    backward(sum(a * b));
    EXPECT_EQ(b.gradient().value().reals(), std::vector<double>(3, round));
    b.set_gradient({});
  }
}

TEST(Versions, AnEditThatALaterForwardSawIsNoFaultOfIt) {
  const Product p;
  p.b.value().data<float>()[1] = 7;
  const Variable later = sum(p.a * p.b);
  backward(later);
  EXPECT_EQ(p.a.gradient().value().reals(), (std::vector<double>{5, 7, 5}));
  p.expect_refused();
}

TEST(Versions, WhatNoRuleReadsMayBeWritten) {
  const Variable a(Tensor::full({3}, 2), true), b(Tensor::full({3}, 5), true), y = sum(a + b);
  a.value().data<float>()[0] = 9;
  backward(y);
  EXPECT_EQ(a.gradient().value().reals(), std::vector<double>(3, 1));
  // A bias has a gradient whatever it is.
  const Variable x(Tensor::full({2, 4}, 1)), w(Tensor::full({3, 4}, 1), true), bias(Tensor::zeros({3}), true);
  const Variable z = sum(linear(x, w, bias));
  bias.value().copy_from(Tensor::full({3}, 1));
  w.value().copy_from(Tensor::full({3, 4}, 2));  // x needs no gradient, so nobody asks for w
  backward(z);
  EXPECT_EQ(w.gradient().value().reals(), std::vector<double>(12, 2));
}

TEST(Versions, AnOptimizersStepBelongsBehindBackward) {
  Random random(3);
  Sequential net(nn::Linear(4, 8), nn::Tanh(), nn::Linear(8, 2));
  SGD optimizer(net, {0.1});
  const Tensor x = random.uniform_tensor({5, 4}, -1, 1);
  for (int step = 0; step < 3; ++step) {
    backward(sum(net(x)));
    optimizer.step();
    optimizer.clear_gradients();
  }
  const Variable early = sum(net(x)), late = sum(net(x));
  backward(early);
  optimizer.step();
  expect_error([&] { backward(late); }, {"'dense'", "in place"});
}

TEST(Versions, BatchNormAndDropoutKeepTheirOwnStateInPlace) {
  Random random(3);
  Sequential net(nn::Linear(4, 8), nn::BatchNorm1d(8), nn::Dropout(0.5), nn::Linear(8, 2));
  const Tensor x = random.uniform_tensor({5, 4}, -1, 1);
  for (int step = 0; step < 3; ++step) backward(sum(net(x)));
  net.eval();
  backward(sum(net(x)));
}

}  // namespace
}  // namespace saltern
