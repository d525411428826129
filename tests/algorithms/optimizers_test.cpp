// Updates of parameters, against PyTorch's definitions written as plain loops, over several steps.

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/optimizers.h"
#include "tests/values.h"

namespace saltern {
namespace {

using formula::Value;
using formula::Values;
using Halide::Buffer;

constexpr int size = 17, steps = 3;

// Settings are scalars of a kernel, which are f32: here they are numbers that f32 has.
Value setting(const std::string &name) { return formula::parameter(name, Type::f64); }

class Sgd : public testing::TestWithParam<bool> {};

TEST_P(Sgd, IsTheLoop) {
  const bool nesterov = GetParam();
  const double rate = 0.125, momentum = 0.875, dampening = 0.1875, decay = 0.03125;
  const auto sgd = [](const Values &in) {
    return algorithms::sgd(
        in[0], in[1], in[2],
        {setting("rate"), setting("momentum"), setting("dampening"), setting("weight_decay"), setting("nesterov")});
  };
  Buffer<double> p = random_buffer<double>({size}, 1), v = random_buffer<double>({size}, 2);
  Buffer<double> want_p = p.copy(), want_v = v.copy();
  for (int step = 0; step < steps; ++step) {
    const Buffer<double> g = random_buffer<double>({size}, 10 + step);
    const auto updated = results_of(sgd, {p, g, v},
                                    {{"rate", rate},
                                     {"momentum", momentum},
                                     {"dampening", dampening},
                                     {"weight_decay", decay},
                                     {"nesterov", nesterov ? 1 : 0}});
    p = updated[0];
    v = updated[1];
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
  const double rate = 0x1p-7, beta1 = 0.875, beta2 = 0.96875, epsilon = 0x1p-10, decay = 0.125;
  const auto adam = [](const Values &in) {
    return algorithms::adam(
        in[0], in[1], in[2], in[3],
        {setting("rate"), setting("beta1"), setting("beta2"), setting("epsilon"), setting("weight_decay"),
         setting("correction1"), setting("correction2"), setting("decoupled")});
  };
  Buffer<double> p = random_buffer<double>({size}, 1), m(size), v(size);
  m.fill(0);
  v.fill(0);
  Buffer<double> want_p = p.copy(), want_m = m.copy(), want_v = v.copy();
  for (int step = 1; step <= steps; ++step) {
    const Buffer<double> g = random_buffer<double>({size}, 10 + step);
    const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
    const auto updated = results_of(adam, {p, g, m, v},
                                    {{"rate", rate},
                                     {"beta1", beta1},
                                     {"beta2", beta2},
                                     {"epsilon", epsilon},
                                     {"weight_decay", decay},
                                     {"correction1", correction1},
                                     {"correction2", correction2},
                                     {"decoupled", decoupled ? 1 : 0}});
    p = updated[0];
    m = updated[1];
    v = updated[2];
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
