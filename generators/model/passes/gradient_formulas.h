#pragma once
// Gradients that training has kernels for, as formulas: what the model compiler makes of them.

#include <string>

#include "runtime/autograd/operation.h"

namespace saltern::generators {

// Null where the operation is none of them.
const Operation::Algorithm *gradient_formula(const std::string &operation);

// x -> the position of the first maximum of each window (i32); attributes: those of max_pool2d.
Values positions_of_maxima(const Values &in, const Attributes &a);

}  // namespace saltern::generators
