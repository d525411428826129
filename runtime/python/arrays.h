#pragma once
// Arrays of others, NumPy's and what speaks DLPack, and tensors in the same memory.

#include <nanobind/nanobind.h>

#include "runtime/autograd/variable.h"

namespace saltern::python {

// A tensor in the memory of an array, which is kept as long as the tensor is. Throws where nobody may write there, where it
// is not the CPU's, or where an element type is not ours; `function` is who was asked.
Tensor in_memory_of(nanobind::handle array, const std::string &function);

// A tensor with a copy of an array that may be read-only; nothing where it is none.
std::optional<Tensor> copy_of(nanobind::handle array);

// numpy(), __dlpack__ and __dlpack_device__ of tensors; shared() of arrays.
void bind_arrays(nanobind::module_ &m, nanobind::class_<Variable> &tensor);

}  // namespace saltern::python
