#pragma once
// Depthwise two-dimensional convolution: each channel has a window of its own.
//
//   x(c, x, y, n)  w(c, kx, ky)  b(c)  ->  y(c, x, y, n) = b(c) + sum_{kx, ky} w(c, kx, ky) x(c, X(x, kx), Y(y, ky), n)
//   dx(c, x, y, n)  = sum_{kx, ky} w(c, kx, ky) dy(c, x', y', n)      over  X(x', kx) = x, Y(y', ky) = y
//   dw(c, kx, ky)   = sum_{x, y, n} x(c, X(x, kx), Y(y, ky), n) dy(c, x, y, n)
//
// x and dy must read as zero outside their extents; X and Y are those of window.h.

#include "schedules/forms/window.h"

namespace saltern::forms {

// Rows of a window that lie above or below the image add nothing: they can be left out of the sum instead of read as
// zero. Then x need read as zero to its sides only.
enum class OutsideRows { read_as_zero, left_out };

inline Tensor depthwise2d(const Tensor &x, const Tensor &w, const Tensor &b, const Sliding2d &s,
                          OutsideRows outside = OutsideRows::read_as_zero) {
  Halide::Var c("c"), at_x("x"), at_y("y"), n("n");
  Halide::RDom r(0, w.extent(1), 0, w.extent(2), "r");
  const Halide::Expr row = window_source(at_y, r.y, s.y);
  if (outside == OutsideRows::left_out) r.where(row >= 0 && row < x.extent(2));
  Halide::Func y("depthwise2d");
  y(c, at_x, at_y, n) = b(c);
  y(c, at_x, at_y, n) += w(c, r.x, r.y) * x(c, window_source(at_x, r.x, s.x), row, n);
  return {y,
          {x.extent(0), window_positions(x.extent(1), w.extent(1), s.x),
           window_positions(x.extent(2), w.extent(2), s.y), x.extent(3)}};
}

// `spread` is window.h's spread of dy; width and height are those of x.
inline Tensor depthwise2d_gradient_x(const Tensor &w, const Tensor &spread, const Sliding2d &s,
                                     const Halide::Expr &width, const Halide::Expr &height) {
  Halide::Var c("c"), x("x"), y("y"), n("n");
  Halide::RDom r(0, w.extent(1), 0, w.extent(2), "r");
  Halide::Func dx("depthwise2d_dx");
  dx(c, x, y, n) = Halide::cast(w.type(), 0);
  dx(c, x, y, n) +=
      w(c, r.x, r.y) * spread(c, x + s.x.pad_before - r.x * s.x.dilation, y + s.y.pad_before - r.y * s.y.dilation, n);
  return {dx, {w.extent(0), width, height, spread.extent(3)}};
}

inline Tensor depthwise2d_gradient_w(const Tensor &x, const Tensor &dy, const Sliding2d &s,
                                     const Halide::Expr &kernel_x, const Halide::Expr &kernel_y) {
  Halide::Var c("c"), kx("kx"), ky("ky");
  Halide::RDom r(0, dy.extent(1), 0, dy.extent(2), 0, dy.extent(3), "r");
  Halide::Func dw("depthwise2d_dw");
  dw(c, kx, ky) = Halide::cast(x.type(), 0);
  dw(c, kx, ky) += x(c, window_source(r.x, kx, s.x), window_source(r.y, ky, s.y), r.z) * dy(c, r.x, r.y, r.z);
  return {dw, {x.extent(0), kernel_x, kernel_y}};
}

}  // namespace saltern::forms
