#pragma once
// Contraction: y(column, row, ...) reduces over k one operand that varies with column and one that varies with row.
//
// A register tile of rows x (column_vectors * lanes) accumulators stays in registers across all of k, and the
// operand that varies with column is packed, a panel of tile columns at a time. Packing is scheduling: the
// algorithm never mentions it, and the operand may be stored either way round.
//
// Any extents: a tile past the edge computes on what the operands read as outside (the caller pads `packed` and
// repeats the edge of the other), and stores are guarded.

#include <string>

#include "schedules/knobs.h"
#include "schedules/machine.h"

namespace saltern::schedules {

struct ContractionKnobs {
  int column_vectors;  // vectors of columns in the register tile
  int rows;            // rows in the register tile
  int unroll_k;        // steps of k in one turn of the innermost loop

  static std::vector<KnobField<ContractionKnobs>> fields() {
    return {{"column_vectors", &ContractionKnobs::column_vectors, {1, 2, 3, 4}},
            {"rows", &ContractionKnobs::rows, {2, 3, 4, 5, 6, 8, 10, 12, 14}},
            {"unroll_k", &ContractionKnobs::unroll_k, {1, 2, 4, 8}}};
  }

  // The widest tile whose accumulators, one row of loads and one broadcast fit the register file.
  static ContractionKnobs fitting(const Machine &m) {
    return m.vector_registers >= 32 ? ContractionKnobs{4, 6, 1} : ContractionKnobs{2, 6, 1};
  }
};

// `out` is a pure copy of y (an epilogue may follow), and `packed` the operand that varies with column.
inline void contraction(Halide::Func out, Halide::Func y, Halide::Func packed, const Machine &m,
                        const ContractionKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  const Var column = y.args()[0], row = y.args()[1];
  const Halide::RVar k = y.rvars(0)[0];
  const int lanes = m.lanes(y.type()), columns = knobs.column_vectors * lanes;

  Var c("c"), r("r"), tile_column("tile_column"), tile_row("tile_row");
  out.split(out.args()[0], tile_column, c, columns, TailStrategy::GuardWithIf)
      .split(out.args()[1], tile_row, r, knobs.rows, TailStrategy::GuardWithIf)
      .reorder(c, r, tile_row, tile_column)
      .vectorize(c, lanes)
      .unroll(c)
      .unroll(r)
      .parallel(tile_column);

  y.compute_at(out, tile_row).bound_extent(column, columns).bound_extent(row, knobs.rows);
  y.vectorize(column, lanes).unroll(column).unroll(row);
  y.update().reorder(column, row, k).vectorize(column, lanes).unroll(column).unroll(row);

  Halide::Func panel = packed.in(y);
  const Var along_k = panel.args()[0], along_column = panel.args()[1];
  panel.compute_at(out, tile_column)
      .reorder_storage(along_column, along_k)
      .bound_extent(along_column, columns)
      .reorder(along_k, along_column)
      .vectorize(along_column, lanes)
      .unroll(along_column);
}

}  // namespace saltern::schedules
