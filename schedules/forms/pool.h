#pragma once
// Pooling over windows of an image.
//
//   x(c, x, y, n)  ->  value(c, x, y, n)    = max_{kx, ky} x(c, X(x, kx), Y(y, ky), n)
//                      position(c, x, y, n) = kx + kernel_x ky of the first maximum in its window
//   x(c, x, y, n)  ->  y(c, x, y, n) = sum_{kx, ky} x(c, X(x, kx), Y(y, ky), n) / count(x, y)
//   where X(x, kx) = x stride_x + kx dilation_x - pad_left, and Y likewise.
//
//   max:      dx(c, x, y, n) = sum of dy over the windows whose maximum is this pixel
//   average:  dx(c, x, y, n) = sum of dy / count over the windows that cover this pixel
//
// Each gradient is linear in dy. Its own gradient is, for the average, the average; for the maximum, what stands in an
// image at given positions: y(c, x, y, n) = x(c, X(x, kx), Y(y, ky), n) with kx + kernel_x ky = position(c, x, y, n).
//
// Only pixels inside the image take part; the average's count is all kernel_x kernel_y where count_padding is not 0,
// else the pixels inside. A window without a pixel inside has maximum -infinity, average 0 and no gradient. Gradients
// gather: they visit the few windows that may cover a pixel, not the positions in a kernel. Conditions on a pixel are
// selects and not RDom::where, of which Halide derives no gradient (or a wrong one); the maximum, which it cannot
// derive anyhow, has one.

#include "schedules/forms/window.h"

namespace saltern::forms {

struct Window2d {
  Halide::Expr kernel_x, kernel_y;
  Sliding2d sliding;
};

namespace pool_detail {

inline std::vector<Halide::Expr> extents(const Tensor &x, const Window2d &w) {
  return {x.extent(0), window_positions(x.extent(1), w.kernel_x, w.sliding.x),
          window_positions(x.extent(2), w.kernel_y, w.sliding.y), x.extent(3)};
}

// What element k of the window at (x, y) is, and whether it is a pixel of the image at all.
struct Element {
  Halide::Expr value, inside;
};

inline Element element(const Tensor &image, const Window2d &w, const Halide::RDom &k, const Halide::Expr &c,
                       const Halide::Expr &x, const Halide::Expr &y, const Halide::Expr &n) {
  const Halide::Expr px = window_source(x, k.x, w.sliding.x), py = window_source(y, k.y, w.sliding.y);
  return {image(c, Halide::clamp(px, 0, image.extent(1) - 1), Halide::clamp(py, 0, image.extent(2) - 1), n),
          px >= 0 && px < image.extent(1) && py >= 0 && py < image.extent(2)};
}

// The windows that may cover pixel (x, y), with the condition that they do.
struct Covering {
  Halide::RDom j;
  CoveringWindow x, y;
  Halide::Expr covers;
};

inline Covering covering(const Tensor &dy, const Window2d &w, const Halide::Expr &x, const Halide::Expr &y) {
  Halide::RDom j(0, covering_windows(w.kernel_x, w.sliding.x), 0, covering_windows(w.kernel_y, w.sliding.y), "j");
  const CoveringWindow over_x = covering_window(x, j.x, w.kernel_x, dy.extent(1), w.sliding.x);
  const CoveringWindow over_y = covering_window(y, j.y, w.kernel_y, dy.extent(2), w.sliding.y);
  return {j, over_x, over_y, over_x.covers && over_y.covers};
}

inline Halide::Expr average_count(const Halide::Expr &x, const Halide::Expr &y, const Window2d &w,
                                  const Halide::Expr &width, const Halide::Expr &height,
                                  const Halide::Expr &count_padding) {
  const WindowInside over_x = window_inside(x, w.kernel_x, width, w.sliding.x);
  const WindowInside over_y = window_inside(y, w.kernel_y, height, w.sliding.y);
  const Halide::Expr inside = (over_x.past - over_x.first) * (over_y.past - over_y.first);
  return Halide::max(Halide::select(count_padding != 0, w.kernel_x * w.kernel_y, inside), 1);
}

}  // namespace pool_detail

// Of two components, { value, position }: they come out of one walk over the window.
inline Tensor max_pool2d(const Tensor &x, const Window2d &w) {
  Halide::Var c("c"), at_x("x"), at_y("y"), n("n");
  // The first position inside is the maximum until a greater one comes: right also where all are -infinity.
  const Halide::Expr first_x = window_inside(at_x, w.kernel_x, x.extent(1), w.sliding.x).first;
  const Halide::Expr first_y = window_inside(at_y, w.kernel_y, x.extent(2), w.sliding.y).first;
  Halide::Func best("max_pool2d");
  best(c, at_x, at_y, n) = Halide::Tuple(x.type().min(), first_x + w.kernel_x * first_y);
  Halide::RDom k(0, w.kernel_x, 0, w.kernel_y, "k");
  const auto [value, inside] = pool_detail::element(x, w, k, c, at_x, at_y, n);
  k.where(inside);
  const Halide::FuncRef so_far = best(c, at_x, at_y, n);
  const Halide::Expr greater = value > so_far[0];
  best(c, at_x, at_y, n) = Halide::Tuple(Halide::select(greater, value, so_far[0]),
                                         Halide::select(greater, k.x + w.kernel_x * k.y, so_far[1]));
  return {best, pool_detail::extents(x, w)};
}

// `position` is what max_pool2d gave; width and height are those of x.
inline Tensor max_pool2d_gradient(const Tensor &position, const Tensor &dy, const Window2d &w,
                                  const Halide::Expr &width, const Halide::Expr &height) {
  Halide::Var c("c"), x("x"), y("y"), n("n");
  Halide::Func dx("max_pool2d_dx");
  const pool_detail::Covering over = pool_detail::covering(dy, w, x, y);
  const Halide::Expr zero = Halide::cast(dy.type(), 0);
  dx(c, x, y, n) = zero;
  const Halide::Expr here = position(c, over.x.position, over.y.position, n) == over.x.k + w.kernel_x * over.y.k;
  dx(c, x, y, n) += Halide::select(over.covers && here, dy(c, over.x.position, over.y.position, n), zero);
  return {dx, {dy.extent(0), width, height, dy.extent(3)}};
}

// The element of each window at `position`; 0 where that is outside the image.
inline Tensor max_pool2d_pick(const Tensor &position, const Tensor &x, const Window2d &w) {
  Halide::Var c("c"), at_x("x"), at_y("y"), n("n");
  const Halide::Expr k = position(c, at_x, at_y, n);
  const Halide::Expr px = window_source(at_x, k % w.kernel_x, w.sliding.x);
  const Halide::Expr py = window_source(at_y, k / w.kernel_x, w.sliding.y);
  const Halide::Expr inside = px >= 0 && px < x.extent(1) && py >= 0 && py < x.extent(2);
  Halide::Func y("max_pool2d_pick");
  y(c, at_x, at_y, n) =
      Halide::select(inside, x(c, Halide::clamp(px, 0, x.extent(1) - 1), Halide::clamp(py, 0, x.extent(2) - 1), n),
                     Halide::cast(x.type(), 0));
  return {y, position.extents()};
}

// The sum over each window is a function of its own, for a schedule to place.
struct AveragePool2d {
  Halide::Func sum;
  Tensor y;
};

inline AveragePool2d average_pool2d(const Tensor &x, const Window2d &w, const Halide::Expr &count_padding) {
  Halide::Var c("c"), at_x("x"), at_y("y"), n("n");
  Halide::Func sum("window_sum"), y("average_pool2d");
  Halide::RDom k(0, w.kernel_x, 0, w.kernel_y, "k");
  const auto [value, inside] = pool_detail::element(x, w, k, c, at_x, at_y, n);
  const Halide::Expr zero = Halide::cast(x.type(), 0);
  sum(c, at_x, at_y, n) = zero;
  sum(c, at_x, at_y, n) += Halide::select(inside, value, zero);
  const Halide::Expr count = pool_detail::average_count(at_x, at_y, w, x.extent(1), x.extent(2), count_padding);
  y(c, at_x, at_y, n) = sum(c, at_x, at_y, n) / Halide::cast(x.type(), count);
  return {sum, {y, pool_detail::extents(x, w)}};
}

inline Tensor average_pool2d_gradient(const Tensor &dy, const Window2d &w, const Halide::Expr &count_padding,
                                      const Halide::Expr &width, const Halide::Expr &height) {
  Halide::Var c("c"), x("x"), y("y"), n("n");
  Halide::Func dx("average_pool2d_dx");
  const pool_detail::Covering over = pool_detail::covering(dy, w, x, y);
  const Halide::Expr count =
      pool_detail::average_count(over.x.position, over.y.position, w, width, height, count_padding);
  const Halide::Expr zero = Halide::cast(dy.type(), 0);
  dx(c, x, y, n) = zero;
  dx(c, x, y, n) +=
      Halide::select(over.covers, dy(c, over.x.position, over.y.position, n), zero) / Halide::cast(dy.type(), count);
  return {dx, {dy.extent(0), width, height, dy.extent(3)}};
}

}  // namespace saltern::forms
