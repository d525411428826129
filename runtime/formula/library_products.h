#pragma once
// Formulas that are a product of two operands, summed over what they share: y[n, o] = sum{i} w[o, i] x[n, i], einsum's of
// two. Whatever they are called, the library's kernel of matrix products computes them, since it takes any strides.

#include <optional>

#include "dsl/exact_formulas.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// Nothing where the formula is no such product of f32, or its operands do not lie as matrices do.
std::optional<Tensor> library_product(const formula::ExactFormula &f, const std::vector<Tensor> &operands);

}  // namespace saltern
