#pragma once
// Transposition: a copy whose output is dense along its first dimension and whose input along another one.
//
// Blocks of lanes x 2 lanes elements: the vectors that a block loads and stores use whole lines of the cache, where
// element after element along the output touches a line of the input for each.

#include "schedules/machine.h"

namespace saltern::schedules {

// Adds to `out`, a copy of `in`, the cases in which the input is dense along dimension 1 or 2. To be called before any
// other directive on `out`.
inline void transposition(Halide::Func out, const Halide::ImageParam &in, const Machine &m) {
  using Halide::TailStrategy;
  using Halide::Var;
  const int lanes = m.lanes(out.type());
  const Halide::OutputImageParam to = out.output_buffer();
  const std::vector<Var> args = out.args();
  for (const int dense : {1, 2}) {
    const Var row("row"), column("column");
    std::vector<Halide::VarOrRVar> order = {row, column, args[0], args[dense]};
    for (int d = 1; d < static_cast<int>(args.size()); ++d)
      if (d != dense) order.emplace_back(args[d]);
    out.specialize(to.dim(0).stride() == 1 && in.dim(dense).stride() == 1 && to.dim(0).extent() >= lanes &&
                   to.dim(dense).extent() >= 2 * lanes)
        .split(args[0], args[0], row, lanes, TailStrategy::ShiftInwards)
        .split(args[dense], args[dense], column, 2 * lanes, TailStrategy::ShiftInwards)
        .reorder(order)
        .vectorize(row)
        .unroll(column)
        .parallel(args[dense]);
  }
}

}  // namespace saltern::schedules
