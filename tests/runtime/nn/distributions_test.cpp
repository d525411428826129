// Distributions in C++: the rows that Python's classes call, whose formulas tests/python/test_distributions.py holds to.

#include "runtime/nn/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/autograd/backward.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/reduction.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {
namespace {

using namespace distributions;

double number(const Variable &v) { return v.value().item(); }
Variable numbers(const std::vector<double> &all, const Shape &shape) {
  return Variable(Tensor::of<double>(shape, all), /*requires_gradient=*/true);
}

TEST(Distributions, DensitiesAreThoseOfTheirFormulas) {
  const Variable x = Tensor::of<double>({}, {0.3});
  const auto f64 = [](double v) { return Variable(Tensor::of<double>({}, {v})); };
  EXPECT_NEAR(number(Normal(f64(1), f64(2)).log_prob(x)), -0.5 * 0.35 * 0.35 - std::log(2 * std::sqrt(2 * M_PI)),
              1e-12);
  EXPECT_NEAR(number(Laplace(f64(1), f64(2)).log_prob(x)), -0.35 - std::log(4), 1e-12);
  EXPECT_NEAR(number(Uniform(f64(-1), f64(3)).log_prob(x)), -std::log(4), 1e-12);
  EXPECT_EQ(number(Uniform(f64(1), f64(3)).log_prob(x)), -INFINITY);
  EXPECT_NEAR(number(Exponential(f64(2)).log_prob(x)), std::log(2) - 0.6, 1e-12);
  EXPECT_NEAR(number(Gamma(f64(3), f64(2)).log_prob(x)), std::log(8 * 0.09 / 2) - 0.6, 1e-12);
  EXPECT_NEAR(number(Beta(f64(2), f64(3)).log_prob(x)), std::log(12 * 0.3 * 0.49), 1e-12);
  EXPECT_NEAR(number(Dirichlet(numbers({1, 2, 3}, {3})).log_prob(numbers({0.2, 0.3, 0.5}, {3}))),
              std::log(60 * 0.3 * 0.25), 1e-12);
  EXPECT_NEAR(number(Bernoulli(f64(0.5)).log_prob(f64(1))), -std::log1p(std::exp(-0.5)), 1e-12);
  EXPECT_NEAR(number(Categorical(numbers({0, std::log(2), 0}, {3})).log_prob(Tensor::of<int64_t>({}, {1}))),
              std::log(0.5), 1e-12);
  const Distribution plane = MultivariateNormal(numbers({1, 0}, {2}), numbers({2, 0, 1, 3}, {2, 2}));
  // L z = x - loc: z is -1/2 and 1/2.
  EXPECT_NEAR(number(plane.log_prob(numbers({0, 1}, {2}))), -0.25 - std::log(6) - std::log(2 * M_PI), 1e-12);
}

// The mean of -log p(x), and of log p(x) - log q(x), over many samples of p.
TEST(Distributions, EntropiesAndDivergencesAreMeansOverSamples) {
  manual_seed(5);
  const auto f64 = [](double v) { return Variable(Tensor::of<double>({}, {v})); };
  const std::pair<Distribution, Distribution> pairs[] = {
      {Normal(f64(1), f64(2)), Normal(f64(0.5), f64(3))},
      {Laplace(f64(1), f64(2)), Laplace(f64(0.5), f64(3))},
      {Uniform(f64(1), f64(2)), Uniform(f64(0.5), f64(3))},
      {Exponential(f64(2)), Exponential(f64(3))},
      {Gamma(f64(3), f64(2)), Gamma(f64(2), f64(3))},
      {Beta(f64(2), f64(3)), Beta(f64(1), f64(2))},
      {Dirichlet(numbers({1, 2, 3}, {3})), Dirichlet(numbers({2, 2, 2}, {3}))},
      {Bernoulli(f64(0.5)), Bernoulli(f64(-1))},
      {Categorical(numbers({0, 1, -1}, {3})), Categorical(numbers({0, 0, 1}, {3}))},
      {MultivariateNormal(numbers({1, 0}, {2}), numbers({2, 0, 1, 3}, {2, 2})),
       MultivariateNormal(numbers({0, 1}, {2}), numbers({3, 0, 0, 2}, {2, 2}))},
  };
  for (const auto &[p, q] : pairs) {
    const Variable x = p.sample({20000});
    EXPECT_NEAR(-number(mean(p.log_prob(x))), number(p.entropy()), 0.03) << p.name();
    EXPECT_NEAR(number(mean(p.log_prob(x) - q.log_prob(x))), number(kl_divergence(p, q)), 0.03) << p.name();
  }
}

TEST(Distributions, GradientsGoThroughSamples) {
  manual_seed(5);
  const Variable loc(Tensor::zeros({3}, Type::f64), true), scale(Tensor::full({3}, 2, Type::f64), true);
  const Variable x = Normal(loc, scale).rsample({4});
  EXPECT_EQ(x.shape(), (Shape{4, 3}));
  backward(sum(x));
  EXPECT_NEAR(loc.gradient().value().reals()[0], 4, 1e-12);
  EXPECT_FALSE(Normal(loc, scale).sample().requires_gradient());
}

TEST(Distributions, WhatIsNoneIsRefused) {
  const auto said = [](const auto &f) -> std::string {
    try {
      f();
    } catch (const Error &e) {
      return e.what();
    }
    return "nothing";
  };
  EXPECT_EQ(said([] { Normal(0.0, -1.0); }), "Normal: 'scale' has -1; expected positive numbers");
  EXPECT_EQ(said([] { Bernoulli(0.0).rsample(); }), "Bernoulli: its samples have no gradients");
  EXPECT_EQ(said([] { kl_divergence(Normal(0.0, 1.0), Laplace(0.0, 1.0)); }),
            "kl_divergence: Normal and Laplace; expected two of one kind");
}

}  // namespace
}  // namespace saltern::nn
