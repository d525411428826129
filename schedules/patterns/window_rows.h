#pragma once
// Convolutions whose windows are rows of a matrix (forms/window_rows.h): all is in a contraction (contraction.h); windows are
// written before it, and images of its results behind.
//
// Images of few pixels leave register tiles idle that end with an image: 512 channels of 2 x 2 pixels, 16 images, 3 x 3, went
// at 30 GF/s forward and 16 for weights, and go at 68 and 93 so; 256 of 4 x 4 at 70 and 65, and go at 100 (AMD Zen 4). From
// 8 x 8 pixels on, convolution.h is as fast, without the copies.

#include "schedules/patterns/contraction.h"

namespace saltern::schedules {

// Rows of windows, written by an update whose innermost step is along channels.
inline void window_rows(Halide::Func windows, const Machine &m) {
  windows.compute_root();
  windows.update().allow_race_conditions().vectorize(windows.rvars(0)[0], m.lanes(windows.type()),
                                                     Halide::TailStrategy::GuardWithIf);
}

// An image (c, g, x, y, n): a map of what was computed before, or of `sums` at the same point.
inline void image_of_rows(Halide::Func image, Halide::Func sums, const Machine &m) {
  const std::vector<Halide::Var> to = image.args();
  const int lanes = m.lanes(image.types()[0]), columns = 4 * lanes;
  const Halide::Var block("block"), c = to[0];
  image.split(c, block, c, columns, Halide::TailStrategy::GuardWithIf).vectorize(c, lanes).unroll(c).parallel(to[4]);
  if (!sums.defined()) return;
  const std::vector<Halide::Var> at = sums.args();
  const std::vector<Halide::RVar> k = sums.rvars(0);
  sums.compute_at(image, block).bound_extent(at[0], columns).vectorize(at[0], lanes).unroll(at[0]);
  sums.update().reorder({at[0], k[0], k[1]}).vectorize(at[0], lanes).unroll(at[0]);
}

}  // namespace saltern::schedules
