#pragma once
// Window: out(c, x, y, n) finishes a walk of few steps, w(c, x, y, n), over the window at (x, y), or over the windows
// that cover it.
//
// Channels are innermost in memory, so vectors are along c. A block of channels of one pixel stays in registers for all
// steps; what a step needs besides (where it reads, whether it is inside) is worked out once a block, not once a
// vector. Rows of all images run in parallel.

#include "schedules/patterns/channels.h"

namespace saltern::schedules {

// `w` has one update, over the steps. Each of `cases` is a condition on scalars (a common stride, say) that is worth
// code of its own, in which divisions are shifts.
inline void window(Halide::Func out, Halide::Func w, const Machine &m, const std::vector<Halide::Expr> &cases = {}) {
  using Halide::Var;
  const Var c = out.args()[0], x = out.args()[1], y = out.args()[2], n = out.args()[3];
  const Halide::Expr channels = out.output_buffers()[0].dim(0).extent();
  Var blocks("blocks"), row("row");
  out.fuse(y, n, row).never_partition(x, row).parallel(row);
  in_channel_blocks(out, c, blocks, channels, m, cases);
  at_channel_block(w, out, blocks, channels, m);
}

}  // namespace saltern::schedules
