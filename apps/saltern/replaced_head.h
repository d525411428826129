#pragma once
// The last layer of a model, for another number of classes.

#include "runtime/onnx/model.h"

namespace saltern {

// The last Gemm or MatMul, behind which may stand an Add, a Softmax, LogSoftmax or Sigmoid, gets new weights for `classes`
// outputs: uniform random numbers up to 1 / sqrt(inputs), the same for the same seed, and a bias of zeros. Throws an Error that
// names the node that is another one.
Model with_replaced_head(Model model, int64_t classes, uint64_t seed = 1);

}  // namespace saltern
