#pragma once
// Convolution: sums(channel, g, p, n, ...) is a contraction (contraction.h) whose columns are channels of the result
// and whose rows are its pixels, numbered along the image's rows; out(channel, g, x, y, n) has an update that puts them
// in their places.
//
// Tiles of pixels go over the ends of image rows, so that only an image's last tile may be partly idle: with tiles that
// ended where rows do, 256 channels of 14 x 14 pixels went at 74 % of peak on an AMD EPYC (AVX2) and go at 90 % so.
// What the window slides over is copied, with the zeros around it, to one line of memory. From a tile's corners, read
// from a table, every element of the window is equally far: no address is computed inside the reduction, which lets a
// 7 x 7 window on 3 channels reach 86 % and a 3 x 3 window on 1 channel, of 9 steps in all, 45 %.

#include <vector>

#include "schedules/patterns/contraction.h"

namespace saltern::schedules {

struct Convolution {
  Halide::Func out, sums;
  Halide::Func packed;               // the weights,
  int packed_column;                 // and which of their dimensions is the column
  Halide::Func image;                // the line that the window slides over, filled by an update
  Halide::Expr channels;             // of the image
  std::vector<Halide::Func> tables;  // of pixels: where they lie, where their windows begin
};

inline void convolution(Convolution c, const Machine &m, const ContractionKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  const std::vector<Var> to = c.out.args();
  const std::vector<Halide::RVar> p = c.out.rvars(0), at = c.image.rvars(0);
  const int lanes = m.lanes(c.sums.type()), columns = knobs.column_vectors * lanes;
  const Var column("column"), tile_column("tile_column"), g = to[1], n = to[4];
  const Halide::RVar row("row"), tile_row("tile_row");

  std::vector<Halide::VarOrRVar> phases(p.begin() + 1, p.end()), order = {column, row, tile_row};
  order.insert(order.end(), phases.begin(), phases.end());
  for (const Var &outer : {tile_column, g, n}) order.emplace_back(outer);
  // Every pixel is written once, so any order of them is as good.
  Halide::Stage put = c.out.update().allow_race_conditions();
  put.split(to[0], tile_column, column, columns, TailStrategy::GuardWithIf)
      .split(p[0], tile_row, row, knobs.rows, TailStrategy::GuardWithIf)
      .reorder(order)
      .vectorize(column, lanes)
      .unroll(column)
      .unroll(row)
      .parallel(tile_column)
      .parallel(n)
      .never_partition(g, n);
  if (!phases.empty()) put.never_partition(phases);

  register_tile(c.sums, 2, {c.out, tile_row}, lanes, knobs);
  // Few channels are few steps, too few for a loop.
  for (const int few : {1, 3}) c.sums.update().specialize(c.channels == few).unroll(c.sums.rvars(0)[0]);
  packed_panel(c.packed, c.packed_column, c.sums, {c.out, tile_column}, lanes, columns);

  for (Halide::Func table : c.tables) table.compute_root();
  c.image.compute_at(c.out, n);
  c.image.update()
      .allow_race_conditions()
      .reorder(at[0], at[1], at[2], c.image.args()[1])
      .specialize(c.channels >= lanes)
      .vectorize(at[0], lanes, TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
