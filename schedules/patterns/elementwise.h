#pragma once
// Elementwise: each element of the output is computed from those at the same place of the inputs, once.
//
// Elements are computed a vector at a time and shared out to threads a chunk at a time; what fits one chunk makes one
// task, which the pool runs in place. Every element is stored exactly once, after all it needs was loaded, so an
// output may be the same memory as an input.

#include <string>
#include <vector>

#include "schedules/machine.h"

namespace saltern::schedules {

struct ElementwiseKnobs {
  int chunk = 16384;  // elements in a task: 64 KB of f32 for each operand, some 5 us of work
};

// Shares the elements of `out` out to threads; returns the variable that runs inside a chunk, to vectorize.
inline Halide::Var in_chunks(Halide::Func out, const ElementwiseKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  const std::vector<Var> args = out.args();
  Var chunk("chunk"), element("element");
  if (args.size() == 1) {
    out.split(args[0], chunk, element, knobs.chunk, TailStrategy::GuardWithIf).parallel(chunk);
    return element;
  }
  // Rows may be short: a chunk is no longer than a row (the guard of a constant chunk would be asked 16384 times for
  // each row of 16), and a task takes as many rows as make a chunk.
  const Halide::Expr extent = Halide::max(1, out.output_buffer().dim(0).extent());
  out.split(args[0], chunk, element, Halide::min(knobs.chunk, extent), TailStrategy::GuardWithIf);
  Var row = args[1], rows("rows"), row_in_task("row_in_task"), task("task");
  for (size_t d = 2; d < args.size(); ++d) {
    const Var fused("row" + std::to_string(d));
    out.fuse(row, args[d], fused);
    row = fused;
  }
  out.split(row, rows, row_in_task, Halide::max(1, knobs.chunk / extent), TailStrategy::GuardWithIf)
      .reorder(element, row_in_task, chunk, rows)
      .fuse(chunk, rows, task)
      .parallel(task)
      .never_partition(task, row_in_task);
  return element;
}

// Inputs and outputs whose innermost stride is one.
inline void elementwise(Halide::Func out, const Machine &m, const ElementwiseKnobs &knobs = {}) {
  const Halide::Var element = in_chunks(out, knobs);
  out.vectorize(element, m.lanes(out.types()[0]), Halide::TailStrategy::GuardWithIf);
}

// Inputs and outputs whose innermost strides are free. Each of `vectorizable` is a condition on strides under which
// vectors can be loaded and stored as such; where none holds, elements go one by one.
inline void elementwise(Halide::Func out, const std::vector<Halide::Expr> &vectorizable, const Machine &m,
                        const ElementwiseKnobs &knobs = {}) {
  const Halide::Var element = in_chunks(out, knobs);
  for (const Halide::Expr &condition : vectorizable)
    out.specialize(condition).vectorize(element, m.lanes(out.types()[0]), Halide::TailStrategy::GuardWithIf);
}

// The condition that the innermost strides are these.
inline Halide::Expr innermost_strides(const std::vector<Halide::OutputImageParam> &buffers,
                                      const std::vector<int> &strides) {
  Halide::Expr all = Halide::Internal::const_true();
  for (size_t i = 0; i < buffers.size(); ++i) all = all && buffers[i].dim(0).stride() == strides[i];
  return all;
}

}  // namespace saltern::schedules
