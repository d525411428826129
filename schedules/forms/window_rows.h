#pragma once
// Convolution of images of few pixels, as products of matrices: the windows of all pixels of all images are the rows of one,
// numbered p = x + columns (y + rows n), so that no tile ends where an image does.
//
//   windows(q, p) = x(ci, 0, X(x, kx), Y(y, ky), n),  q = ci + channels (kx + kernel_x ky)
//   y(co, p)              = b(co) + sum_{ci, kx, ky} w(ci, kx, ky, co) windows(q, p)
//   dw(ci, kx, ky, co)    = sum_p windows(q, p) dy(co, p)
//   dx(ci, 0, x, y, n)    = sum_{kx, ky} d(ci, kx, ky, p) over the pixels p whose window has (x, y) at (kx, ky),
//                           where d(ci, kx, ky, p) = sum_co w(ci, kx, ky, co) dy(co, p) are gradients of windows
//
// Images, weights and sliding are those of conv2d.h, of one group.

#include "schedules/forms/padding.h"
#include "schedules/forms/window.h"

namespace saltern::forms {

// Pixels of a result, in rows and columns, of so many images.
struct PixelRows {
  Halide::Expr columns, rows, images;

  Halide::Expr count() const { return columns * rows * images; }
  Halide::Expr number(const Halide::Expr &x, const Halide::Expr &y, const Halide::Expr &n) const {
    return x + columns * (y + rows * n);
  }
};

struct WindowSize {
  Halide::Expr columns, rows;
};

// windows(q, p); it is written by an update over (ci, kx, ky, x, y, n).
inline Halide::Func window_rows(const Tensor &x, const WindowSize &window, const Sliding2d &s,
                                const PixelRows &pixels) {
  const Halide::Var q("q"), p("p");
  const Halide::RDom at(0, x.extent(0), 0, window.columns, 0, window.rows, 0, pixels.columns, 0, pixels.rows, 0,
                        pixels.images, "at");
  const Halide::Expr column = at[3] * s.x.stride + at[1] * s.x.dilation - s.x.pad_before,
                     row = at[4] * s.y.stride + at[2] * s.y.dilation - s.y.pad_before;
  Halide::Func f("windows");
  f(q, p) = Halide::undef(x.type());
  f(at[0] + x.extent(0) * (at[1] + window.columns * at[2]), pixels.number(at[3], at[4], at[5])) =
      zero_padded(x)(at[0], 0, column, row, at[5]);
  return f;
}

// The pixels of an image themselves as rows: windows of one element.
inline Halide::Func pixel_rows(const Tensor &x, const PixelRows &pixels) {
  const Sliding1d each = {1, 1, 0, 0};
  return window_rows(x, {1, 1}, {each, each}, pixels);
}

// An image of rows(c, p).
inline Halide::Func image_of_rows(const Halide::Func &rows, const PixelRows &pixels) {
  const Halide::Var c("c"), g("g"), x("x"), y("y"), n("n");
  Halide::Func f("image");
  f(c, g, x, y, n) = rows(c, pixels.number(x, y, n));
  return f;
}

// dx of d(ci, kx, ky, p).
inline Halide::Func image_of_windows(const Halide::Func &d, const WindowSize &window, const Sliding2d &s,
                                     const PixelRows &pixels) {
  const Halide::Var c("c"), g("g"), x("x"), y("y"), n("n");
  const Halide::RDom k(0, window.columns, 0, window.rows, "k");
  const auto from = [](const Halide::Expr &at, const Halide::Expr &k, const Sliding1d &a) {
    return at + a.pad_before - k * a.dilation;
  };
  const Halide::Expr across = from(x, k.x, s.x), down = from(y, k.y, s.y);
  const auto meets = [](const Halide::Expr &at, const Sliding1d &a, const Halide::Expr &positions) {
    return at >= 0 && at % a.stride == 0 && at / a.stride < positions;
  };
  Halide::RDom r = k;
  r.where(meets(across, s.x, pixels.columns) && meets(down, s.y, pixels.rows));
  const auto inside = [](const Halide::Expr &at, const Sliding1d &a, const Halide::Expr &positions) {
    return Halide::clamp(at / a.stride, 0, positions - 1);
  };
  Halide::Func f("image_sums");
  f(c, g, x, y, n) = Halide::cast(d.type(), 0);
  f(c, g, x, y, n) +=
      d(c, r.x, r.y, pixels.number(inside(across, s.x, pixels.columns), inside(down, s.y, pixels.rows), n));
  return f;
}

}  // namespace saltern::forms
