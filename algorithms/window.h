#pragma once
// Windows (a convolution's kernel, a pool) over one spatial dimension: which elements a window covers, and which
// windows cover an element.

#include "dsl/shapes.h"
#include "dsl/tensor.h"

namespace saltern::algorithms {
using Sliding2d = saltern::Sliding2d<Halide::Expr>;
using Sliding1d = saltern::Sliding<Halide::Expr>;

// Where the window's element k lies when the window is at position `at`.
inline Halide::Expr window_source(const Halide::Expr &at, const Halide::Expr &k, const Sliding1d &s) {
  return at * s.stride + k * s.dilation - s.pad_before;
}

// The elements k in [first, past) of the window at `at` lie inside the `extent` elements; the others in the padding.
struct WindowInside {
  Halide::Expr first, past;
};

inline WindowInside window_inside(const Halide::Expr &at, const Halide::Expr &window, const Halide::Expr &extent,
                                  const Sliding1d &s) {
  const Halide::Expr start = window_source(at, 0, s);
  return {Halide::clamp((s.dilation - 1 - start) / s.dilation, 0, window),
          Halide::clamp((extent - 1 - start) / s.dilation + 1, 0, window)};
}

// At most this many windows cover one element: a few, where the window is as long as its stride only one.
inline Halide::Expr covering_windows(const Halide::Expr &window, const Sliding1d &s) {
  return (window - 1) * s.dilation / s.stride + 1;
}

// The j-th candidate, counted from the last, of the windows that cover element `at`.
struct CoveringWindow {
  Halide::Expr position;  // which window; clamped to those that there are
  Halide::Expr k;         // which element of that window `at` is
  Halide::Expr covers;    // whether there is such a window and it covers the element
};

inline CoveringWindow covering_window(const Halide::Expr &at, const Halide::Expr &j, const Halide::Expr &window,
                                      const Halide::Expr &positions, const Sliding1d &s) {
  const Halide::Expr padded = at + s.pad_before, position = padded / s.stride - j;
  const Halide::Expr offset = padded % s.stride + j * s.stride, k = offset / s.dilation;
  return {Halide::clamp(position, 0, positions - 1), k,
          position >= 0 && position < positions && k < window && offset % s.dilation == 0};
}

// dy (its last three dimensions x, y, n) spread out so that one step of it is one step of what the window slides over:
// zero between, where a strided window never stood.
inline dsl::Tensor spread(const dsl::Tensor &dy, const Sliding2d &s) {
  Halide::Var x("x"), y("y"), n("n");
  Halide::Func f("spread");
  f(Halide::_, x, y, n) =
      Halide::select(x % s.x.stride == 0 && y % s.y.stride == 0,
                     dy.func()(Halide::_, x / s.x.stride, y / s.y.stride, n), Halide::cast(dy.type(), 0));
  std::vector<Halide::Expr> extents = dy.extents();
  Halide::Expr &width = extents[dy.rank() - 3], &height = extents[dy.rank() - 2];
  width = (width - 1) * s.x.stride + 1;
  height = (height - 1) * s.y.stride + 1;
  return {f, extents};
}

}  // namespace saltern::algorithms
