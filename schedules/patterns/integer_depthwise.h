#pragma once
// Depthwise convolution of bytes: sums(c, x, y, n) in i32 of a small window of u8 times i8. Vectors run along channels; a
// strip of pixels of one row shares weights and the pixels that their windows share. Some rows are a task, which first
// copies what they need of the image with what lies around it.

#include <algorithm>

#include "schedules/balance.h"
#include "schedules/machine.h"
#include "schedules/patterns/depthwise.h"

namespace saltern::schedules {

struct IntegerDepthwiseShape {
  int channels, width, height;  // of the result
  int taps;                     // of the window along a row
};

inline void integer_depthwise(const Depthwise &d, const Machine &m, const IntegerDepthwiseShape &s) {
  using Halide::TailStrategy;
  using Halide::Var;
  Halide::Func out = d.out, sums = d.y, padded = d.padded;
  int lanes = m.lanes(sums.type());
  while (lanes > s.channels) lanes /= 2;
  const int width = std::min(s.width, m.vector_registers >= 32 ? 7 : 4),
            rows = std::min(s.height, DepthwiseKnobs::fitting(m, s.height).rows);
  const std::vector<Var> o = out.args(), a = sums.args();
  const Var c("c"), x("x"), row("row"), tile_c("tile_c"), tile_x("tile_x"), task("task");
  out.split(o[0], tile_c, c, lanes, TailStrategy::ShiftInwards)
      .split(o[1], tile_x, x, width, TailStrategy::ShiftInwards)
      .split(o[2], task, row, rows, TailStrategy::ShiftInwards)
      .reorder(c, x, tile_x, tile_c, row, task, o[3])
      .vectorize(c)
      .unroll(x)
      .parallel(task)
      .parallel(o[3]);
  sums.compute_at(out, tile_x).bound_extent(a[0], lanes).bound_extent(a[1], width).vectorize(a[0]).unroll(a[1]);
  const std::vector<Halide::RVar> r = sums.rvars(0);
  sums.update().reorder({a[0], a[1], r[0], r[1]}).vectorize(a[0]).unroll(a[1]);
  constexpr int most_unrolled = 7;  // a longer window would be long code
  if (s.taps <= most_unrolled) sums.update().unroll(r[0]);
  padded.compute_at(out, task).vectorize(padded.args()[0], lanes, TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
