#pragma once
// y(..., m, n) = sum over k of a(..., m, k) b(..., k, n)
//
// The operation "matmul": batch dimensions broadcast; transposed operands are read through their strides.

#include "runtime/layers/movement.h"

namespace saltern {

Variable matmul(const Variable &a, const Variable &b);

}  // namespace saltern
