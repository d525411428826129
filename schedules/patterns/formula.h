#pragma once
// Formulas: each element of the output from whatever elements of the inputs its formula reads, with reductions of any
// kind inside.
//
//   vectors     run along the output's innermost dimension. They never reach past its end, since formulas read their
//               inputs at indices that are right inside of it only: the last one is shifted inwards, and is no longer
//               than a row.
//   points      are the loops over those dimensions that all reductions depend on, the outer ones; the others are inside
//               of them. So what a norm or a softmax reduces of a row is computed once a row, whose elements are in the
//               cache when it is used. Points are shared out to threads, and stay on one by the time that they take.
//   reductions  are computed at a point, and stay in registers. By columns, a vector of results at a time; by rows, as
//               vectors of partial results along a step (FormulaStage::parts).

#include <algorithm>
#include <string>
#include <vector>

#include "schedules/patterns/elementwise.h"

namespace saltern::schedules {

// A reduction inside the formula.
struct FormulaStage {
  Halide::Func func;
  std::vector<int> dimensions;      // of the output, innermost first, that its arguments are; -1: another one's step
  std::vector<Halide::Func> parts;  // by rows: vectors of partial results along the first argument of each
  int64_t steps;                    // that it takes for each of its elements

  bool is_nested() const { return has(-1); }  // computed inside another reduction: left to where it is used
  bool has(int dimension) const {
    return std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end();
  }
};

namespace formula_detail {

// Which of the output's dimensions all reductions that depend on any depend on; all where there is none.
inline std::vector<bool> shared_dimensions(const std::vector<FormulaStage> &stages, size_t rank) {
  std::vector<bool> shared(rank, true);
  for (const FormulaStage &s : stages)
    if (!s.is_nested() && !s.dimensions.empty())
      for (size_t d = 0; d < rank; ++d)
        if (!s.has(static_cast<int>(d))) shared[d] = false;
  if (std::find(shared.begin(), shared.end(), true) == shared.end()) shared.assign(rank, true);
  return shared;
}

// The elements of a vector along a row of this length.
inline int vector_of(const std::vector<FormulaStage> &stages, int row, const Machine &m) {
  const int lanes = std::min(m.float_lanes(), row);
  // What is shifted inwards is computed twice, which is not for what takes a row for each element.
  for (const FormulaStage &s : stages)
    if (!s.parts.empty() && s.has(0))
      for (int divisor = lanes; divisor > 0; --divisor)
        if (row % divisor == 0) return divisor;
  return lanes;
}

// Partial results before what they are joined to, at each element of the reduction.
inline void by_rows(const FormulaStage &s) {
  for (Halide::Func part : s.parts) {
    if (s.dimensions.empty())
      part.compute_root();
    else
      part.compute_at(s.func, s.func.args()[0]);
    part.store_in(Halide::MemoryType::Stack).vectorize(part.args()[0]);
    for (int u = 0; u < part.num_update_definitions(); ++u) part.update(u).vectorize(part.rvars(u)[0]);
  }
}

// A vector of results at a time, which the argument `along` runs over.
inline void by_columns(Halide::Func f, const Halide::Var &along, int lanes) {
  f.bound_extent(along, lanes).vectorize(along, lanes);
  std::vector<Halide::VarOrRVar> order = {along};
  for (const Halide::RVar &r : f.rvars(0)) order.emplace_back(r);
  f.update().reorder(order).vectorize(along, lanes);
}

}  // namespace formula_detail

// `extents` are those of the output, innermost first.
inline void formula(Halide::Func out, const std::vector<FormulaStage> &stages, const std::vector<int> &extents,
                    const Machine &m, const ElementwiseKnobs &knobs = {}) {
  using Halide::TailStrategy;
  using Halide::Var;
  if (stages.empty()) return elementwise(out, m, knobs);
  const std::vector<bool> shared = formula_detail::shared_dimensions(stages, extents.size());
  const int lanes = formula_detail::vector_of(stages, extents[0], m);
  Var vectors("vectors"), lane("lane"), task("task"), point("point");
  out.split(out.args()[0], vectors, lane, lanes, TailStrategy::ShiftInwards).vectorize(lane);
  std::vector<Var> loops = out.args();  // one for each dimension
  loops[0] = vectors;
  std::vector<Halide::VarOrRVar> order = {lane};
  std::vector<Var> outer;
  int64_t points = 1, elements = lanes;  // how many there are, and what one computes
  for (size_t d = 0; d < loops.size(); ++d) {
    const int64_t extent = d == 0 ? (extents[0] + lanes - 1) / lanes : extents[d];
    (shared[d] ? points : elements) *= extent;
    if (shared[d])
      outer.push_back(loops[d]);
    else
      order.emplace_back(loops[d]);
  }
  order.insert(order.end(), outer.begin(), outer.end());
  out.reorder(order);
  Var all = outer[0];
  for (size_t d = 1; d < outer.size(); ++d) {
    const Var fused("points" + std::to_string(d));
    out.fuse(all, outer[d], fused);
    all = fused;
  }
  for (const FormulaStage &s : stages) elements += s.steps * (s.has(0) ? lanes : 1);
  const auto in_task = static_cast<int>(std::clamp<int64_t>(knobs.chunk / elements, 1, points));
  out.split(all, task, point, in_task, TailStrategy::GuardWithIf).parallel(task).never_partition(task, point);

  for (FormulaStage s : stages) {
    if (s.is_nested()) continue;
    // In the innermost of the loops that it depends on.
    Var level = point;
    for (size_t d = loops.size(); d-- > 0;)
      if (s.has(static_cast<int>(d)) && !shared[d]) level = loops[d];
    if (s.dimensions.empty())
      s.func.compute_root();
    else
      s.func.compute_at(out, level).store_in(Halide::MemoryType::Stack);
    if (!s.parts.empty())
      formula_detail::by_rows(s);
    else if (s.has(0))
      formula_detail::by_columns(s.func, s.func.args()[0], lanes);
  }
}

}  // namespace saltern::schedules
