#pragma once
// Windows of a convolution over one spatial dimension: which elements a window covers, and which windows cover an element.

#include "dsl/shapes.h"
#include "schedules/forms/tensor.h"

namespace saltern::forms {
using Sliding2d = saltern::Sliding2d<Halide::Expr>;
using Sliding1d = saltern::Sliding<Halide::Expr>;

// The pixels of a result, numbered along rows, which lets a schedule cut them in tiles that no row's end cuts short.
struct Pixels {
  std::vector<Halide::Var> index;
  Halide::Expr x, y;
  Halide::Func table;  // number -> (x, y)
};

// Numbers past the last pixel are pixels of the last row again.
inline Pixels numbered(const Halide::Expr &width, const Halide::Expr &height) {
  const Halide::Var p("p");
  Halide::Func table("pixel");
  table(p) = Halide::Tuple(p % width, Halide::clamp(p / width, 0, height - 1));
  return {{p}, table(p)[0], table(p)[1], table};
}

// An image x(c, g, x, y, n) as one line: channel c of pixel (left + x, top + y) is number c + channels (x + pitch y),
// for x below the pitch and y below the rows. A window's element is as far from the window's corner wherever that is.
struct Line {
  Halide::Func values;  // (number, g, n)
  Halide::Func corner;  // p -> the number of channel 0 of the corner of pixel p's window
  Halide::Expr channels, pitch;

  Halide::Expr number(const Halide::Expr &x, const Halide::Expr &y) const { return (x + y * pitch) * channels; }
};

inline Line line(const forms::Tensor &image, const Halide::Expr &left, const Halide::Expr &pitch,
                 const Halide::Expr &top, const Halide::Expr &rows, const Pixels &corners, const Sliding2d &s) {
  const Halide::Var number("number"), g("g"), n("n");
  const Halide::RDom at(0, image.extent(0), 0, pitch, 0, rows, "at");
  Line result = {Halide::Func("line"), Halide::Func("corner"), image.extent(0), pitch};
  result.values(number, g, n) = Halide::undef(image.type());
  result.values(at.x + result.number(at.y, at.z), g, n) = image(at.x, g, left + at.y, top + at.z, n);
  result.corner(corners.index) = result.number(corners.x * s.x.stride, corners.y * s.y.stride);
  return result;
}

// Element `at` of what a window slides over, as step * stride + phase: of one phase, all elements are met by the same
// elements of the window, and by no others.
struct Phase {
  Halide::Expr phase, pad_before, stride, dilation;

  // The window's element k meets this phase,
  Halide::Expr meets(const Halide::Expr &k) const { return (phase + pad_before - k * dilation) % stride == 0; }
  // namely when the window is at the element's step plus this.
  Halide::Expr position(const Halide::Expr &k) const { return (phase + pad_before - k * dilation) / stride; }
};

inline Phase phase_of(const Halide::Expr &phase, const Sliding1d &s) {
  return {phase, s.pad_before, s.stride, s.dilation};
}

// What position() is of any phase and of any element of the window: in [first, past).
struct Positions {
  Halide::Expr first, past;
};

inline Positions positions(const Halide::Expr &window, const Sliding1d &s) {
  return {phase_of(0, s).position(window - 1), phase_of(s.stride - 1, s).position(0) + 1};
}

// Steps of `extent` elements.
inline Halide::Expr steps(const Halide::Expr &extent, const Sliding1d &s) { return (extent + s.stride - 1) / s.stride; }

}  // namespace saltern::forms
