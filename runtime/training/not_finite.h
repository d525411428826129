#pragma once
// Where training goes wrong first, when a loss or a gradient is no longer finite.

#include "runtime/optim/training_step.h"
#include "runtime/training/loader.h"

namespace saltern {

// Runs a batch once more and throws an Error that begins with `where` and names what is not finite, the first of: the input,
// the output of a layer, the loss, and, on the way back, the gradient that a layer makes of one that is finite. For a net
// and a random stream as they were before the batch. Throws nothing where all is finite.
void explain_not_finite(Module &net, const Loss &loss, const Examples &batch, const std::string &where);

}  // namespace saltern
