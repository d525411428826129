#pragma once
// Formulas: each element of the output from whatever elements of the inputs its formula reads, with reductions of any
// kind inside. A reduction is computed for one vector of the output at a time, and stays in registers. Vectors never
// reach past the output's end, since formulas read their inputs at indices that are right inside of it only: the last
// one is shifted inwards, and is no longer than a row.

#include <algorithm>
#include <vector>

#include "schedules/patterns/elementwise.h"

namespace saltern::schedules {

// A reduction inside the formula.
struct FormulaStage {
  Halide::Func func;
  int along;    // the argument that the output's vectors run along; -1: none does
  bool nested;  // computed inside another reduction: left to where it is used
};

// `row` is the extent of the output's innermost dimension.
inline void formula(Halide::Func out, const std::vector<FormulaStage> &stages, int row, const Machine &m) {
  if (stages.empty()) return elementwise(out, m);
  using Halide::TailStrategy;
  using Halide::Var;
  const std::vector<Var> args = out.args();
  const int lanes = std::min(m.float_lanes(), row);
  Var vectors("vectors"), lane("lane"), rows("rows");
  out.split(args[0], vectors, lane, lanes, TailStrategy::ShiftInwards).vectorize(lane);
  Var outer = vectors;
  for (size_t d = 1; d < args.size(); ++d) {
    const Var fused("rows" + std::to_string(d));
    out.fuse(outer, args[d], fused);
    outer = fused;
  }
  out.parallel(outer);
  for (FormulaStage s : stages) {
    if (s.nested) continue;
    s.func.compute_at(out, outer).store_in(Halide::MemoryType::Stack);
    if (s.along < 0) continue;
    const Var along = s.func.args()[static_cast<size_t>(s.along)];
    s.func.bound_extent(along, lanes).vectorize(along, lanes);
    std::vector<Halide::VarOrRVar> order = {along};
    for (const Halide::RVar &r : s.func.rvars(0)) order.emplace_back(r);
    s.func.update().reorder(order).vectorize(along, lanes);
  }
}

}  // namespace saltern::schedules
