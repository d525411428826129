#pragma once
// Evaluates formulas (dsl/expression.h) without a compiler: the tensor of all elements that a formula gives.
//
// Elements are computed in blocks, one operation at a time for a whole block, so that choosing the operation costs
// little; what a reduction's body shares between steps is computed once. Far slower than compiled code and as general
// as the formulas are: it runs what has no kernel, folds constants, and checks kernels.

#include "dsl/expression.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// As long as it lives, formulas that this thread evaluates take no more than so many steps in all; what would take more
// is an Error. For work that should be small whatever it is done for.
struct StepBudget : Temporarily<double> {
  explicit StepBudget(double steps);
};

// How the result lies in memory: row-major, or as the first operand does that is read at the result's own place, so that
// elementwise formulas go straight through memory whatever the layout.
enum class Order : uint8_t { row_major, of_operands };

// Operands may have any strides; the result is dense. A formula that would never end (10^15 steps) is an Error.
Tensor evaluate(const formula::Expression &element, const std::vector<Tensor> &operands, const Shape &shape,
                Order order = Order::row_major);

// A scan along a dimension (dsl/value.h).
Tensor evaluate_scan(const formula::Expression &element, const formula::Expression &before, int along,
                     const std::vector<Tensor> &operands, const Shape &shape);

}  // namespace saltern
