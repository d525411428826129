#pragma once
// Formulas (dsl/expression.h) as Halide code.

#include <functional>
#include <vector>

#include "dsl/expression.h"
#include "dsl/tensor.h"

namespace saltern::generators {

// Gives the element of an operand at indices in the order that users know.
using ReadOperand = std::function<Halide::Expr(int operand, const std::vector<Halide::Expr> &indices)>;

// A reduction inside a formula, a function of its own: what its schedule needs to know.
struct FormulaReduction {
  Halide::Func func;
  std::vector<int> axes;  // of the result, which its arguments are, in order; -1: a step of a reduction around it
};

struct FormulaCode {
  Halide::Expr element;  // in its type's storage
  std::vector<FormulaReduction> reductions;
};

// `axes` are the result's indices, and `extents` its shape; `operand_shapes` those of the operands.
FormulaCode formula_code(const formula::Expression &element, const std::vector<Halide::Expr> &axes,
                         const std::vector<int64_t> &extents, const std::vector<std::vector<int64_t>> &operand_shapes,
                         const ReadOperand &read);

// How elements of a type are stored.
Halide::Type storage_type(Type type);

}  // namespace saltern::generators
