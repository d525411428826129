// Updates of parameters, against PyTorch's definitions written as plain loops, over several steps.

#include "algorithms/optimizers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dsl/component.h"
#include "tests/evaluate.h"
#include "tests/random_buffer.h"

namespace saltern {
namespace {

using dsl::Tensor;
using Halide::Buffer;
using Halide::Expr;

constexpr int size = 17, steps = 3;

class Sgd : public testing::TestWithParam<bool> {};

TEST_P(Sgd, IsTheLoop) {
  const bool nesterov = GetParam();
  const double rate = 0.1, momentum = 0.9, dampening = 0.2, decay = 0.03;
  Buffer<double> p = random_buffer<double>({size}, 1), v = random_buffer<double>({size}, 2);
  Buffer<double> want_p = p.copy(), want_v = v.copy();
  for (int step = 0; step < steps; ++step) {
    const Buffer<double> g = random_buffer<double>({size}, 10 + step);
    const Tensor updated =
        algorithms::sgd(Tensor(p), Tensor(g), Tensor(v),
                        {Expr(rate), Expr(momentum), Expr(dampening), Expr(decay), Expr(nesterov ? 1.0 : 0.0)});
    const Buffer<double> new_p = evaluate<double>(dsl::component(updated, 0));
    v = evaluate<double>(dsl::component(updated, 1));
    p = new_p;
    for (int i = 0; i < size; ++i) {
      const double gradient = g(i) + decay * want_p(i);
      want_v(i) = momentum * want_v(i) + (1 - dampening) * gradient;
      want_p(i) -= rate * (nesterov ? gradient + momentum * want_v(i) : want_v(i));
    }
  }
  EXPECT_LE(relative_difference(p, want_p), 1e-12);
  EXPECT_LE(relative_difference(v, want_v), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Nesterov, Sgd, testing::Bool());

class Adam : public testing::TestWithParam<bool> {};

TEST_P(Adam, IsTheLoop) {
  const bool decoupled = GetParam();
  const double rate = 0.01, beta1 = 0.9, beta2 = 0.99, epsilon = 1e-3, decay = 0.1;
  Buffer<double> p = random_buffer<double>({size}, 1), m(size), v(size);
  m.fill(0);
  v.fill(0);
  Buffer<double> want_p = p.copy(), want_m = m.copy(), want_v = v.copy();
  for (int step = 1; step <= steps; ++step) {
    const Buffer<double> g = random_buffer<double>({size}, 10 + step);
    const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
    const Tensor updated = algorithms::adam(Tensor(p), Tensor(g), Tensor(m), Tensor(v),
                                            {Expr(rate), Expr(beta1), Expr(beta2), Expr(epsilon), Expr(decay),
                                             Expr(correction1), Expr(correction2), Expr(decoupled ? 1.0 : 0.0)});
    const Buffer<double> new_p = evaluate<double>(dsl::component(updated, 0)),
                         new_m = evaluate<double>(dsl::component(updated, 1));
    v = evaluate<double>(dsl::component(updated, 2));
    p = new_p;
    m = new_m;
    for (int i = 0; i < size; ++i) {
      const double gradient = decoupled ? g(i) : g(i) + decay * want_p(i);
      if (decoupled) want_p(i) *= 1 - rate * decay;
      want_m(i) = beta1 * want_m(i) + (1 - beta1) * gradient;
      want_v(i) = beta2 * want_v(i) + (1 - beta2) * gradient * gradient;
      want_p(i) -= rate * (want_m(i) / correction1) / (std::sqrt(want_v(i) / correction2) + epsilon);
    }
  }
  EXPECT_LE(relative_difference(p, want_p), 1e-12);
  EXPECT_LE(relative_difference(m, want_m), 1e-12);
  EXPECT_LE(relative_difference(v, want_v), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Decoupled, Adam, testing::Bool());

}  // namespace
}  // namespace saltern
