#pragma once
// Tensors as people read them: of large ones the edges.
//
//   std::cout << x;
//   [[ 1.0000, -2.5000],
//    [ 0.0000, 30.0000]] f32[2, 2]

#include <ostream>

#include "runtime/tensor/tensor.h"

namespace saltern {

std::ostream &operator<<(std::ostream &out, const Tensor &t);

}  // namespace saltern
