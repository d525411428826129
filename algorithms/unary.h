#pragma once
// Elementwise functions of one tensor, of any rank.
//
//   y(i) = f(x(i))        dx(i) = f'(x(i)) dy(i)
//
// One row a function: its name, f, f', and the values that tests draw. The row's name is the kernel's, and
// NAME_gradient its gradient's; a row and saltern_unary_kernel(NAME) in generators/kernels.cmake are a kernel.

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dsl/elementary.h"
#include "dsl/tensor.h"

namespace saltern::algorithms {
using dsl::Tensor;

struct Unary {
  std::string name;
  std::function<Halide::Expr(Halide::Expr x)> value, derivative;
  double low = -3, high = 3;  // the part of its domain that tests look at
};

namespace unary {
using dsl::number;
using Halide::Expr;

// Both sides of the logistic function by the exponential that cannot overflow.
inline Expr sigmoid(Expr x) {
  const Expr e = dsl::exp(-Halide::abs(x));
  return Halide::select(x >= 0, number(x, 1), e) / (1 + e);
}

inline Expr sigmoid_derivative(Expr x) {
  const Expr e = dsl::exp(-Halide::abs(x));
  return e / ((1 + e) * (1 + e));
}

// The standard normal distribution, cumulative and density.
inline Expr normal(Expr x) { return (1 + dsl::erf(x * number(x, 0.70710678118654752))) * number(x, 0.5); }
inline Expr normal_density(Expr x) { return number(x, 0.39894228040143268) * dsl::exp(x * x * number(x, -0.5)); }

inline Expr tanh_derivative(Expr x) {
  const Expr e = dsl::exp(-2 * Halide::abs(x));  // 1 - tanh^2 without its cancellation
  return 4 * e / ((1 + e) * (1 + e));
}

}  // namespace unary

inline const std::vector<Unary> &unary_functions() {
  using namespace unary;
  using Halide::select;
  static const std::vector<Unary> table = {
      {"relu", [](Expr x) { return select(dsl::is_less(x, number(x, 0)), 0, x); },
       [](Expr x) { return select(x > 0, number(x, 1), 0); }},
      {"leaky_relu", [](Expr x) { return select(dsl::is_less(x, number(x, 0)), x * number(x, 0.01), x); },
       [](Expr x) { return select(x > 0, number(x, 1), number(x, 0.01)); }},
      {"sigmoid", sigmoid, sigmoid_derivative},
      {"tanh", dsl::tanh, tanh_derivative},
      {"exp", [](Expr x) { return dsl::exp(x); }, [](Expr x) { return dsl::exp(x); }},
      {"log", [](Expr x) { return dsl::log(x); }, [](Expr x) { return 1 / x; }, 0.1, 3},
      {"sqrt", [](Expr x) { return Halide::sqrt(x); }, [](Expr x) { return number(x, 0.5) / Halide::sqrt(x); }, 0.1, 3},
      {"reciprocal", [](Expr x) { return 1 / x; }, [](Expr x) { return -1 / (x * x); }, 0.1, 3},
      {"negate", [](Expr x) { return -x; }, [](Expr x) { return number(x, -1); }},
      {"absolute", [](Expr x) { return Halide::abs(x); },
       [](Expr x) { return select(x > 0, number(x, 1), x < 0, number(x, -1), 0); }},
      {"square", [](Expr x) { return x * x; }, [](Expr x) { return 2 * x; }},
      {"gelu", [](Expr x) { return x * normal(x); }, [](Expr x) { return normal(x) + x * normal_density(x); }},
      {"silu", [](Expr x) { return x * sigmoid(x); }, [](Expr x) { return sigmoid(x) + x * sigmoid_derivative(x); }},
      {"erf", dsl::erf, [](Expr x) { return number(x, 1.1283791670955126) * dsl::exp(-x * x); }},
      {"sine", [](Expr x) { return Halide::sin(x); }, [](Expr x) { return Halide::cos(x); }},
      {"cosine", [](Expr x) { return Halide::cos(x); }, [](Expr x) { return -Halide::sin(x); }},
  };
  return table;
}

inline const Unary &find_unary(const std::string &name) {
  for (const Unary &f : unary_functions())
    if (f.name == name) return f;
  throw std::invalid_argument("algorithms/unary.h has no function '" + name + "'");
}

inline Tensor apply(const Unary &f, const Tensor &x) {
  const auto at = x.vars();
  Halide::Func y(f.name + "_value");  // Halide fails on a function with the name of one in the C library
  y(at) = f.value(x(at));
  return {y, x.extents()};
}

inline Tensor gradient_of(const Unary &f, const Tensor &x, const Tensor &dy) {
  const auto at = x.vars();
  Halide::Func dx(f.name + "_gradient");
  dx(at) = f.derivative(x(at)) * dy(at);
  return {dx, x.extents()};
}

}  // namespace saltern::algorithms
