#pragma once
// Evaluates formulas (dsl/expression.h) without a compiler: the tensor of all elements that a formula gives.
//
// Elements are computed in blocks, one operation at a time for a whole block, so that choosing the operation costs
// little; what a reduction's body shares between steps is computed once. Far slower than compiled code and as general
// as the formulas are: it runs what has no kernel, folds constants, and checks kernels.

#include "dsl/expression.h"
#include "runtime/tensor.h"

namespace saltern {

// Operands may have any strides; the result is row-major.
Tensor evaluate(const formula::Expression &element, const std::vector<Tensor> &operands, const Shape &shape);

}  // namespace saltern
