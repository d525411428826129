#pragma once
// Evaluates Values (dsl/value.h) without a compiler: what all kernels are compared with.

#include <functional>
#include <optional>

#include "dsl/exact_formulas.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// The tensor of one formula, of its own operands.
Tensor evaluate(const formula::ExactFormula &f, const std::vector<Tensor> &operands);
// The tensors of the formulas' outputs; operands are those that the formulas' numbers begin with. Where one is an
// outline (runtime/tensor/tensor.h), all results are. What `otherwise` gives for a formula is taken.
using FormulaFunction =
    std::function<std::optional<Tensor>(const formula::ExactFormula &, const std::vector<Tensor> &operands)>;
std::vector<Tensor> evaluate(const formula::ExactFormulas &formulas, const std::vector<Tensor> &operands,
                             const FormulaFunction &otherwise = nullptr);

// Adds values(t) at the places of t: `shape` is the result's, whose dimension d is indices[d](t), or t's own dimension d
// where that tensor is undefined. What lies outside is dropped.
Tensor scatter_sum(const Tensor &values, const std::vector<Tensor> &indices, const Shape &shape);

// The sizes that tensors give to the symbols that are extents of inputs. Throws where one is two sizes at once, or a
// tensor is of another type, rank or extent than its input.
formula::Numbers sizes_of(const formula::Values &inputs, const std::vector<Tensor> &tensors);

}  // namespace saltern
