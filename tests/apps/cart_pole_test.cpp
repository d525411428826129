// Cart-pole: the environment beside steps that were computed by hand, what remembers the past, and that a net learns it.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "apps/cart_pole/environment.h"
#include "runtime/data/png.h"
#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

// At rest and upright, a push f to the right is felt as push = 10 / 1.1. So a'' = -push / (0.5 (4/3 - 0.1 / 1.1)), and
// x'' = push - 0.05 a'' / 1.1; Euler's step moves velocities by 0.02 of these, and places by what velocities were.
TEST(CartPole, FirstStepsAreThoseThatWereComputedByHand) {
  const double push = 10 / 1.1, angular = -push / (0.5 * (4.0 / 3 - 0.1 / 1.1)), linear = push - 0.05 * angular / 1.1;
  EXPECT_NEAR(angular, -14.634146, 1e-6);
  EXPECT_NEAR(linear, 9.756098, 1e-6);
  CartPole cart(500);
  cart.reset_to({0, 0, 0, 0});
  const CartPole::Transition right = cart.step(1);
  const double speed = 0.02 * linear, turning = 0.02 * angular;
  EXPECT_FLOAT_EQ(right.observation[0], 0);
  EXPECT_FLOAT_EQ(right.observation[1], static_cast<float>(speed));
  EXPECT_FLOAT_EQ(right.observation[2], 0);
  EXPECT_FLOAT_EQ(right.observation[3], static_cast<float>(turning));
  EXPECT_EQ(right.reward, 1);
  EXPECT_FALSE(right.terminated);
  // To the left from there: the pole is upright, so that velocities are taken back, and places have gone on.
  const CartPole::Transition left = cart.step(0);
  EXPECT_FLOAT_EQ(left.observation[0], static_cast<float>(0.02 * speed));
  EXPECT_NEAR(left.observation[1], 0, 1e-6);
  EXPECT_FLOAT_EQ(left.observation[2], static_cast<float>(0.02 * turning));
  EXPECT_NEAR(left.observation[3], 0, 1e-6);
}

// From a state with everything in motion, beside the two equations of motion as Lagrange has them, solved by Cramer's rule:
//   (M + m) x'' + m l cos a a'' = f + m l a'^2 sin a,     m l cos a x'' + 4/3 m l^2 a'' = m g l sin a
TEST(CartPole, AMovingPoleIsPulledByItsWeight) {
  CartPole cart(500);
  cart.reset_to({0.1, -0.2, 0.05, 0.3});
  const CartPole::Observation o = cart.step(0).observation;
  const double sine = std::sin(0.05), cosine = std::cos(0.05);
  const double a = 1.1, b = 0.05 * cosine, d = 4.0 / 3 * 0.1 * 0.25, f = -10 + 0.05 * 0.09 * sine, g = 0.49 * sine;
  const double determinant = a * d - b * b, linear = (f * d - b * g) / determinant,
               angular = (a * g - b * f) / determinant;
  EXPECT_FLOAT_EQ(o[0], 0.096F);
  EXPECT_NEAR(o[1], -0.2 + 0.02 * linear, 1e-6);
  EXPECT_FLOAT_EQ(o[2], 0.056F);
  EXPECT_NEAR(o[3], 0.3 + 0.02 * angular, 1e-6);
}

TEST(CartPole, EndsWhenItFallsOrLeavesOrTimeIsOver) {
  CartPole cart(3);
  cart.reset_to({0, 0, 0.2094, 0});  // 12 degrees are 0.20944
  EXPECT_FALSE(cart.step(1).terminated);
  EXPECT_FALSE(cart.step(1).truncated);
  EXPECT_TRUE(cart.step(1).truncated);
  expect_error([&] { cart.step(1); }, {"reset()"});
  cart.reset_to({0, 0, 0.2094, 0.01});
  EXPECT_TRUE(cart.step(1).terminated);
  cart.reset_to({-2.399, -0.1, 0, 0});
  EXPECT_TRUE(cart.step(1).terminated);
  cart.reset(1);
  expect_error([&] { cart.step(2); }, {"action 2"});
  EXPECT_EQ(cart.reset(5), CartPole(3).reset(5));
  EXPECT_NE(cart.reset(5), cart.reset(6));
  for (float s : cart.reset(7)) EXPECT_LE(std::fabs(s), 0.05F);
}

TEST(CartPole, ANetLearnsToHoldThePole) {
  const ScratchFolder folder;
  const std::string out = folder.file("out");
  // At random, episodes have some 22 steps.
  const Said said = run_program("cart_pole", "train --steps 9000 --goal 60 --threads 1 --json -o " + out);
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json facts = nlohmann::json::parse(said.out, nullptr, false);
  EXPECT_TRUE(facts["solved"].get<bool>());
  EXPECT_GE(facts["mean_return"].get<double>(), 60);
  EXPECT_EQ(read_png(out + "/returns.png").extent(2), 3);

  const Said played = run_program("cart_pole", "play " + out + "/model.safetensors --episodes 5 --limit 200");
  ASSERT_EQ(played.code, 0) << played.all;
  const nlohmann::json returns = nlohmann::json::parse(played.out, nullptr, false);
  ASSERT_EQ(returns["returns"].size(), 5U);
  EXPECT_GT(returns["mean_return"].get<double>(), 60);
}

TEST(CartPole, WhatIsNotLearnedIsSaidAndTheSameForAnyNumberOfThreads) {
  const ScratchFolder folder;
  std::set<std::string> models;
  for (const std::string threads : {"1", "2"}) {
    const std::string out = folder.file(threads);
    const Said said = run_program("cart_pole", "train --steps 700 --json --threads " + threads + " -o " + out);
    EXPECT_EQ(said.code, 1) << said.all;
    EXPECT_TRUE(contains(said.out, "\"solved\":false"));
    models.insert(bytes_of_file(out + "/model.safetensors"));
  }
  EXPECT_EQ(models.size(), 1U);
}

TEST(CartPole, AFileThatIsNoModelIsNamed) {
  const ScratchFolder folder;
  const Said bad = run_program("cart_pole", "play " + folder.write("model", "none"));
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.all, folder.file("model")));
}

}  // namespace
}  // namespace saltern
