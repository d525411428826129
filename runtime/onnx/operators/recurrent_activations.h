#pragma once
// The functions that the gates of recurrent layers may have, by ONNX's names.

#include <string>
#include <vector>

#include "algorithms/recurrent.h"
#include "runtime/onnx/operators/lowering.h"

namespace saltern {

// Those that the attributes name, or the defaults; `per_direction` for each direction, one after another. Values of
// activation_alpha and activation_beta go in order to the functions that have such a parameter; `clip` bounds what goes
// into each.
std::vector<algorithms::Activation> recurrent_activations(const Attributes &attributes,
                                                          const std::vector<std::string> &defaults, int64_t directions);

}  // namespace saltern
