#pragma once
// Softmax and its logarithm over the innermost dimension.
//
//   x(c, n)  ->  softmax(c, n)     = exp(x(c, n) - m(n)) / sum_c exp(x(c, n) - m(n)),   m(n) = max_c x(c, n)
//                log_softmax(c, n) = x(c, n) - m(n) - log sum_c exp(x(c, n) - m(n))
//
//   softmax:      dx(c, n) = y(c, n) (dy(c, n) - sum_c y(c, n) dy(c, n))
//   log_softmax:  dx(c, n) = dy(c, n) - exp(y(c, n)) sum_c dy(c, n)
//
// The maximum is subtracted so that no exponential overflows; it does not change the result, nor the gradient. An x of
// -infinity has probability 0; a row of nothing else has none, and gives NaN, as one with NaN or infinity does. The
// stages take any number of dimensions in the place of n.

#include "dsl/elementary.h"
#include "dsl/tensor.h"

namespace saltern::algorithms {
using dsl::Tensor;

// The stages that softmax, its logarithm and cross-entropy share.
struct SoftmaxStages {
  Halide::Func largest;  // m(n)
  Halide::Func power;    // exp(x(c, n) - m(n))
  Halide::Func total;    // sum_c power(c, n)
};

inline SoftmaxStages softmax_stages(const Tensor &x) {
  const std::vector<Halide::Var> at = x.vars(), n(at.begin() + 1, at.end());
  Halide::RDom r(0, x.extent(0), "r");
  std::vector<Halide::Expr> each = {r};
  each.insert(each.end(), n.begin(), n.end());
  Halide::Func largest("largest"), power("power"), total("total");
  largest(n) = x.type().min();
  largest(n) = Halide::max(largest(n), x(each));
  power(at) = dsl::exp(dsl::difference(x(at), largest(n)));
  total(n) = Halide::cast(x.type(), 0);
  total(n) += power(each);
  return {largest, power, total};
}

struct Softmax {
  SoftmaxStages stages;
  Tensor y;
};

inline Softmax softmax(const Tensor &x) {
  Halide::Var c("c"), n("n");
  const SoftmaxStages s = softmax_stages(x);
  Halide::Func y("softmax");
  y(c, n) = s.power(c, n) * (1 / s.total(n));  // one division a row
  return {s, {y, x.extents()}};
}

inline Softmax log_softmax(const Tensor &x) {
  Halide::Var c("c"), n("n");
  const SoftmaxStages s = softmax_stages(x);
  Halide::Func y("log_softmax");
  // In this order: of large numbers the maximum would swallow the logarithm.
  y(c, n) = dsl::difference(dsl::difference(x(c, n), s.largest(n)), dsl::log(s.total(n)));
  return {s, {y, x.extents()}};
}

struct SoftmaxGradient {
  Halide::Func total;  // the sum over c
  Tensor x;
};

inline SoftmaxGradient softmax_gradient(const Tensor &y, const Tensor &dy) {
  Halide::Var c("c"), n("n");
  Halide::RDom r(0, y.extent(0), "r");
  Halide::Func total("total"), dx("softmax_dx");
  total(n) = Halide::cast(y.type(), 0);
  total(n) += y(r, n) * dy(r, n);
  dx(c, n) = y(c, n) * (dy(c, n) - total(n));
  return {total, {dx, y.extents()}};
}

inline SoftmaxGradient log_softmax_gradient(const Tensor &y, const Tensor &dy) {
  Halide::Var c("c"), n("n");
  Halide::RDom r(0, y.extent(0), "r");
  Halide::Func total("total"), dx("log_softmax_dx");
  total(n) = Halide::cast(y.type(), 0);
  total(n) += dy(r, n);
  dx(c, n) = dy(c, n) - dsl::exp(y(c, n)) * total(n);
  return {total, {dx, y.extents()}};
}

}  // namespace saltern::algorithms
