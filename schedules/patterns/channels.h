#pragma once
// Channels: vectors along an innermost dimension of any extent, without masks.
//
// The loop is cut in blocks of a fixed width, of which the last is moved inwards and overlaps the one before; where
// there are fewer elements than the narrowest block has, they go one by one. Guarded vectors, which mask their stores,
// were far slower where extents are below a vector: batch norm's statistics of one channel took 65 ns an element on an
// AMD EPYC (AVX2), and take 2 ns so. The price: with many channels (512) a block's walk over rows has a long stride,
// and batch norm's gradient is 3.6 times slower than with guarded vectors along the whole row.

#include <algorithm>
#include <vector>

#include "schedules/machine.h"

namespace saltern::schedules {

struct ChannelKnobs {
  int block = 32;  // elements in a block: as many accumulators of 1 to 4 vectors as fit the registers
};

// Cuts dimension c of the pure function `out` in the loops (c, blocks), and vectorizes c. Where it has `extent`
// elements is told by that expression. `cases` are conditions under which the widest block is worth code of its own.
inline void in_channel_blocks(Halide::Func out, const Halide::Var &c, const Halide::Var &blocks,
                              const Halide::Expr &extent, const Machine &m, const std::vector<Halide::Expr> &cases = {},
                              const ChannelKnobs &knobs = {}) {
  using Halide::TailStrategy;
  const int lanes = m.float_lanes(), widest = std::clamp(knobs.block, lanes, 4 * lanes);
  for (const int width : {widest, lanes}) {
    Halide::Stage stage = out.specialize(extent >= width);
    stage.split(c, blocks, c, width, TailStrategy::ShiftInwards).vectorize(c, lanes).unroll(c);
    if (width == widest)
      for (const Halide::Expr &special : cases) stage.specialize(special);
    if (widest == lanes) break;
  }
  out.split(c, blocks, c, 1);
}

// Computes f, which `out` reads, a block at a time: what f accumulates stays in registers.
inline void at_channel_block(Halide::Func f, Halide::Func out, const Halide::Var &blocks, const Halide::Expr &extent,
                             const Machine &m) {
  const int lanes = m.float_lanes();
  const Halide::Var c = f.args()[0];
  f.compute_at(out, blocks).store_in(Halide::MemoryType::Stack);
  f.specialize(extent >= lanes).vectorize(c, lanes, Halide::TailStrategy::GuardWithIf);
  if (!f.has_update_definition()) return;
  std::vector<Halide::VarOrRVar> order = {c};
  for (const Halide::RVar &r : f.rvars(0)) order.emplace_back(r);
  f.update().reorder(order).never_partition(std::vector<Halide::VarOrRVar>(order.begin() + 1, order.end()));
  f.update().specialize(extent >= lanes).vectorize(c, lanes, Halide::TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
