#pragma once
// Gradients of parameters, made less where they are too great, before an optimizer's step.
//
//   backward(loss);  clip_gradient_norm(net.parameters(), 1.0);  optimizer.step();

#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

// (sum over all elements of all tensors of |x|^order)^(1 / order); for an infinite order the greatest |x|. In f64, in one order.
double total_norm(const std::vector<Variable> &tensors, double order = 2);

// Those that there are.
std::vector<Variable> gradients_of(const std::vector<Variable> &parameters);

// Gives the norm of all gradients together, and where that is more than `most` scales them by most / (norm + 1e-6), as
// PyTorch does. Sparse gradients stay sparse.
double clip_gradient_norm(const std::vector<Variable> &parameters, double most, double order = 2);
void scale_gradients(const std::vector<Variable> &parameters, double factor);
// Each element between -most and most.
void clip_gradient_value(const std::vector<Variable> &parameters, double most);

}  // namespace saltern
