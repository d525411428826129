#pragma once
// Formulas that are a product of two operands, summed over what they share, read at plain axes and steps: matrix
// products, dense layers, einsum's of two.
//
//   y[b, i, j] = sum{k} left[b, i, k] right[k, j]

#include <optional>

#include "dsl/exact_formulas.h"

namespace saltern::formula {

struct Product {
  Expression left, right;  // loads
  // The indices of either, from outside to inside: axes of the result that both are read along, those of the left one and
  // of the right one alone, to which the innermost axis of more than one element belongs, and steps.
  std::vector<Expression> batch, rows, columns, steps;
};

std::optional<Product> product_of(const ExactFormula &f);

// How many elements such an index runs over.
int64_t extent_of(const Expression &index, const ExactFormula &f);

}  // namespace saltern::formula
