#pragma once
// One check for the gradient of anything: a layer's Jacobian, with respect to its input and to all of its parameters,
// against finite differences.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "runtime/autograd/backward.h"
#include "runtime/nn/all.h"
#include "runtime/tensor/random.h"
#include "runtime/tensor/strided.h"

namespace saltern {

using Function = std::function<Variable(const Variable &)>;

constexpr double step = 1.0 / 64;

// Values in random order, no two closer than four steps and none within two of 0: a function that is smooth between its
// kinks (ReLU, the largest of a window) is smooth around each of them. None is below `low`.
inline Tensor spaced(const Shape &shape, uint64_t seed, double low = -1e9) {
  const Tensor t = Tensor::empty(shape);
  const int64_t n = t.size();
  Random random(seed);
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[random.below(static_cast<uint64_t>(i) + 1)]);
  const double begin = std::max(low, -4 * step * (static_cast<double>(n / 2) + 0.5));
  for (int64_t i = 0; i < n; ++i)
    t.data<float>()[i] = static_cast<float>(begin + 4 * step * static_cast<double>(order[i]));
  return t;
}

inline double dot(const Tensor &a, const Tensor &b) {
  const Tensor x = row_major(a), y = row_major(b);
  double total = 0;
  for (int64_t i = 0; i < x.size(); ++i)
    total += static_cast<double>(x.data<float>()[i]) * static_cast<double>(y.data<float>()[i]);
  return total;
}

// Compares a gradient with finite differences of `value` in every element of x, against the largest of them; a NaN is a
// difference. A gradient of nothing but zeros proves nothing.
inline void expect_gradient(const std::string &what, const Tensor &x, const Tensor &gradient,
                            const std::function<double()> &value, double tolerance = 2e-2) {
  ASSERT_EQ(x.shape(), gradient.shape()) << what;
  const Tensor dense = arranged_like(gradient, x);
  ASSERT_TRUE(x.is_dense());
  double largest = 0;
  for (int64_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, std::fabs(static_cast<double>(dense.data<float>()[i])));
  ASSERT_GT(largest, 0) << what << ": all of the gradient is zero";
  largest = std::max(largest, 0.05);
  for (int64_t i = 0; i < x.size(); ++i) {
    float &at = x.data<float>()[i];
    const float before = at;
    at = before + static_cast<float>(step);
    const double up = value();
    at = before - static_cast<float>(step);
    const double down = value();
    at = before;
    const double wanted = (up - down) / (2 * step), got = dense.data<float>()[i];
    ASSERT_TRUE(std::fabs(got - wanted) <= tolerance * largest)
        << what << ", element " << i << ": gradient " << got << ", finite difference " << wanted;
  }
}

// d (r . f(x)) / d everything, for a random r.
inline void expect_jacobian(Module &layer, const Tensor &input) {
  Variable x(input, true);
  const Variable y = layer(x);
  Random random(7);
  const Tensor r = random.uniform_tensor(y.shape(), -1, 1);
  backward(y, r);
  const auto value = [&] {
    NoGradient guard;
    return dot(layer(x).value(), r);
  };
  ASSERT_TRUE(x.gradient().defined());
  expect_gradient("x", x.value(), x.gradient().value(), value);
  for (auto &[name, p] : layer.named_parameters()) {
    ASSERT_TRUE(p.gradient().defined()) << name;
    expect_gradient(name, p.value(), p.gradient().value(), value);
  }
}

// d (q . d (r . f(x)) / dx) / dx against finite differences of the inner gradient.
inline void expect_second_order(const Function &f, const Tensor &input, double tolerance = 2e-2) {
  const Variable x(input, true);
  Random random(8);
  const Tensor r = random.uniform_tensor(f(x).shape(), -1, 1), q = random.uniform_tensor(input.shape(), -1, 1);
  const auto first = [&](bool record) {
    GradientOptions options;
    options.create_graph = record;
    options.dy = r;
    return gradients(f(x), {x}, options).at(0);
  };
  const Variable inner = first(true);
  GradientOptions options;
  options.dy = q;
  const Variable second = gradients(inner, {x}, options).at(0);
  ASSERT_TRUE(second.defined());
  expect_gradient(
      "second order", x.value(), second.value(), [&] { return dot(first(false).value(), q); }, tolerance);
}

// Any function as a module.
class Lambda : public Module {
 public:
  explicit Lambda(Function f) : f_(std::move(f)) {}
  Variable forward(const Variable &x) override { return f_(x); }

 private:
  Function f_;
};

// LAYER_TEST(ReLU, nn::ReLU(), {2, 3, 5}). A further argument is the least input.
#define LAYER_TEST(name, layer, ...)                        \
  TEST(Jacobian, name) {                                    \
    nn::manual_seed(3);                                     \
    auto tested = layer;                                    \
    expect_jacobian(tested, layer_test_input(__VA_ARGS__)); \
  }

inline Tensor layer_test_input(const Shape &shape, double low = -1e9) { return spaced(shape, 5, low); }

}  // namespace saltern
