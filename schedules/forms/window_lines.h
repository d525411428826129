#pragma once
// Windows of images of few channels, as rows of a matrix, and back. Rows of pixels are lines, x(c + channels x, y, n), so that
// what a window holds of one of them is a run of it, however few channels there are.
//
//   windows(r, ky, q, p, n)  = x(r + channels (q stride_x - pad_left), p stride_y + ky - pad_top, n)
//   image(l, y, n)           = sum_{r, ky, q, p} d(r, ky, q, p, n) where windows have x(l, y, n): the transpose of it
//
// Nothing is dilated: runs have no holes.

#include "schedules/forms/window.h"

namespace saltern::forms {

// Of x, which reads as zero outside.
inline Tensor window_lines(const Tensor &x, const Halide::Expr &channels, const Halide::Expr &kernel_x,
                           const Halide::Expr &kernel_y, const Sliding2d &s) {
  const Halide::Var r("r"), ky("ky"), q("q"), p("p"), n("n");
  Halide::Func f("windows");
  f(r, ky, q, p, n) = x(r + channels * (q * s.x.stride - s.x.pad_before), p * s.y.stride + ky - s.y.pad_before, n);
  return {f,
          {kernel_x * channels, kernel_y, window_positions(x.extent(0) / channels, kernel_x, s.x),
           window_positions(x.extent(1), kernel_y, s.y), x.extent(2)}};
}

// `sums` has the padding before its lines and above them.
struct ImageOfLines {
  Halide::Func sums;
  Tensor image;
};

inline ImageOfLines image_of_window_lines(const Tensor &d, const Halide::Expr &channels, const Sliding2d &s,
                                          const Halide::Expr &width, const Halide::Expr &height) {
  const Halide::Var l("l"), y("y"), n("n");
  const Halide::RDom at(0, d.extent(0), 0, d.extent(1), 0, d.extent(2), 0, d.extent(3), "at");
  Halide::Func sums("sums"), f("image");
  sums(l, y, n) = Halide::cast(d.type(), 0);
  sums(at[0] + channels * at[2] * s.x.stride, at[3] * s.y.stride + at[1], n) += d(at[0], at[1], at[2], at[3], n);
  f(l, y, n) = sums(l + channels * s.x.pad_before, y + s.y.pad_before, n);
  return {sums, {f, {width * channels, height, d.extent(4)}}};
}

}  // namespace saltern::forms
