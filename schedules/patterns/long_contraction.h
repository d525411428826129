#pragma once
// A contraction (contraction.h) of many steps whose operand that varies with row is dense along rows, not along k: the
// gradient of weights, whose steps are the rows of a batch.
//
//   y(column, row) = sum_k a(column, k) b(row, k)
//
// Each step of a register tile then reads a line of memory of its own, a whole row of b away from the last: 2048 steps of
// 1024 rows went at 55 to 68 GF/s of 110 on an AMD Zen 4. So k goes in stretches, and of each stretch blocks of rows are
// copied together beside the panel of columns: 91 to 95 GF/s. Stretches have a fixed length and are added up in order: any number
// of threads gives the same bits.

#include <optional>

#include "schedules/known_sizes.h"
#include "schedules/patterns/contraction.h"

namespace saltern::schedules {

struct LongContraction {
  Contraction tiles;    // whose y has two dimensions
  Halide::Func by_row;  // the operand that varies with row
  int rows;             // how many
  int stretch;          // of k, which it divides
};

// The length of stretches for so many steps: 0 where there are too few, or none that divides them.
inline int stretch_of(int64_t steps) {
  if (steps < 512) return 0;
  for (int length = 384; length >= 128; --length)
    if (steps % length == 0) return length;
  return 0;
}

// One of two dimensions, whose rows lie side by side in memory, and so many that steps meet in the same lines of the cache:
// other ones go as fast in one stretch.
inline std::optional<LongContraction> long_contraction_of(const formula::Stage &s,
                                                          const std::optional<Contraction> &tiles,
                                                          const Halide::Func &by_row) {
  constexpr int64_t apart = 2048;  // bytes
  if (s.rank != 2 || s.extents.size() != 3 || !tiles || !by_row.defined()) return {};
  const formula::Contraction c = *formula::contraction_of(s);
  const int64_t rows = known(s.extents[0]);
  const int stretch = stretch_of(known(s.extents[2]));
  const bool is_apart = rows > 0 && rows * tiles->y.types()[0].bytes() % apart == 0;
  if (stretch == 0 || !is_apart || c.where.defined()) return {};
  if (!is_same(c.by_row->arguments.back(), formula::axis(c.row))) return {};
  return LongContraction{*tiles, by_row, static_cast<int>(rows), stretch};
}

// Computes y as a whole; what is made of it comes behind.
inline void long_contraction(const LongContraction &c, const Machine &m, const ContractionKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  Halide::Func y = c.tiles.y;
  const Var column = y.args()[0], row = y.args()[1];
  const int lanes = m.lanes(y.type()), columns = knobs.column_vectors * lanes;
  // Blocks are shared out evenly: tiles of the last one are computed whether they have rows or not.
  const int most_tiles = 32, tiles = (c.rows + knobs.rows - 1) / knobs.rows,
            blocks = (tiles + most_tiles - 1) / most_tiles, tiles_in_block = (tiles + blocks - 1) / blocks;
  const Var tile_column("tile_column"), tile_row("tile_row"), block("block"), stretch("stretch");
  const Halide::RVar k = y.rvars(0)[0], stretches("stretches"), step("step");
  y.update().split(k, stretches, step, c.stretch);
  Halide::Func sums = y.update().rfactor(stretches, stretch);

  y.compute_root().vectorize(column, lanes, TailStrategy::GuardWithIf);
  y.update()
      .split(column, tile_column, column, columns, TailStrategy::GuardWithIf)
      .split(row, block, row, tiles_in_block * knobs.rows, TailStrategy::GuardWithIf)
      .split(row, tile_row, row, knobs.rows, TailStrategy::GuardWithIf)
      .reorder({column, row, tile_row, tile_column, block, stretches})
      .vectorize(column, lanes)
      .unroll(column)
      .unroll(row)
      .parallel(block);
  register_tile(sums, 1, {y, tile_row}, lanes, knobs);
  packed_panel(c.tiles.packed, c.tiles.packed_column, sums, {y, tile_column}, lanes, columns);
  Halide::Func rows = Halide::Func(c.by_row).in(sums);
  rows.compute_at(y, block).vectorize(rows.args()[0], lanes, TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
