#pragma once
// What counts as a parameter of a model: an element of a constant that has dimensions, of a real type or an integer of
// at most 8 bits, as quantised weights are. Not counted are shapes, axes and indices, and the single numbers that
// arithmetic is done with.

#include "runtime/graph/graph.h"

namespace saltern {

bool holds_parameters(const Tensor &constant);
// Of a graph and of the graphs inside.
int64_t parameter_count(const Graph &graph);

}  // namespace saltern
