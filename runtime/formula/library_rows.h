#pragma once
// Formulas that move whole rows by numbers out of data, whatever they are called: rows of a table,
//   y[i, e] = table[places[i], e],
// and sums of rows at places, which are its gradient:
//   y[places[i], e] += x[i, e].
// The interpreter goes element by element; these go row by row. Sums have the order of i.

#include <optional>

#include "dsl/exact_formulas.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// Nothing where the formula is no such thing, or the table does not lie row by row.
std::optional<Tensor> library_rows(const formula::ExactFormula &f, const std::vector<Tensor> &operands);

}  // namespace saltern
