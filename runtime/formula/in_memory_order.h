#pragma once
// Images (N, C, H, W) whose channels lie innermost, seen as (N, H, W, C): row-major for kernels that go through memory in
// its order. All tensors of rank 4 are seen so, formulas likewise.

#include "dsl/value.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// Whether one of rank 4 is channels last, and not row-major too.
bool has_images_with_channels_last(const std::vector<Tensor> &tensors);

// The same Values of inputs in memory order.
formula::Values in_memory_order(const formula::Values &values);
// The tensor in memory order, row-major; a copy where it is not channels last. And the same the other way round.
Tensor as_in_memory(const Tensor &t);
Tensor as_image(const Tensor &t);

}  // namespace saltern
