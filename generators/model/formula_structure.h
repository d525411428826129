#pragma once
// Which way a reduction's vectors run. Operands are row-major (flat_formula.h).
//
//   column   sum{s}(x[s, a])    along the result's innermost axis: a vector of results at a time
//   row      sum{s}(x[a, s])    along one of its own steps: vectors of partial results, which are joined in the end

#include "generators/model/formula_code.h"
#include "schedules/machine.h"

namespace saltern::generators {

// How a reduction by rows is shared out to vectors; by columns where a row is no longer than a vector.
RowSplit row_split(const formula::Expression::Node &reduction, int innermost_axis, const Machine &m);

}  // namespace saltern::generators
