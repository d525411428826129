#pragma once
// Two-dimensional convolution with stride, dilation, padding and groups.
//
//   x(ci, g, x, y, n)  w(ci, kx, ky, co, g)  b(co, g)
//     ->  y(co, g, x, y, n) = b(co, g) + sum_{ci, kx, ky} w(ci, kx, ky, co, g) x(ci, g, X(x, kx), Y(y, ky), n)
//   where X(x, kx) = x stride_x + kx dilation_x - pad_left, and Y likewise.
//
//   dx(ci, g, x, y, n)  = sum_{co, kx, ky} w(ci, kx, ky, co, g) dy(co, g, x', y', n)   over  X(x', kx) = x, Y(y', ky) =
//   y dw(ci, kx, ky, co, g) = sum_{x, y, n} x(ci, g, X(x, kx), Y(y, ky), n) dy(co, g, x, y, n) db(co, g) = sum_{x, y,
//   n} dy(co, g, x, y, n)                                        (dense_gradient_b)
//
// A group is a dimension of its own, of extent 1 in the ordinary convolution. x and dy must read as zero outside their
// extents (dsl::zero_padded): that is the padding.

#include "algorithms/window.h"

namespace saltern::algorithms {
using dsl::Tensor;

inline Tensor conv2d(const Tensor &x, const Tensor &w, const Tensor &b, const Sliding2d &s) {
  Halide::Var co("co"), g("g"), at_x("x"), at_y("y"), n("n");
  Halide::RDom r(0, w.extent(0), 0, w.extent(1), 0, w.extent(2), "r");
  Halide::Func y("conv2d");
  y(co, g, at_x, at_y, n) = b(co, g);
  y(co, g, at_x, at_y, n) +=
      w(r.x, r.y, r.z, co, g) * x(r.x, g, window_source(at_x, r.y, s.x), window_source(at_y, r.z, s.y), n);
  return {y,
          {w.extent(3), w.extent(4), window_positions(x.extent(2), w.extent(1), s.x),
           window_positions(x.extent(3), w.extent(2), s.y), x.extent(4)}};
}

// `spread` is window.h's spread of dy: the gradient of x is an ordinary convolution of that with the window turned
// round; width and height are those of x.
inline Tensor conv2d_gradient_x(const Tensor &w, const Tensor &spread, const Sliding2d &s, const Halide::Expr &width,
                                const Halide::Expr &height) {
  Halide::Var ci("ci"), g("g"), x("x"), y("y"), n("n");
  Halide::RDom r(0, w.extent(3), 0, w.extent(1), 0, w.extent(2), "r");
  Halide::Func dx("conv2d_dx");
  dx(ci, g, x, y, n) = Halide::cast(w.type(), 0);
  dx(ci, g, x, y, n) += w(ci, r.y, r.z, r.x, g) * spread(r.x, g, x + s.x.pad_before - r.y * s.x.dilation,
                                                         y + s.y.pad_before - r.z * s.y.dilation, n);
  return {dx, {w.extent(0), w.extent(4), width, height, spread.extent(4)}};
}

inline Tensor conv2d_gradient_w(const Tensor &x, const Tensor &dy, const Sliding2d &s, const Halide::Expr &kernel_x,
                                const Halide::Expr &kernel_y) {
  Halide::Var ci("ci"), kx("kx"), ky("ky"), co("co"), g("g");
  Halide::RDom r(0, dy.extent(2), 0, dy.extent(3), 0, dy.extent(4), "r");
  Halide::Func dw("conv2d_dw");
  dw(ci, kx, ky, co, g) = Halide::cast(x.type(), 0);
  dw(ci, kx, ky, co, g) +=
      x(ci, g, window_source(r.x, kx, s.x), window_source(r.y, ky, s.y), r.z) * dy(co, g, r.x, r.y, r.z);
  return {dw, {x.extent(0), kernel_x, kernel_y, dy.extent(0), x.extent(1)}};
}

}  // namespace saltern::algorithms
