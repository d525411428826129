#pragma once
// Matrix product, batched.
//
//   a(k, m, batch)  b(n, k, batch)   ->   y(n, m, batch) = sum_k a(k, m, batch) b(n, k, batch)
//
// Its gradients are matrix products of transposes: da = dy b^T, db = a^T dy. A transpose is a matter of strides.

#include "schedules/forms/tensor.h"

namespace saltern::forms {

inline Tensor matmul(const Tensor &a, const Tensor &b) {
  Halide::Var n("n"), m("m"), batch("batch");
  Halide::RDom k(0, a.extent(0), "k");
  Halide::Func y("matmul");
  y(n, m, batch) = Halide::cast(a.type(), 0);
  y(n, m, batch) += a(k, m, batch) * b(n, k, batch);
  return {y, {b.extent(0), a.extent(1), a.extent(2)}};
}

}  // namespace saltern::forms
