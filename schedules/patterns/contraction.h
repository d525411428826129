#pragma once
// Contraction: y(column, row, ...) reduces over k one operand that varies with column and one that varies with row.
// Matrix products, dense layers and convolutions (column: channel, row: pixel of an image row) are all of this kind.
//
// A register tile of rows x (column_vectors * lanes) accumulators stays in registers across all of k, and the
// operand that varies with column is packed, a panel of tile columns at a time. Packing is scheduling: the
// algorithm never mentions it, and the operand may be stored either way round.
//
// Any extents: a tile past the edge computes on what the operands read as outside (the caller pads), and stores are
// guarded.

#include <optional>
#include <vector>

#include "schedules/knobs.h"
#include "schedules/machine.h"

namespace saltern::schedules {

struct ContractionKnobs {
  int column_vectors;  // vectors of columns in the register tile
  int rows;            // rows in the register tile
  int unroll_k;        // steps of k in one turn of the innermost loop

  static std::vector<KnobField<ContractionKnobs>> fields() {
    return {{"column_vectors", &ContractionKnobs::column_vectors, {1, 2, 3, 4}},
            {"rows", &ContractionKnobs::rows, {2, 3, 4, 5, 6, 7, 8, 10, 12, 14}},
            {"unroll_k", &ContractionKnobs::unroll_k, {1, 2, 4, 8}}};
  }

  // The widest tile whose accumulators, one row of loads and one broadcast fit the register file.
  static ContractionKnobs fitting(const Machine &m) {
    return m.vector_registers >= 32 ? ContractionKnobs{4, 6, 1} : ContractionKnobs{2, 6, 1};
  }
  // A convolution's rows are pixels of an image row; 14 divides those of the usual nets.
  static ContractionKnobs fitting_convolution(const Machine &m) {
    return m.vector_registers >= 32 ? ContractionKnobs{2, 14, 1} : ContractionKnobs{2, 6, 1};
  }
};

struct Contraction {
  Halide::Func out;  // a pure function of y at the same point: y itself or an epilogue
  Halide::Func y;
  Halide::Func packed;                      // the operand that varies with column,
  int packed_column;                        // and which of its dimensions that is
  int row = 1;                              // the dimension of y that is tiled beside column
  std::vector<int> inside = {};             // dimensions that are looped over while a panel stays packed
  std::optional<Halide::Func> staged = {};  // an operand to compute once for each outermost index
};

inline void contraction(Contraction c, const Machine &m, const ContractionKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  const std::vector<Var> at = c.y.args(), to = c.out.args();
  const int lanes = m.lanes(c.y.type()), columns = knobs.column_vectors * lanes;
  const Var column("column"), row("row"), tile_column("tile_column"), tile_row("tile_row");

  std::vector<Halide::VarOrRVar> order = {column, row, tile_row};
  std::vector<bool> placed(to.size(), false);
  placed[0] = placed[c.row] = true;
  for (int d : c.inside) {
    order.emplace_back(to[d]);
    placed[d] = true;
  }
  order.emplace_back(tile_column);
  for (size_t d = 0; d < to.size(); ++d)
    if (!placed[d]) order.emplace_back(to[d]);

  c.out.split(to[0], tile_column, column, columns, TailStrategy::GuardWithIf)
      .split(to[c.row], tile_row, row, knobs.rows, TailStrategy::GuardWithIf)
      .reorder(order)
      .vectorize(column, lanes)
      .unroll(column)
      .unroll(row)
      .parallel(tile_column);
  // Inside a parallel loop another one runs serially, so that few tiles or few images both leave no core idle.
  if (!placed.back()) c.out.parallel(to.back());

  c.y.compute_at(c.out, tile_row).bound_extent(at[0], columns).bound_extent(at[c.row], knobs.rows);
  c.y.vectorize(at[0], lanes).unroll(at[0]).unroll(at[c.row]);
  Halide::Stage sum = c.y.update();
  std::vector<Halide::VarOrRVar> sum_order = {at[0], at[c.row]};
  std::vector<Halide::RVar> k = c.y.rvars(0);
  if (knobs.unroll_k > 1) {
    Halide::RVar step("step");
    sum.split(k[0], k[0], step, knobs.unroll_k, TailStrategy::GuardWithIf).unroll(step);
    sum_order.emplace_back(step);
  }
  sum_order.insert(sum_order.end(), k.begin(), k.end());
  sum.reorder(sum_order).vectorize(at[0], lanes).unroll(at[0]).unroll(at[c.row]);

  Halide::Func panel = c.packed.in(c.y);
  const std::vector<Var> p = panel.args();
  const Var along_column = p[c.packed_column];
  std::vector<Var> storage = {along_column};
  std::vector<Halide::VarOrRVar> fill = {p[0], along_column};
  for (size_t d = 0; d < p.size(); ++d) {
    if (static_cast<int>(d) == c.packed_column) continue;
    storage.push_back(p[d]);
    if (d > 0) fill.emplace_back(p[d]);
  }
  if (c.packed_column == 0) fill.erase(fill.begin());
  panel.compute_at(c.out, tile_column)
      .reorder_storage(storage)
      .bound_extent(along_column, columns)
      .reorder(fill)
      .vectorize(along_column, lanes)
      .unroll(along_column);

  if (c.staged) c.staged->compute_at(c.out, to.back()).vectorize(c.staged->args()[0], lanes, TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
