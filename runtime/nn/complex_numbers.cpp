#include "runtime/nn/complex_numbers.h"

#include "algorithms/special.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern::complex {

namespace {

using namespace formula;
using nn::Arguments;

Variable part(const Variable &z, int64_t which) {
  if (z.shape().empty() || z.shape().back() != 2)
    fail("complex numbers are ", to_string(z.shape()), "; expected pairs, (..., 2)");
  return reshape(slice(z, -1, which, 1), {z.shape().begin(), z.shape().end() - 1});
}

Variable with_last(const Variable &x) {
  Shape shape = x.shape();
  shape.push_back(1);
  return reshape(x, shape);
}

// Of parts: sqrt(x^2 + y^2), whose gradient at 0 is 0.
const Operation length("complex.length", [](Value x, Value y) {
  const Value squares = x * x + y * y, is_zero = squares == 0;
  return where(is_zero, 0, sqrt(where(is_zero, 1, squares)));
});
const Operation angle("complex.angle", [](Value y, Value x) { return algorithms::angle(y, x); });

nn::Function::Body of_one(Variable (*f)(const Variable &)) {
  return [f](const Arguments &a) { return f(a.variable("input")); };
}
nn::Function::Body of_two(Variable (*f)(const Variable &, const Variable &), const char *first, const char *second) {
  return [=](const Arguments &a) { return f(a.variable(first), a.variable(second)); };
}

const nn::Function rows[] = {
    {"complex.pairs", "real, imag", of_two(pairs, "real", "imag")},
    {"complex.polar", "abs, angle",
     [](const Arguments &a) {
       const Variable r = a.variable("abs"), at = a.variable("angle");
       return pairs(r * cosine(at), r * sine(at));
     }},
    {"complex.real", "input", of_one(real)},
    {"complex.imag", "input", of_one(imaginary)},
    {"complex.conj", "input", of_one(conjugate)},
    {"complex.abs", "input",
     [](const Arguments &a) { return length(real(a.variable("input")), imaginary(a.variable("input"))); }},
    {"complex.angle", "input",
     [](const Arguments &a) { return angle(imaginary(a.variable("input")), real(a.variable("input"))); }},
    {"complex.mul", "input, other", of_two(product, "input", "other")},
    {"complex.div", "input, other", of_two(quotient, "input", "other")},
};

}  // namespace

Variable pairs(const Variable &real, const Variable &imaginary) {
  return concat({with_last(real), with_last(imaginary)}, -1);
}
Variable real(const Variable &z) { return part(z, 0); }
Variable imaginary(const Variable &z) { return part(z, 1); }
Variable conjugate(const Variable &z) { return pairs(real(z), negate(imaginary(z))); }

Variable product(const Variable &a, const Variable &b) {
  const Variable x = real(a), y = imaginary(a), u = real(b), v = imaginary(b);
  return pairs(x * u - y * v, x * v + y * u);
}
Variable quotient(const Variable &a, const Variable &b) {
  const Variable u = real(b), v = imaginary(b);
  return product(a, conjugate(b)) / with_last(u * u + v * v);
}

}  // namespace saltern::complex

namespace saltern::nn {

const void *complex_numbers() { return &complex::rows; }

}  // namespace saltern::nn
