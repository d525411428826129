#pragma once
// Reduction of x(a, r, b) over r, where a is innermost in memory.
//
// A tile of one vector of a is reduced at a time, and tiles are shared out to threads; r itself is never shared out,
// so the order of the reduction, and the bits of its result, do not depend on the number of threads.

#include "schedules/machine.h"

namespace saltern::schedules {

struct ReductionKnobs {
  int chunk = 16384;  // elements of x in a task
};

// Tiles `out`, a pure function of the reduction at the same place; returns the loop over the tiles of one task.
inline Halide::Var reduction_tiles(Halide::Stage out, const std::vector<Halide::Var> &args, int width,
                                   const Halide::ImageParam &x, const ReductionKnobs &knobs,
                                   Halide::TailStrategy tail = Halide::TailStrategy::GuardWithIf) {
  Halide::Var tile("tile"), a("a"), all("all"), task("task"), in_task("in_task");
  const Halide::Expr tiles = Halide::max(1, knobs.chunk / Halide::max(1, x.dim(1).extent() * width));
  out.split(args[0], tile, a, width, tail)
      .fuse(tile, args[1], all)
      .split(all, task, in_task, tiles, Halide::TailStrategy::GuardWithIf)
      .parallel(task);
  return in_task;
}

// `y` reduces by an associative operator: one partial result a lane where r is the dimension that is dense in memory.
inline void associative_reduction(Halide::Func out, Halide::Func y, const Halide::ImageParam &x, const Machine &m,
                                  const ReductionKnobs &knobs = {}) {
  using Halide::TailStrategy;
  const int lanes = m.lanes(y.type());
  const Halide::Var in_task = reduction_tiles(out, out.args(), lanes, x, knobs), a = y.args()[0], lane("lane");
  const Halide::RVar r = y.rvars(0)[0], turn("turn"), in_turn("in_turn");
  y.update().split(r, turn, in_turn, lanes, TailStrategy::GuardWithIf);
  Halide::Func partial = y.update().rfactor(in_turn, lane);
  y.compute_at(out, in_task);
  partial.compute_at(out, in_task).reorder_storage(lane, partial.args()[0]);
  partial.update().reorder(lane, a, turn);
  // The loop over a is outside, so that what is summed stays in a register.
  partial.update()
      .specialize(x.dim(0).extent() == 1 && x.dim(1).stride() == 1)
      .reorder(lane, turn, a)
      .vectorize(lane, lanes, TailStrategy::GuardWithIf);
  partial.update()
      .specialize(x.dim(0).stride() == 1)
      .reorder(a, lane, turn)
      .vectorize(a, lanes, TailStrategy::GuardWithIf);
}

// `y` reduces in the order of r. Where there are that many, four vectors of a are a tile: their steps do not wait for
// each other, and a row of x gives whole lines of memory.
inline void ordered_reduction(Halide::Func out, Halide::Func y, const Halide::ImageParam &x, const Machine &m,
                              const ReductionKnobs &knobs = {}) {
  using Halide::TailStrategy;
  const int lanes = m.lanes(y.types()[0]), vectors = 4;
  const Halide::Var a = y.args()[0];
  const Halide::Expr wide = x.dim(0).stride() == 1 && x.dim(0).extent() >= vectors * lanes;
  reduction_tiles(out.specialize(wide), out.args(), vectors * lanes, x, knobs, TailStrategy::ShiftInwards);
  y.compute_at(out, reduction_tiles(out, out.args(), lanes, x, knobs));
  y.update().reorder(a, y.rvars(0)[0]);
  y.update()
      .specialize(wide)
      .vectorize(a, lanes, TailStrategy::GuardWithIf)
      .unroll(a, vectors, TailStrategy::GuardWithIf);
  // Fewer elements than a vector has go one by one: a mask on every load of a long reduction is far slower.
  y.update().specialize(x.dim(0).extent() < lanes).reorder(y.rvars(0)[0], a);
  y.update().specialize(x.dim(0).stride() == 1).vectorize(a, lanes, TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
