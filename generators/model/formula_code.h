#pragma once
// Formulas (dsl/expression.h) as Halide code.

#include <functional>
#include <vector>

#include "dsl/expression.h"
#include "generators/formula_functions.h"
#include "generators/reduction_code.h"
#include "schedules/forms/tensor.h"

namespace saltern::generators {

// Gives the element of an operand at indices in the order that users know.
using ReadOperand = std::function<Halide::Expr(int operand, const std::vector<Halide::Expr> &indices)>;

// A reduction inside a formula, a function of its own: what its schedule needs to know.
struct FormulaReduction {
  Halide::Func func;
  std::vector<int> axes;  // of the result, which its arguments are, in order; -1: a step of a reduction around it
  // What it is made of, in order, where its vectors run along a step: vectors of partial results along the first
  // argument of each, of which later ones have fewer.
  std::vector<Halide::Func> parts;
  int64_t steps = 1;
};

using SplitRows = std::function<RowSplit(const formula::Expression::Node &reduction)>;

struct FormulaCode {
  Halide::Expr element;  // in its type's storage
  std::vector<FormulaReduction> reductions;
};

// `axes` are the result's indices, and `extents` its shape; `operand_shapes` those of the operands. The order of a
// reduction is a function of its split alone: schedules do not change bits.
FormulaCode formula_code(const formula::Expression &element, const std::vector<Halide::Expr> &axes,
                         const std::vector<int64_t> &extents, const std::vector<std::vector<int64_t>> &operand_shapes,
                         const ReadOperand &read, const SplitRows &split = nullptr);

}  // namespace saltern::generators
