#pragma once
// Dense layer.
//
//   x(i, n)  w(i, o)  b(o)   ->   y(o, n) = b(o) + sum_i w(i, o) x(i, n)
//
//   dx(i, n) = sum_o w(i, o) dy(o, n)
//   dw(i, o) = sum_n x(i, n) dy(o, n)

#include "schedules/forms/tensor.h"

namespace saltern::forms {

inline Tensor dense(const Tensor &x, const Tensor &w, const Tensor &b) {
  Halide::Var o("o"), n("n");
  Halide::RDom i(0, x.extent(0), "i");
  Halide::Func y("dense");
  y(o, n) = b(o);
  y(o, n) += w(i, o) * x(i, n);
  return {y, {w.extent(1), x.extent(1)}};
}

inline Tensor dense_gradient_x(const Tensor &w, const Tensor &dy) {
  Halide::Var i("i"), n("n");
  Halide::RDom o(0, w.extent(1), "o");
  Halide::Func dx("dense_dx");
  dx(i, n) = Halide::cast(w.type(), 0);
  dx(i, n) += w(i, o) * dy(o, n);
  return {dx, {w.extent(0), dy.extent(1)}};
}

inline Tensor dense_gradient_w(const Tensor &x, const Tensor &dy) {
  Halide::Var i("i"), o("o");
  Halide::RDom n(0, x.extent(1), "n");
  Halide::Func dw("dense_dw");
  dw(i, o) = Halide::cast(x.type(), 0);
  dw(i, o) += x(i, n) * dy(o, n);
  return {dw, {x.extent(0), dy.extent(0)}};
}

}  // namespace saltern::forms
