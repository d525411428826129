#pragma once
// Reductions over the middle dimension; a tensor of any rank reads as three dimensions around the reduced one.
//
//   sum(x(a, r, b))          -> y(a, b) = sum_r x(a, r, b)
//   scaled(y, s)             -> s y              (a mean is a sum, scaled)
//   product_over(x(a, r, b)) -> y(a, b) = prod_r x(a, r, b)
//   maximum_over(x(a, r, b)) -> { y(a, b), index(a, b) }: the largest element, and where it comes first; minimum_over
//                               likewise
//   maximum_over_gradient(index, dy(a, b), count) -> dx(a, r, b) = dy(a, b) where r is index(a, b), else 0; the same
//                               formula serves minimum_over
//
// The gradient of a sum is dy, broadcast.

#include "dsl/float_bits.h"
#include "dsl/tensor.h"

namespace saltern::algorithms {
using dsl::Tensor;

inline Tensor sum(const Tensor &x) {
  Halide::Var a("a"), b("b");
  Halide::RDom r(0, x.extent(1), "r");
  Halide::Func y("total");
  y(a, b) = Halide::cast(x.type(), 0);
  y(a, b) += x(a, r, b);
  return {y, {x.extent(0), x.extent(2)}};
}

inline Tensor scaled(const Tensor &x, const Halide::Expr &scale) {
  const auto at = x.vars();
  Halide::Func y("scaled");
  y(at) = x(at) * Halide::cast(x.type(), scale);
  return {y, x.extents()};
}

inline Tensor product_over(const Tensor &x) {
  Halide::Var a("a"), b("b");
  Halide::RDom r(0, x.extent(1), "r");
  Halide::Func y("product");
  y(a, b) = Halide::cast(x.type(), 1);
  y(a, b) *= x(a, r, b);
  return {y, {x.extent(0), x.extent(2)}};
}

// The element that comes before all others by `before`, and where it comes first. NaN comes before all numbers.
inline Tensor first_by(const Tensor &x, Halide::Expr (*before)(Halide::Expr, Halide::Expr)) {
  Halide::Var a("a"), b("b");
  Halide::RDom r(1, x.extent(1) - 1, "r");
  Halide::Func y("first");
  y(a, b) = Halide::Tuple(x(a, 0, b), Halide::Expr(0));
  const Halide::Expr candidate = x(a, r, b), best = y(a, b)[0];
  const Halide::Expr better = dsl::comes_first(before(candidate, best), candidate, best);
  y(a, b) = Halide::Tuple(Halide::select(better, candidate, y(a, b)[0]), Halide::select(better, r, y(a, b)[1]));
  return {y, {x.extent(0), x.extent(2)}};
}

inline Tensor maximum_over(const Tensor &x) {
  return first_by(x, [](Halide::Expr candidate, Halide::Expr best) { return dsl::strict_less(best, candidate); });
}

inline Tensor minimum_over(const Tensor &x) {
  return first_by(x, [](Halide::Expr candidate, Halide::Expr best) { return dsl::strict_less(candidate, best); });
}

inline Tensor maximum_over_gradient(const Tensor &index, const Tensor &dy, const Halide::Expr &count) {
  Halide::Var a("a"), r("r"), b("b");
  Halide::Func dx("maximum_over_gradient");
  dx(a, r, b) = Halide::select(index(a, b) == r, dy(a, b), Halide::cast(dy.type(), 0));
  return {dx, {dy.extent(0), count, dy.extent(1)}};
}

}  // namespace saltern::algorithms
