#pragma once
// FlexAttention has graphs as attributes that change its scores and its probabilities. In an imported graph it is
// replaced by its parts (runtime/onnx/operators/flex_attention.cpp) with the nodes of those graphs between them, so that
// whatever runs or lowers the graph sees nothing but nodes.

#include "runtime/graph/graph.h"

namespace saltern {

// In the graph and all inside it.
void take_apart_flex_attention(Graph &graph);

}  // namespace saltern
