#pragma once
// Training steps in less memory than they would like: of what the forward half makes for the backward half, as much is made
// again as it takes, that which costs the least time for its bytes (recomputation.h).

#include <cstdint>

#include "runtime/graph/graph.h"

namespace saltern::generators {

// What the values of a graph, as passes leave it, take when it is compiled.
int64_t workspace_bytes(const Graph &prepared);

// The same step, with `workspace_bytes` of no more than so many. `prepared` is a step as passes leave it, whose only output
// beside state is the loss. Throws an Error that has the least that is possible where that is more.
// `others`: what of a budget is spoken for, such as state and kernels' own memory, for that error.
Graph within_memory(const Graph &prepared, int64_t bytes, int64_t others);

}  // namespace saltern::generators
