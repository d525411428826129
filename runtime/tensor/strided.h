#pragma once
// Elementwise kernels on tensors of any shape and strides: broadcasting (NumPy's rules: shapes are aligned at their
// last dimension, an extent of 1 repeats), and dimensions merged until they fit the kernels' five.

#include "runtime/tensor/view.h"

namespace saltern {

// The shape that `a` and `b` broadcast to; `who` is named where they do not.
Shape broadcast_shape(const Shape &a, const Shape &b, const std::string &who);
// The strides of `t` when it is read under `shape`; 0 where it repeats.
Shape broadcast_strides(const Tensor &t, const Shape &shape, const std::string &who);

// All operands as (d0, ..., d4) under the shape of the first, whose memory order they are walked in.
std::vector<View> strided_views(const std::vector<Tensor> &operands, const std::string &who);

// Calls an elementwise kernel: outputs and inputs of one shape or that broadcast to it.
void call_strided(const std::string &kernel, const Tensor &output, const std::vector<Tensor> &inputs);
// Its output, of the shape that all broadcast to with `at_least`, in the memory order of the first input that has it.
Tensor called_strided(const std::string &kernel, const std::vector<Tensor> &inputs, const Shape &at_least = {});
// The output of a kernel that knows no dimensions: all inputs have one shape, and the memory order of the first.
Tensor called_flat(const std::string &kernel, const std::vector<Tensor> &inputs);

// The same tensor where it has the wanted strides already, else a copy that has them.
Tensor row_major(const Tensor &t);
Tensor channels_last(const Tensor &t);
// With the memory order of another tensor of the same shape.
Tensor arranged_like(const Tensor &t, const Tensor &other);
// Without holes; any order of dimensions.
Tensor without_holes(const Tensor &t);
// With dimension d innermost, and without holes.
Tensor innermost(const Tensor &t, int d);
// Copies elements, whatever the strides; `from` may broadcast.
void copy(const Tensor &to, const Tensor &from);

}  // namespace saltern
