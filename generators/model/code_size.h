#pragma once
// How much code a kernel is. Compilers take more than twice as long for twice the code: a long chain of elementwise
// operations is several kernels.

#include "runtime/graph/graph.h"

namespace saltern::generators {

// Nodes of formulas that one kernel may compute; 400 of them compile in one to three seconds for one target.
constexpr int most_code = 400;

// What a node adds to its kernel: the nodes of its formula, or about as many as an operation of the library has.
int code_size(const formula::Expression &element);
int code_size(const Graph::Node &node);

}  // namespace saltern::generators
