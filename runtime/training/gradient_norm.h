#pragma once
// The norm of all gradients together, and gradients times a number. Sums are of doubles, in one order.

#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

// Infinite or NaN where one of them is. Parameters without a gradient count for nothing.
double gradient_norm(const std::vector<Variable> &parameters);
void scale_gradients(const std::vector<Variable> &parameters, double factor);

}  // namespace saltern
