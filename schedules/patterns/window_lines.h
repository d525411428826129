#pragma once
// Windows of lines (forms/window_lines.h): vectors are along runs, and an image with its padding stays in the cache.

#include "schedules/machine.h"

namespace saltern::schedules {

inline void window_lines(Halide::Func windows, Halide::Func padded, const Machine &m) {
  const Halide::Var r = windows.args()[0], n = windows.args()[4];
  const int lanes = m.float_lanes();
  windows.vectorize(r, lanes, Halide::TailStrategy::GuardWithIf).parallel(n);
  padded.compute_at(windows, n).vectorize(padded.args()[0], lanes, Halide::TailStrategy::RoundUp);
}

// Windows one below the other come after each other: a run that overlaps the one just written would wait for it.
inline void image_of_window_lines(Halide::Func image, Halide::Func sums, const Machine &m) {
  const Halide::Var l = image.args()[0], n = image.args()[2];
  const int lanes = m.float_lanes();
  const std::vector<Halide::RVar> at = sums.rvars(0);
  image.vectorize(l, lanes, Halide::TailStrategy::GuardWithIf).parallel(n);
  sums.compute_at(image, n).vectorize(sums.args()[0], lanes, Halide::TailStrategy::RoundUp);
  sums.update()
      .allow_race_conditions()
      .reorder(at[0], at[1], at[2], at[3])
      .vectorize(at[0], lanes, Halide::TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
