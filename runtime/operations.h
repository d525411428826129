#pragma once
// Saltern's own operations that code names; the others are asked for by name (find_operation). Their rows stand in
// runtime/layers/*.cpp, a family in each, and those of updates in runtime/optim/updates.cpp.

#include "runtime/autograd/operation.h"

namespace saltern {

namespace operations {

extern const Operation attention, average_pool2d, batch_norm, batch_norm_training, conv2d, conv2d_gradient_w,
    conv2d_gradient_x, cross_entropy, dense, dense_gradient_b, dense_gradient_w, dense_gradient_x, dropout, gru,
    indexed, integer_conv2d, integer_dense, layer_norm, lstm, matmul, max_pool2d, max_pool2d_pick, reshape, rms_norm,
    rnn, slice, softmax, softmax_gradient, strided_slice, sum;
// Those of optimizers.
const std::vector<const Operation *> &updates();

}  // namespace operations

// Names something of every family. The table of operations calls it: of a static library, programs get those files
// only that something names.
const void *operation_families();

}  // namespace saltern
