#pragma once
// softmax: y(c) = exp(x(c)) / sum over c of exp(x(c)); log_softmax: its logarithm. Attribute: axis.

#include "runtime/autograd/variable.h"

namespace saltern {

Variable softmax(const Variable &x, int64_t axis = -1);
Variable log_softmax(const Variable &x, int64_t axis = -1);

}  // namespace saltern
