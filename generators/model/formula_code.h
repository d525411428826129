#pragma once
// Formulas (dsl/expression.h) without reductions as Halide code of one element, inside of a kernel that has a form of its
// own: an epilogue. What is a kernel by itself is made of stages (generators/stage_functions.h).

#include <functional>
#include <vector>

#include "dsl/expression.h"
#include "generators/formula_functions.h"

namespace saltern::generators {

// Gives the element of an operand at indices in the order that users know.
using ReadOperand = std::function<Halide::Expr(int operand, const std::vector<Halide::Expr> &indices)>;

// In its type's storage. `axes` are the result's indices, and `extents` its shape; `operand_shapes` those of the operands.
Halide::Expr formula_code(const formula::Expression &element, const std::vector<Halide::Expr> &axes,
                          const std::vector<int64_t> &extents, const std::vector<std::vector<int64_t>> &operand_shapes,
                          const ReadOperand &read);

}  // namespace saltern::generators
