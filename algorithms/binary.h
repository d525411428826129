#pragma once
// Elementwise functions of two tensors of one shape; broadcasting is strides of zero.
//
//   y(i) = f(a(i), b(i))      da(i) = df/da(a(i), b(i)) dy(i)      db likewise
//
// One row a function: its name, f, df/da, df/db, and the values that tests draw. A row and saltern_binary_kernel(NAME)
// in generators/kernels.cmake are three kernels: NAME, NAME_gradient_a, NAME_gradient_b. The gradient of an operand
// that was broadcast has the full shape here; its sum over the broadcast dimensions is a reduction's task.

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dsl/elementary.h"
#include "dsl/tensor.h"

namespace saltern::algorithms {
using dsl::Tensor;

struct Binary {
  using Formula = std::function<Halide::Expr(Halide::Expr a, Halide::Expr b)>;
  std::string name;
  Formula value, derivative_a, derivative_b;
  double low = -3, high = 3;  // the part of its domain that tests look at
};

namespace binary {
using dsl::number;
using Halide::Expr;

// NaN where either is; in types other than f32, which have automatic gradients, as Halide has it.
inline Expr greater_of(Expr a, Expr b) {
  if (a.type() != Halide::Float(32)) return Halide::max(a, b);
  return Halide::select(dsl::is_less(b, a) || dsl::is_no_number(a), a, b);
}
inline Expr less_of(Expr a, Expr b) {
  if (a.type() != Halide::Float(32)) return Halide::min(a, b);
  return Halide::select(dsl::is_less(a, b) || dsl::is_no_number(a), a, b);
}

// The derivative of a maximum for a: ties are shared equally.
inline Expr is_greater(Expr a, Expr b) {
  return Halide::select(a > b, number(a, 1), a < b, number(a, 0), number(a, 0.5));
}

// a^b with b a^(b - 1) = 0 for b = 0, and a^b log(a) = 0 for a = 0, whose limits they are.
inline Expr power_derivative_a(Expr a, Expr b) {
  return Halide::select(b == 0, number(a, 0), b * dsl::power(a, b - 1));
}
inline Expr power_derivative_b(Expr a, Expr b) {
  // The logarithm is that which the power takes.
  return Halide::select(a == 0, number(a, 0), dsl::is_less(a, number(a, 0)), number(a, NAN),
                        dsl::power(a, b) * dsl::log(Halide::abs(a), /*awaited=*/true));
}

}  // namespace binary

inline const std::vector<Binary> &binary_functions() {
  using namespace binary;
  static const std::vector<Binary> table = {
      {"add", [](Expr a, Expr b) { return a + b; }, [](Expr a, Expr) { return number(a, 1); },
       [](Expr a, Expr) { return number(a, 1); }},
      {"subtract", [](Expr a, Expr b) { return a - b; }, [](Expr a, Expr) { return number(a, 1); },
       [](Expr a, Expr) { return number(a, -1); }},
      {"multiply", [](Expr a, Expr b) { return a * b; }, [](Expr, Expr b) { return b; },
       [](Expr a, Expr) { return a; }},
      {"divide", [](Expr a, Expr b) { return a / b; }, [](Expr, Expr b) { return 1 / b; },
       [](Expr a, Expr b) { return -a / (b * b); }, 0.5, 3},
      {"maximum", [](Expr a, Expr b) { return greater_of(a, b); }, [](Expr a, Expr b) { return is_greater(a, b); },
       [](Expr a, Expr b) { return is_greater(b, a); }},
      {"minimum", [](Expr a, Expr b) { return less_of(a, b); }, [](Expr a, Expr b) { return is_greater(b, a); },
       [](Expr a, Expr b) { return is_greater(a, b); }},
      {"power", [](Expr a, Expr b) { return dsl::power(a, b); }, power_derivative_a, power_derivative_b, 0.5, 3},
  };
  return table;
}

inline const Binary &find_binary(const std::string &name) {
  for (const Binary &f : binary_functions())
    if (f.name == name) return f;
  throw std::invalid_argument("algorithms/binary.h has no function '" + name + "'");
}

inline Tensor apply(const Binary &f, const Tensor &a, const Tensor &b) {
  const auto at = a.vars();
  Halide::Func y(f.name + "_value");
  y(at) = f.value(a(at), b(at));
  return {y, a.extents()};
}

inline Tensor gradient_of_a(const Binary &f, const Tensor &a, const Tensor &b, const Tensor &dy) {
  const auto at = a.vars();
  Halide::Func da(f.name + "_gradient_a");
  da(at) = f.derivative_a(a(at), b(at)) * dy(at);
  return {da, a.extents()};
}

inline Tensor gradient_of_b(const Binary &f, const Tensor &a, const Tensor &b, const Tensor &dy) {
  const auto at = a.vars();
  Halide::Func db(f.name + "_gradient_b");
  db(at) = f.derivative_b(a(at), b(at)) * dy(at);
  return {db, a.extents()};
}

}  // namespace saltern::algorithms
