#pragma once
// Parts of tensors on the host: whatever the element type, texts included.

#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

// One after the other along an axis; other extents are equal.
Tensor joined(const std::vector<Tensor> &parts, int axis);
// Tensors of one shape along a new dimension; negative axes count from the end of the result's.
Tensor stacked(const std::vector<Tensor> &parts, int64_t axis);
// The places `which` of an axis, in their order.
Tensor picked(const Tensor &x, int axis, const std::vector<int64_t> &which);
// A copy of place i of an axis, without that axis.
Tensor taken(const Tensor &x, int axis, int64_t i);

}  // namespace saltern
