#pragma once
// Losses.
//   cross_entropy: x (N, C), labels (N), i32 or i64 -> loss(n) = log(sum of exp(x(n, c))) - x(n, label(n))
//   Attribute: ignore, optional: a label whose samples are left out; their loss and gradient are 0.

#include "runtime/autograd/variable.h"

namespace saltern {

// The mean over the batch.
Variable cross_entropy(const Variable &x, const Variable &labels);
// The mean over the samples whose label is not `ignore` (PyTorch's ignore_index); 0 where there is none.
Variable cross_entropy(const Variable &x, const Variable &labels, int64_t ignore);

Variable mean_squared_error(const Variable &x, const Variable &wanted);

// The part of a batch whose largest score is that of its label.
double accuracy(const Tensor &scores, const Tensor &labels);

}  // namespace saltern
