// Schedules in C++: the rows that tests/python/test_schedulers.py compares with closed forms, on optimizers.

#include "runtime/optim/schedules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/errors.h"

namespace saltern {
namespace {

struct TwoGroups {
  Variable a{Tensor::full({2}, 1), true}, b{Tensor::full({2}, 1), true};
  Optimizer optimizer{"sgd", {{{{"a", a}}}, {{{"b", b}}, {{"lr", 0.5}}}}, {{"lr", 0.25}}};
};

TEST(Schedules, MoveTheRatesOfAllGroups) {
  TwoGroups t;
  Scheduler half(t.optimizer, "StepLR", {{"step_size", 2}, {"gamma", 0.5}});
  for (const double factor : {1.0, 1.0, 0.5, 0.5, 0.25}) {
    EXPECT_EQ(t.optimizer.rate(0), 0.25 * factor);
    EXPECT_EQ(t.optimizer.rate(1), 0.5 * factor);
    half.step();
  }
  half.go_to(0);
  EXPECT_EQ(t.optimizer.rate(0), 0.25);
}

TEST(Schedules, AreFunctionsThatCanBeJoined) {
  const Schedule linear = schedule("LinearLR", {{"start_factor", 0.5}, {"total_iters", 4}}),
                 exponential = schedule("ExponentialLR", {{"gamma", 0.5}});
  const Schedule both = chained({linear, exponential}), turns = in_turn({linear, exponential}, {4}),
                 product = multiplied([](int64_t i) { return static_cast<double>(i); });
  for (int64_t i = 0; i < 4; ++i) {
    const double up = 2 * (0.5 + 0.125 * static_cast<double>(i));
    EXPECT_DOUBLE_EQ(both(2, i), up * std::pow(0.5, i));
    EXPECT_DOUBLE_EQ(turns(2, i), up);
    EXPECT_DOUBLE_EQ(turns(2, 4 + i), 2 * std::pow(0.5, i));
  }
  EXPECT_EQ(product(0.5, 4), 12);
  expect_error([&] { in_turn({linear}, {1, 2}); }, {"2 milestones", "1 schedules"});
}

TEST(Schedules, MayMoveMomenta) {
  TwoGroups t;
  Scheduler cycle(t.optimizer, "CyclicLR", {{"base_lr", 0.0}, {"max_lr", 1.0}, {"step_size_up", 4}});
  EXPECT_DOUBLE_EQ(t.optimizer.update().attributes.real("momentum"), 0.9);
  for (int i = 0; i < 4; ++i) cycle.step();
  EXPECT_DOUBLE_EQ(t.optimizer.update(1).attributes.real("momentum"), 0.8);
  EXPECT_EQ(t.optimizer.rate(), 1);
  // It is kept from now on.
  for (int i = 0; i < 2; ++i) {
    t.a.set_gradient(Tensor::full({2}, 1));
    t.optimizer.step();
  }
  EXPECT_NEAR(t.a.value().reals()[0], 1 - 1 - 1.8, 1e-6);
}

TEST(Schedules, ReduceOnAPlateau) {
  TwoGroups t;
  Plateau plateau({{"patience", 1}, {"factor", 0.5}});
  for (const double metric : {3.0, 2.0, 2.0, 2.0}) plateau.step(metric, t.optimizer);
  EXPECT_EQ(t.optimizer.rate(0), 0.125);
  EXPECT_EQ(plateau.best, 2);
}

TEST(Schedules, MistakesAreNamed) {
  expect_error([] { schedule("Step"); }, {"no schedule 'Step'"});
  expect_error([] { schedule("StepLR"); }, {"StepLR", "'step_size' is missing"});
  expect_error([] { Plateau({{"mode", "up"}}); }, {"'mode' is 'up'", "min or max"});
}

}  // namespace
}  // namespace saltern
