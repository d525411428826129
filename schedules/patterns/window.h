#pragma once
// Window: out(c, x, y, n) finishes a walk of few steps, w(c, x, y, n), over the window at (x, y), or over the windows
// that cover it.
//
// Channels are innermost in memory, so vectors are along c. A block of channels of one pixel stays in the first-level
// cache for all steps; what a step needs besides (where it reads, whether it is inside) is then worked out once a
// block, not once a vector. Rows of all images run in parallel.

#include "schedules/machine.h"

namespace saltern::schedules {

struct WindowKnobs {
  int channel_vectors = 16;  // vectors of channels in a block
};

// `w` has one update, over the steps. Each of `cases` is a condition on scalars (a common stride, say) that is worth
// code of its own, in which divisions are shifts.
inline void window(Halide::Func out, Halide::Func w, const Machine &m, const std::vector<Halide::Expr> &cases = {},
                   const WindowKnobs &knobs = {}) {
  using Halide::TailStrategy;
  using Halide::Var;
  const int lanes = m.float_lanes(), block = lanes * knobs.channel_vectors;
  const Var c = out.args()[0], x = out.args()[1], y = out.args()[2], n = out.args()[3];
  Var channels("channels"), row("row");
  out.fuse(y, n, row)
      .split(c, channels, c, block, TailStrategy::GuardWithIf)
      .reorder(c, channels, x, row)
      .vectorize(c, lanes, TailStrategy::GuardWithIf)
      .never_partition(channels, x, row)
      .parallel(row);
  const Var along = w.args()[0];
  w.compute_at(out, channels)
      .bound_storage(along, block)
      .store_in(Halide::MemoryType::Stack)
      .vectorize(along, lanes, TailStrategy::GuardWithIf);
  const std::vector<Halide::RVar> steps = w.rvars(0);
  w.update()
      .reorder(along, steps[0], steps[1])
      .vectorize(along, lanes, TailStrategy::GuardWithIf)
      .never_partition(steps[0], steps[1]);
  for (const Halide::Expr &special : cases) out.specialize(special);
}

}  // namespace saltern::schedules
