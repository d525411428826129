#pragma once
// Partial derivatives of functions, one row each.

#include "dsl/expression.h"

namespace saltern::formula {

// ---- Arithmetic of adjoints: what is multiplied by a 0 that was written down is 0, NaN and infinity included, since
// most of a derivative's zeros are branches that were not taken.
Expression plus(const Expression &a, const Expression &b);
Expression times(const Expression &a, const Expression &b);
Expression minus(const Expression &a);

// What dy becomes for each operand of a call, given the value y of the call; none for functions that are flat.
std::vector<Expression> partials(const Expression &call, const Expression &y, const Expression &dy);

}  // namespace saltern::formula
