#pragma once
// Tensors to and from other libraries without a copy, by DLPack's C structures.

#include "runtime/tensor/tensor.h"

struct DLManagedTensor;

namespace saltern {

// Shares the tensor's memory; whoever takes the result calls its deleter once.
DLManagedTensor *to_dlpack(const Tensor &tensor);

// Takes ownership: the deleter runs when the last tensor over that memory is gone, or at once if this fails.
Tensor from_dlpack(DLManagedTensor *managed);

}  // namespace saltern
