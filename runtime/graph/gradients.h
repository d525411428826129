#pragma once
// Gradients of a graph, as more nodes of it.
//
//   const Graph g = with_gradients(graph, "loss", {"x", "conv.weight"});
//   g.outputs;                              // those of `graph`, then d_x and d_conv.weight
//
// The rules are the tape's (runtime/autograd/operation.h), and there are no others: a rule is run on outlines
// (runtime/tensor/tensor.h), which computes nothing, and what it applied is traced into the graph. What comes out is a
// graph like others: it is run, saved, compiled, and has gradients itself.

#include "runtime/graph/graph.h"

namespace saltern {

// Whether values of a type have gradients: real numbers that are computed with.
inline bool has_gradient(Type type) { return is_real(type) && facts(type).is_arithmetic(); }

// `wanted` are real inputs and constants of a lowered graph. `loss` is one of its real values; where that has more than
// one element, the graph gets another input, the gradient of the loss, called d_ and the loss's name. Names that are taken
// get a number. Nodes behind which nothing wanted lies may be anything; one between the wanted and the loss that has no
// gradient is an Unsupported that names it.
Graph with_gradients(const Graph &graph, const std::string &loss, const std::vector<std::string> &wanted);

}  // namespace saltern
