#pragma once
// y(..., m, n) = sum over k of a(..., m, k) b(..., k, n)
//
// The operation "matmul": batch dimensions broadcast; transposed operands are read through their strides.

#include "runtime/layers/movement.h"

namespace saltern {

Variable matmul(const Variable &a, const Variable &b);

// Of matrices with any strides, by the kernel alone: y = a b, in memory that is there or in new memory.
void multiply(const Tensor &a, const Tensor &b, const Tensor &y);
Tensor multiplied(const Tensor &a, const Tensor &b);
// The other way round, in the same memory.
Tensor turned(const Tensor &matrix);

}  // namespace saltern
