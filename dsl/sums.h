#pragma once
// Sums of products, rewritten.
//
//   factored      without the factors that are the same for all steps:   sum{k} a b[k] = a sum{k} b[k]
//   asked_first   with the conditions of factors asked of the product:   a (c ? b : 0) = c ? a b : 0, of finite numbers

#include "dsl/value.h"

namespace saltern::formula {

struct FactoredSum {
  Value factor;  // 1 where there is none
  Value sum;     // of what is left
};

// Looks into maps that are stages for the sake of a gradient alone, as a softmax is.
FactoredSum factored(const Value &sum);
// So that steps which add nothing can be left out.
Value asked_first(const Value &sum);

}  // namespace saltern::formula
