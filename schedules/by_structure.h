#pragma once
// Schedules from structure (dsl/structure.h): no operator has a name here.
//
//   maps              vectors along the innermost dimension, chunks shared out to threads; in blocks where what is read is dense
//                     along another one
//   row chain         out is a map over what reductions along its innermost dimensions gave (softmax, norms): a task takes
//                     some rows; per row, reductions run as partial results of several vectors, and maps that are read
//                     twice are kept for the row
//   column chain      the reduced dimension is not the innermost: a task takes a block of columns, vectors along them
//   column sums       long ones of few columns: chunks of rows in parallel, which are then added in order
//   contraction       a register tile over the whole of k, its operand that varies with column packed by panels; a map of
//                     it (a bias, an activation) is made of each tile while that is in registers
//   long contraction  of many steps, whose rows lie side by side and whose steps do not: by stretches of steps
//   scatter           in the order of its steps; dimensions that nothing is scattered along in vectors and in parallel
//   scan              the same, in the order of its axis; along the innermost one some rows at a time
//   everything else   a stage of its own, computed before
//
// On a GPU every stage that is kept is a grid of its own: tiles of contractions (schedules/gpu/contraction.h), else one
// thread an element (schedules/gpu/grid.h).
//
// Reductions share out their steps in chunks of fixed length only: results do not depend on the number of threads.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dsl/structure.h"
#include "dsl/value.h"
#include "schedules/gpu/contraction.h"
#include "schedules/gpu/grid.h"
#include "schedules/knobs.h"
#include "schedules/machine.h"
#include "schedules/patterns/contraction.h"

namespace saltern::schedules {

struct StructureKnobs {
  int chunk = 16384;       // elements in a task of a map
  int rows = 8;            // rows in a task of a row chain; a number, since a factor known at run time costs a third
  int columns = 32;        // columns in a block: as many accumulators of 1 to 4 vectors as fit the registers
  int column_chunk = 128;  // rows that one partial sum of a column is of
  int block_vectors = 8;   // in a block of columns of a scatter or a scan
  int scan_rows = 4;       // that a scan goes along at once

  static std::vector<KnobField<StructureKnobs>> fields() {
    return {{"chunk", &StructureKnobs::chunk, {4096, 8192, 16384, 32768}},
            {"rows", &StructureKnobs::rows, {1, 2, 4, 8, 16}},
            {"columns", &StructureKnobs::columns, {8, 16, 32, 64}},
            {"column_chunk", &StructureKnobs::column_chunk, {32, 64, 128, 256}},
            {"block_vectors", &StructureKnobs::block_vectors, {1, 2, 4, 8, 16}},
            {"scan_rows", &StructureKnobs::scan_rows, {1, 2, 4, 8}}};
  }
};

// A stage and its function; what it is made of where it reduces by lanes; what it reads its operands by where it is a
// contraction.
struct StageToSchedule {
  std::shared_ptr<const formula::Stage> stage;
  Halide::Func func;
  std::vector<Halide::Func> parts;
  Halide::Func by_column;  // the operand that varies with column, with zeros around it,
  Halide::Func by_row;     // and the one that varies with row
};

// How a contraction is computed tile by tile, each where `out` needs it; nothing where its columns slide over the operand.
std::optional<Contraction> tiled(const StageToSchedule &contraction, const Halide::Func &out);

struct FormulaToSchedule {
  std::vector<StageToSchedule> stages;                                  // each after what it loads
  std::vector<Halide::Func> outputs;                                    // each a copy of
  std::vector<std::shared_ptr<const formula::Stage>> output_stages;     // one of the stages
  std::function<Halide::Expr(const formula::Expression &extent)> size;  // at run time
  // Where innermost strides are free: those with which maps go by vectors, and for which contractions have code of their
  // own, without a multiplication in every address.
  std::vector<Halide::Expr> vectorizable = {};
};

void by_structure(const FormulaToSchedule &formula, const Machine &m, const StructureKnobs &knobs,
                  const ContractionKnobs &contractions);
void by_structure_on_gpu(const FormulaToSchedule &formula, const gpu::ElementKnobs &knobs,
                         const gpu::ContractionKnobs &contractions);

// Whether a GPU does stages of this kind. It does no scatters and no scans, which go one by one.
bool has_gpu_pattern(formula::Pattern p);

}  // namespace saltern::schedules
