#pragma once
// Contraction: y(column, row, ...) reduces over k one operand that varies with column and one that varies with row.
// Matrix products and dense layers are of this kind, and so are convolutions (convolution.h).
//
// A register tile of rows x (column_vectors * lanes) accumulators stays in registers across all of k, and the
// operand that varies with column is packed, a panel of tile columns at a time. Packing is scheduling: the
// algorithm never mentions it, and the operand may be stored either way round.
//
// Any extents: a tile past the edge computes on what the operands read as outside (the caller pads), and stores are
// guarded.

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

  // Accumulators, one row of loads and one broadcast fit the register file. With 32 registers, 6 rows of 4 vectors read the
  // other operand half as often (3 % at 1024 cubed on a Zen 4), where there are columns to fill them; else half of them is
  // idle at 32 columns, which heads of attention have (50 GF/s instead of 88 to 104 with 8 rows of 2 vectors).
  static ContractionKnobs fitting(const Machine &m, const Halide::Expr &columns = {}) {
    if (m.vector_registers < 32) return {2, 6, 1};
    const auto known = columns.defined() ? Halide::Internal::as_const_int(columns) : std::nullopt;
    const int64_t count = known.value_or(1), wide = 4 * m.float_lanes();
    return count % wide == 0 || count > 4 * wide ? ContractionKnobs{4, 6, 1} : ContractionKnobs{2, 8, 1};
  }
  // A convolution's rows are pixels, each with an address of its own: no more of them than registers for addresses.
  static ContractionKnobs fitting_convolution(const Machine &m) {
    return m.vector_registers >= 32 ? ContractionKnobs{2, 12, 1} : ContractionKnobs{2, 6, 1};
  }
};

struct Contraction {
  Halide::Func out;  // a pure function of y at the same point: y itself or an epilogue
  Halide::Func y;
  Halide::Func packed;  // the operand that varies with column,
  int packed_column;    // and which of its dimensions that is
  int row = 1;          // the dimension of y that is tiled beside column
};

// A tile of y in registers, summed over the whole of k: its columns by `lanes`, its rows along dimension `row`.
inline void register_tile(Halide::Func y, int row, const Halide::LoopLevel &at, int lanes,
                          const ContractionKnobs &knobs) {
  const std::vector<Halide::Var> args = y.args();
  y.compute_at(at).bound_extent(args[0], knobs.column_vectors * lanes).bound_extent(args[row], knobs.rows);
  y.vectorize(args[0], lanes).unroll(args[0]).unroll(args[row]);
  Halide::Stage sum = y.update();
  std::vector<Halide::VarOrRVar> order = {args[0], args[row]};
  std::vector<Halide::RVar> k = y.rvars(0);
  if (knobs.unroll_k > 1) {
    Halide::RVar step("step");
    sum.split(k[0], k[0], step, knobs.unroll_k, Halide::TailStrategy::GuardWithIf).unroll(step);
    order.emplace_back(step);
  }
  order.insert(order.end(), k.begin(), k.end());
  sum.reorder(order).vectorize(args[0], lanes).unroll(args[0]).unroll(args[row]);
}

// A panel of `columns` columns of what y multiplies, those columns innermost.
inline void packed_panel(Halide::Func operand, int column, const Halide::Func &y, const Halide::LoopLevel &at,
                         int lanes, int columns) {
  Halide::Func panel = operand.in(y);
  const std::vector<Halide::Var> p = panel.args();
  const Halide::Var along_column = p[column];
  std::vector<Halide::Var> storage = {along_column};
  std::vector<Halide::VarOrRVar> fill = {p[0], along_column};
  for (size_t d = 0; d < p.size(); ++d) {
    if (static_cast<int>(d) == column) continue;
    storage.push_back(p[d]);
    if (d > 0) fill.emplace_back(p[d]);
  }
  if (column == 0) fill.erase(fill.begin());
  panel.compute_at(at)
      .reorder_storage(storage)
      .bound_extent(along_column, columns)
      .reorder(fill)
      .vectorize(along_column, lanes)
      .unroll(along_column);
}

inline void contraction(Contraction c, const Machine &m, const ContractionKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  const std::vector<Var> to = c.out.args();
  const int lanes = m.lanes(c.y.type()), columns = knobs.column_vectors * lanes;
  const Var column("column"), row("row"), tile_column("tile_column"), tile_row("tile_row");

  std::vector<Halide::VarOrRVar> order = {column, row, tile_row, tile_column};
  for (int d = 1; d < static_cast<int>(to.size()); ++d)
    if (d != c.row) order.emplace_back(to[d]);
  c.out.split(to[0], tile_column, column, columns, TailStrategy::GuardWithIf)
      .split(to[c.row], tile_row, row, knobs.rows, TailStrategy::GuardWithIf)
      .reorder(order)
      .vectorize(column, lanes)
      .unroll(column)
      .unroll(row)
      .parallel(tile_column);
  // Inside a parallel loop another one runs serially, so that few tiles or few images both leave no core idle.
  if (order.size() > 4) c.out.parallel(order.back());

  register_tile(c.y, c.row, {c.out, tile_row}, lanes, knobs);
  packed_panel(c.packed, c.packed_column, c.y, {c.out, tile_column}, lanes, columns);
}

}  // namespace saltern::schedules
