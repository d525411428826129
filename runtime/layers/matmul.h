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

// The transpose of a, times b: gradients of weights. What a tile goes down through memory is the narrower of the two:
// 10.4 ms instead of 11.7 for 2048 rows of 1024 and 256 columns.
Tensor turned_multiplied(const Tensor &a, const Tensor &b);

// The right operand of many products, b(k, n): packed once where its columns are whole panels. Of 32 rows, 256 inputs and
// 1024 outputs a product takes 0.144 ms then, and else 0.185, on one core of a Zen 4.
class RightOperand {
 public:
  explicit RightOperand(const Tensor &b);
  // y = a b, of dense a and y
  void multiply(const Tensor &a, const Tensor &y) const;

 private:
  Tensor b_, panels_;
};

}  // namespace saltern
