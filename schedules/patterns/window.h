#pragma once
// Window: out(c, x, y, n) finishes a walk of few steps, w(c, x, y, n), over the window at (x, y), or over the windows
// that cover it.
//
// Channels are innermost in memory, so vectors are along c. A block of channels of one pixel stays in registers for all
// steps: its vectors are unrolled, or LLVM keeps them in memory, and sets zeros there by halves of a vector, for which
// the first load of AVX-512 waits (a halving pool took twice to three times as long on an AMD EPYC). What a step needs
// besides (where it reads, whether it is inside) is worked out once a block, not once a vector. Rows of all images run in
// parallel.

#include "schedules/loops.h"
#include "schedules/machine.h"

namespace saltern::schedules {

// `w` has one update, over the steps. Each of `cases` is a condition on scalars (a common stride, say) that is worth
// code of its own, in which divisions are shifts.
inline void window(Halide::Func out, Halide::Func w, const Machine &m, const std::vector<Halide::Expr> &cases = {}) {
  using Halide::TailStrategy;
  using Halide::Var;
  const std::vector<Var> to = out.args();
  const Halide::Expr channels = out.output_buffers()[0].dim(0).extent();
  const int lanes = m.float_lanes();
  const Var blocks("blocks"), row("row"), c = w.args()[0];
  out.fuse(to[2], to[3], row).never_partition(to[1], row).parallel(row);
  // The three colours of a picture are no vector, but a block.
  constexpr int colours = 3;
  const Halide::Expr is_picture = channels == colours;
  Halide::Stage picture = out.specialize(is_picture);
  picture.split(to[0], blocks, to[0], colours, TailStrategy::ShiftInwards).unroll(to[0]);
  for (const Halide::Expr &special : cases) picture.specialize(special);
  // Nor are channels that are fewer than a vector has, but they are parts of one.
  constexpr int part = 4;
  const Halide::Expr are_few = channels >= part && channels < lanes;
  Halide::Stage few = out.specialize(are_few);
  few.split(to[0], blocks, to[0], part, TailStrategy::ShiftInwards).vectorize(to[0]);
  for (const Halide::Expr &special : cases) few.specialize(special);
  in_blocks(out, to[0], blocks, channels, lanes, 32, cases);
  w.compute_at(out, blocks).store_in(Halide::MemoryType::Stack);
  const auto in_registers = [&](Halide::Stage stage) {
    stage.specialize(is_picture).unroll(c, colours, TailStrategy::GuardWithIf);
    stage.specialize(are_few).vectorize(c, part, TailStrategy::GuardWithIf);
    stage.specialize(channels >= lanes).vectorize(c, lanes, TailStrategy::GuardWithIf).unroll(c);
  };
  in_registers(w);
  if (!w.has_update_definition()) return;
  const std::vector<Halide::RVar> r = w.rvars(0);
  const std::vector<Halide::VarOrRVar> steps(r.begin(), r.end());
  std::vector<Halide::VarOrRVar> order = {c};
  order.insert(order.end(), steps.begin(), steps.end());
  w.update().reorder(order).never_partition(steps);
  in_registers(w.update());
}

}  // namespace saltern::schedules
