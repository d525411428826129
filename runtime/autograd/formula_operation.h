#pragma once
// What an operation that is a formula (runtime/autograd/operation.h) does: it computes, and its gradient is another such
// operation, so that there are gradients of any order.

#include "dsl/exact_formulas.h"
#include "runtime/autograd/operation.h"
#include "runtime/autograd/variable.h"

namespace saltern {

// The formulas of an operation for inputs of these types and shapes. Throws an Error that names the operation.
formula::ExactFormulas formulas_of(const Operation &operation, const std::vector<Tensor> &inputs,
                                   const Attributes &attributes);

std::vector<Tensor> computed_by_formula(const Operation &operation, const std::vector<Tensor> &inputs,
                                        const Attributes &attributes);

std::vector<Variable> derived_gradient(const Operation &operation, const Taped &t, const std::vector<Variable> &dy);

}  // namespace saltern
