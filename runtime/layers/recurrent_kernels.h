#pragma once
// Recurrent layers by kernels: products of all turns at once where they wait for no state, and a kernel for all else of a
// turn. Their formulas, which everything else is made of, are in recurrent.cpp.

#include "runtime/autograd/variable.h"

namespace saltern {

// The results of `recurrent`, operations::lstm or gru, or another one: by kernels where there are some for it and its inputs.
// Not while nets are traced: graphs have formulas.
std::vector<Variable> recurrent_states(const Operation &recurrent, const std::vector<Variable> &inputs,
                                       const Attributes &attributes);

}  // namespace saltern
