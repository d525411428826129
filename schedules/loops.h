#pragma once
// Loops of a function, put together and along vectors.

#include <Halide.h>

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
