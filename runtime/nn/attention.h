#pragma once
// Masks of attention.

#include "runtime/nn/layer.h"

namespace saltern::nn {

// What a mask adds to scores: itself, or of truths 0 and -infinity. What is true is left out, or else is what counts.
Variable added_mask(const Variable &mask, bool true_is_left_out, Type type);

}  // namespace saltern::nn
