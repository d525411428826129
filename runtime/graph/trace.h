#pragma once
// From a net that ran to a graph: what an input went through on its way to an output.
//
//   Graph graph = trace(net, {1, 1, 28, 28});
//
// A trace holds what one run did: shapes are fixed, branches are taken, loops are unrolled. Constants are named as the
// net's state names them.

#include "runtime/autograd/variable.h"
#include "runtime/graph/graph.h"
#include "runtime/layers/module.h"

namespace saltern {

using NamedVariables = std::vector<std::pair<std::string, Variable>>;

// Walks back from the outputs, which must have been computed under Recording. Whatever is neither an input nor computed
// from anything becomes a constant: a copy, with the name that `names` has for the same memory.
Graph trace(const NamedVariables &inputs, const NamedVariables &outputs, const std::map<std::string, Tensor> &names);

// Adds what the variables were computed by, under Recording, to a graph some of whose values are known as Variables,
// leaves or outputs of steps; gives the names that they have there, by preference those given. A node whose further
// outputs are read gets them.
std::vector<std::string> trace_into(Graph &graph, const NamedVariables &known, const NamedVariables &outputs);

// Runs a net once, in evaluation mode, on an input "x" of this shape; its result is "y".
Graph trace(Module &net, const Shape &input);

}  // namespace saltern
