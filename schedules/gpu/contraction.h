#pragma once
// Contraction (patterns/contraction.h says what that is) on a GPU.
//
//   block    (columns * column_threads) x (rows * row_threads) of y
//   thread   columns x rows of y, accumulated in registers
//
// Operands go from memory to registers. Halide's own cuda_mat_mul does the same and reports 688 us where cuBLAS takes
// 512 us, on an RTX 2060.
//
// Sums have a fixed order: any device and any number of threads gives the same bits for the same knobs.

#include <vector>

#include "schedules/gpu/grid.h"
#include "schedules/knobs.h"
#include "schedules/patterns/convolution.h"

namespace saltern::schedules::gpu {

struct ContractionKnobs {
  int columns, rows;                // of one thread
  int column_threads, row_threads;  // of one block
  int unroll_k;                     // steps of k in one turn of the innermost loop

  static std::vector<KnobField<ContractionKnobs>> fields() {
    using K = ContractionKnobs;
    return {{"columns", &K::columns, {2, 4, 8}},
            {"rows", &K::rows, {2, 4, 7, 8}},
            {"column_threads", &K::column_threads, {8, 16, 32}},
            {"row_threads", &K::row_threads, {1, 2, 4, 8, 16}},
            {"unroll_k", &K::unroll_k, {1, 2, 4, 8}}};
  }

  static ContractionKnobs fitting() { return {4, 8, 16, 4, 1}; }
};

inline std::vector<Axis> tile(const ContractionKnobs &knobs, int row) {
  return {{0, knobs.columns, knobs.column_threads}, {row, knobs.rows, knobs.row_threads}};
}

inline void contraction(const Contraction &c, const ContractionKnobs &knobs) {
  const std::vector<Axis> axes = tile(knobs, c.row);
  accumulate_in_registers(c.y, Halide::LoopLevel(c.out, launch(c.out, axes)), axes, knobs.unroll_k);
}

// The image is computed by a kernel of its own, and so are the tables.
inline void convolution(const Convolution &c, const ContractionKnobs &knobs) {
  Halide::Func out = c.out, image = c.image;
  const std::vector<Halide::Var> to = out.args();
  const std::vector<Halide::RVar> p = out.rvars(0), at = image.rvars(0);
  Loops loops = {to[0], to[1], p[0], to[4]};
  GridLoops blocks = {{{2, 1}, {0}, {3}}};
  if (p.size() > 1) {
    loops.insert(loops.end(), {p[1], p[2]});
    blocks = {{{2, 1}, {0, 4}, {5, 3}}};
  }
  const std::vector<Axis> axes = tile(knobs, 2);
  // Every pixel is written once, so any order of them is as good.
  const Halide::VarOrRVar thread = launch(out.update().allow_race_conditions(), loops, axes, blocks);
  accumulate_in_registers(c.sums, Halide::LoopLevel(out, thread), axes, knobs.unroll_k);
  for (const Halide::Func &table : c.tables) apart(table);
  image.compute_root();
  launch(image.update().allow_race_conditions(), {at[0], at[1], at[2], image.args()[1], image.args()[2]}, {{0, 1, 16}},
         {{{0, 1}, {2}, {3, 4}}});
}

}  // namespace saltern::schedules::gpu
