#pragma once
// Loops of a function, put together and along vectors.

#include <Halide.h>

#include <algorithm>
#include <string>
#include <vector>

namespace saltern::schedules {

// These loops of a stage as one, the first one innermost.
inline Halide::Var fused(Halide::Stage stage, const std::vector<Halide::Var> &loops) {
  Halide::Var all = loops.at(0);
  for (size_t d = 1; d < loops.size(); ++d) {
    const Halide::Var with_next("loops" + std::to_string(d));
    stage.fuse(all, loops[d], with_next);
    all = with_next;
  }
  return all;
}

// All loops of a function as one, those before `first` left out.
inline Halide::Var fused_loops(Halide::Func f, size_t first) {
  const std::vector<Halide::Var> args = f.args();
  return fused(f, {args.begin() + static_cast<std::ptrdiff_t>(first), args.end()});
}

// Cuts dimension c of `out` in the loops (c, blocks), and vectorizes c: blocks of about `columns` elements, of 1 to 4
// vectors, where there are `extent` of them, the last one moved inwards, so that nothing is masked; where there are fewer
// than a vector has, they go one by one. Guarded vectors, which mask their stores, were far slower where extents are below
// a vector: batch norm's statistics of one channel took 65 ns an element on an AMD EPYC (AVX2), and take 2 ns so. `cases`
// are conditions under which the widest block is worth code of its own.
inline void in_blocks(Halide::Func out, const Halide::Var &c, const Halide::Var &blocks, const Halide::Expr &extent,
                      int lanes, int columns, const std::vector<Halide::Expr> &cases = {}) {
  const int widest = std::clamp(columns, lanes, 4 * lanes);
  for (const int width : {widest, lanes}) {
    Halide::Stage stage = out.specialize(extent >= width);
    stage.split(c, blocks, c, width, Halide::TailStrategy::ShiftInwards).vectorize(c, lanes).unroll(c);
    if (width == widest)
      for (const Halide::Expr &special : cases) stage.specialize(special);
    if (widest == lanes) break;
  }
  out.split(c, blocks, c, 1);
}

// A reduction, and what it is made of where it goes along rows by lanes (generators/reduction_code.h).
struct Reduced {
  Halide::Func func;
  std::vector<Halide::Func> parts;
};

// Its elements are made at `level`, partial results before what they are joined to.
inline void along_row(Reduced r, const Halide::LoopLevel &level) {
  r.func.compute_at(level);
  for (Halide::Func part : r.parts) {
    part.compute_at(level).store_in(Halide::MemoryType::Stack).vectorize(part.args()[0]);
    for (int u = 0; u < part.num_update_definitions(); ++u) part.update(u).vectorize(part.rvars(u)[0]);
  }
}

// Vectors run along `column`, and stay for all steps.
inline void along_column(Halide::Func f, const Halide::Var &column, const Halide::LoopLevel &level, int vector,
                         bool unrolled) {
  const auto by_vectors = [&](Halide::Stage loops) {
    loops.vectorize(column, vector, Halide::TailStrategy::GuardWithIf);
    if (unrolled) loops.unroll(column);
  };
  f.compute_at(level);
  by_vectors(f);
  if (!f.has_update_definition()) return;
  std::vector<Halide::VarOrRVar> order = {column};
  for (const Halide::RVar &r : f.rvars(0)) order.emplace_back(r);
  f.update().reorder(order);
  by_vectors(f.update());
}

}  // namespace saltern::schedules
