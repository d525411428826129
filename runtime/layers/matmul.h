#pragma once
// y(..., m, n) = sum over k of a(..., m, k) b(..., k, n)
//
// The operation "matmul": batch dimensions broadcast; transposed operands are read through their strides.

#include "runtime/layers/movement.h"

namespace saltern {

Variable matmul(const Variable &a, const Variable &b);

// y = a b of matrices, by the kernel alone: whatever their strides are, and in memory that is there.
void multiply(const Tensor &a, const Tensor &b, const Tensor &y);

}  // namespace saltern
