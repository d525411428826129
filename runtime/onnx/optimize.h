#pragma once
// Passes over imported graphs that leave ONNX operators: what an exporter wrote down that no run needs.

#include "runtime/onnx/model.h"

namespace saltern {

// Nodes of constants only become constants, as long as these stay small (results of random operators never).
Model with_folded_constants(Model model);
// Without nodes that pass their input on as it is: Identity, Dropout outside of training, a Cast to the same type, a
// Transpose that moves nothing.
Model without_identities(Model model);
// Nodes with the same operator, attributes and inputs are one.
Model with_common_nodes_once(Model model);
// A BatchNormalization after a Conv of constant weights goes into these weights.
Model with_folded_batch_norm(Model model);
// Without nodes and constants that no output needs.
Model without_dead_code(Model model);

// All of them, until nothing changes.
Model optimized(Model model);

}  // namespace saltern
