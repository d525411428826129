#pragma once
// Convolution of bytes, summed in i32: u8 times i8, four products an instruction where the CPU has one for that.
//
//   x(j, y, n)  w(i, co, t, ky, block)  start(co, block)
//     ->  sums(co, block, x, y, n) = start(co, block) + sum_{i, t, ky} w(i, co, t, ky, block) x(X(x) + 4 t + i, Y(y, ky), n)
//   where X(x) = channels (x stride_x - pad_left), and Y(y, ky) = y stride_y + ky dilation_y - pad_top.
//
// j is channel + channels * pixel: a row of pixels whose channels lie side by side, so that what a window takes of a row does,
// too, and is taken by fours whatever the number of channels is. Weights past the last tap are zero. Around x lies the
// number that stands for 0; start has that number times the sum of weights, less than nothing.

#include "schedules/forms/window.h"

namespace saltern::forms {

constexpr int products_at_once = 4;

struct IntegerWindow {
  int channels, row_taps;  // of a pixel; of a window in a row: channels * kernel_x
  int zero;
  bool padded;  // whether windows reach past x, or past its rows by taps that are none
  ::saltern::Sliding2d<int> sliding;
};

struct IntegerSums {
  Halide::Func sums;
  Halide::Func padded;  // undefined where nothing lies around x
};

inline IntegerSums integer_convolution(const Tensor &x, const Tensor &w, const Tensor &start, const IntegerWindow &g) {
  const Halide::Var co("co"), block("block"), px("x"), py("y"), n("n"), j("j");
  const Halide::RDom r(0, w.extent(0), 0, w.extent(2), 0, w.extent(3), "r");
  IntegerSums made = {Halide::Func("integer_sums"), {}};
  Halide::Func image = x.func();
  if (g.padded) {
    made.padded = Halide::Func("padded");
    const Halide::Func around = Halide::BoundaryConditions::constant_exterior(x.func(), Halide::cast<uint8_t>(g.zero),
                                                                              {{0, x.extent(0)}, {0, x.extent(1)}});
    made.padded(j, py, n) = around(j, py, n);
    image = made.padded;
  }
  const Halide::Expr from = px * (g.channels * g.sliding.x.stride) + (products_at_once * r.y + r.x) -
                            g.channels * g.sliding.x.pad_before,
                     row = py * g.sliding.y.stride + r.z * g.sliding.y.dilation - g.sliding.y.pad_before;
  made.sums(co, block, px, py, n) = start(co, block);
  made.sums(co, block, px, py, n) +=
      Halide::cast<int32_t>(image(from, row, n)) * Halide::cast<int32_t>(w(r.x, co, r.y, r.z, block));
  return made;
}

// The same of each channel by itself: x(c, x, y, n), w(c, kx, ky), start(c) -> sums(c, x, y, n).
inline IntegerSums integer_depthwise(const Tensor &x, const Tensor &w, const Tensor &start, const IntegerWindow &g) {
  const Halide::Var c("c"), px("x"), py("y"), n("n");
  const Halide::RDom r(0, w.extent(1), 0, w.extent(2), "r");
  IntegerSums made = {Halide::Func("integer_sums"), Halide::Func("padded")};
  const Halide::Func around = Halide::BoundaryConditions::constant_exterior(x.func(), Halide::cast<uint8_t>(g.zero),
                                                                            {{}, {0, x.extent(1)}, {0, x.extent(2)}});
  made.padded(c, px, py, n) = around(c, px, py, n);
  const auto at = [](const Halide::Expr &p, const Halide::Expr &k, const ::saltern::Sliding<int> &s) {
    return p * s.stride + k * s.dilation - s.pad_before;
  };
  made.sums(c, px, py, n) = start(c);
  made.sums(c, px, py, n) +=
      Halide::cast<int32_t>(made.padded(c, at(px, r.x, g.sliding.x), at(py, r.y, g.sliding.y), n)) *
      Halide::cast<int32_t>(w(c, r.x, r.y));
  return made;
}

}  // namespace saltern::forms
