#pragma once
// A contraction y(column, row) = sum_k a(k, column) b(k, row) of a vector or a few of rows, and many columns: a turn of a
// recurrent layer. What varies with row is packed, and not what varies with column, which is read once: vectors are along rows,
// and a tile is turned around where it is stored.

#include "schedules/machine.h"

namespace saltern::schedules {

struct FewRows {
  Halide::Func out;  // y, or an epilogue at the same point
  Halide::Func y, by_row;
  int64_t rows, columns, steps;  // 0 where they are not known

  static constexpr int tile = 8;  // columns

  bool fits(const Machine &m) const {
    const int lanes = m.lanes(y.type());
    return rows > 0 && rows % lanes == 0 && rows * tile <= int64_t{lanes} * (m.vector_registers - 8) && columns > 0 &&
           columns % tile == 0 && steps >= 64;
  }
};

inline void few_rows(const FewRows &c, const Machine &m) {
  using Halide::TailStrategy;
  const int lanes = m.lanes(c.y.type()), rows = static_cast<int>(c.rows);
  Halide::Func out = c.out, y = c.y, packed = Halide::Func(c.by_row).in(y);
  const Halide::Var column = out.args()[0], row = out.args()[1], tile_column("tile_column");
  out.bound(row, 0, rows)
      .split(column, tile_column, column, FewRows::tile, TailStrategy::GuardWithIf)
      .reorder(column, row, tile_column)
      .vectorize(column)
      .unroll(row)
      .parallel(tile_column);
  const Halide::Var c_in = y.args()[0], r_in = y.args()[1];
  y.compute_at(out, tile_column).reorder_storage(r_in, c_in).bound_extent(c_in, FewRows::tile).bound_extent(r_in, rows);
  y.reorder(r_in, c_in).vectorize(r_in, lanes).unroll(r_in).unroll(c_in);
  y.update().reorder({r_in, c_in, y.rvars(0)[0]}).vectorize(r_in, lanes).unroll(r_in).unroll(c_in);
  const Halide::Var k = packed.args()[0], of_row = packed.args()[1];
  packed.compute_root()
      .reorder_storage(of_row, k)
      .bound_extent(of_row, rows)
      .reorder(of_row, k)
      .vectorize(of_row, lanes)
      .unroll(of_row);
}

}  // namespace saltern::schedules
