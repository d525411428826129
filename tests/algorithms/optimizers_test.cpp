// Updates of parameters, against their definitions written as plain loops, over several steps; tests/python/
// test_optimizers.py has the others.

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/optimizers.h"
#include "tests/values.h"

namespace saltern {
namespace {

using formula::Value;
using formula::Values;
using Halide::Buffer;
using Numbers = std::map<std::string, double>;

constexpr int size = 17, steps = 3;

// Numbers are scalars of a kernel, which are f32: here they are such as f32 has.
using Buffers = std::vector<Buffer<>>;

Buffers updated(algorithms::UpdateFormula formula, const Buffers &p_and_slots, const Buffer<> &g,
                const Numbers &numbers) {
  const auto of = [&](const Values &in) {
    algorithms::UpdateInputs inputs = {in[0], in[1], Values(in.begin() + 2, in.end())};
    for (const auto &[name, number] : numbers) inputs.numbers[name] = formula::parameter(name, Type::f64);
    return formula(inputs);
  };
  Buffers in = p_and_slots;
  in.insert(in.begin() + 1, g);
  return results_of(of, in, numbers);
}

TEST(Sgd, IsTheLoop) {
  const Numbers n = {{"sign", -1},      {"decay", 0.03125},     {"keep", 0.9375},     {"momentum", 0.875},
                     {"fresh", 0.8125}, {"of_velocity", 0.125}, {"of_gradient", 0.25}};
  Buffers now = {random_buffer<double>({size}, 1), random_buffer<double>({size}, 2)};
  Buffer<double> p = now[0].copy(), v = now[1].copy();
  for (int step = 0; step < steps; ++step) {
    const Buffer<double> g = random_buffer<double>({size}, 10 + step);
    now = updated(algorithms::sgd, now, g, n);
    for (int i = 0; i < size; ++i) {
      const double gradient = -g(i) + 0.03125 * p(i);
      v(i) = 0.875 * v(i) + 0.8125 * gradient;
      p(i) = 0.9375 * p(i) - 0.125 * v(i) - 0.25 * gradient;
    }
  }
  EXPECT_LE(relative_difference(Buffer<double>(now[0]), p), 1e-12);
  EXPECT_LE(relative_difference(Buffer<double>(now[1]), v), 1e-12);
}

TEST(Adam, IsTheLoopAndAmsgradHasTheGreatestSquare) {
  const Numbers n = {{"sign", 1},      {"decay", 0.125},    {"keep", 0.75},
                     {"beta1", 0.875}, {"beta2", 0.96875},  {"of_mean", 0.125},
                     {"of_root", 1.5}, {"outside", 0.0625}, {"of_gradient", 0.25}};
  for (const bool greatest : {false, true}) {
    Buffers now = {random_buffer<double>({size}, 1)};
    Buffer<double> p = now[0].copy(), m(size), v(size), most(size);
    for (Buffer<double> *slot : {&m, &v, &most}) slot->fill(0);
    for (int slot = 0; slot < (greatest ? 3 : 2); ++slot) now.push_back(m.copy());
    for (int step = 0; step < steps; ++step) {
      Buffer<double> g = random_buffer<double>({size}, 10 + step);
      if (step > 0) g.for_each_value([](double &e) { e *= 0.25; });  // so that squares shrink
      now = updated(greatest ? algorithms::amsgrad : algorithms::adam, now, g, n);
      for (int i = 0; i < size; ++i) {
        const double gradient = g(i) + 0.125 * p(i);
        m(i) = 0.875 * m(i) + 0.125 * gradient;
        v(i) = 0.96875 * v(i) + 0.03125 * gradient * gradient;
        most(i) = std::max(most(i), v(i));
        const double root = std::sqrt(greatest ? most(i) : v(i));
        p(i) = 0.75 * p(i) - (0.25 * gradient + 0.125 * m(i)) / (1.5 * root + 0.0625);
      }
    }
    EXPECT_LE(relative_difference(Buffer<double>(now[0]), p), 1e-12);
    EXPECT_LE(relative_difference(Buffer<double>(now[1]), m), 1e-12);
    EXPECT_LE(relative_difference(Buffer<double>(now[2]), v), 1e-12);
  }
}

}  // namespace
}  // namespace saltern
