#pragma once
// From a net that ran to a graph: what an input went through on its way to an output.
//
//   Graph graph = trace(net, {1, 1, 28, 28});
//   Graph graph = trace(net, {"batch", 1, 28, 28});           // for any batch (open_sizes.h)
//
// A trace holds what one run did: branches are taken, loops are unrolled. Constants are named as the net's state names
// them. The formulas of an operation that has no kernels are labelled with its name, and how often it was applied by then:
// "scaled_tanh:1".

#include "runtime/autograd/variable.h"
#include "runtime/graph/graph.h"
#include "runtime/layers/module.h"

namespace saltern {

using NamedVariables = std::vector<std::pair<std::string, Variable>>;

// Walks back from the outputs, which must have been computed under Recording. Whatever is neither an input nor computed
// from anything becomes a constant: a copy, with the name that `names` has for the same memory. `sizes` are numbers in it
// that stand for others.
Graph trace(const NamedVariables &inputs, const NamedVariables &outputs, const std::map<std::string, Tensor> &names,
            const OpenSizes &sizes = {});

// Adds what the variables were computed by, under Recording, to a graph some of whose values are known as Variables,
// leaves or outputs of steps; gives the names that they have there, by preference those given. A node whose further
// outputs are read gets them.
std::vector<std::string> trace_into(Graph &graph, const NamedVariables &known, const NamedVariables &outputs);

// An extent of an input: a number, or the name of a size that stays open.
struct Extent {
  Extent(int n) : number(n) {}              // NOLINT: trace(net, {"batch", 3})
  Extent(int64_t n) : number(n) {}          // NOLINT
  Extent(const char *open) : name(open) {}  // NOLINT

  int64_t number = 0;
  std::string name;
};

struct Extents : std::vector<Extent> {
  Extents(std::initializer_list<Extent> all) : vector(all) {}          // NOLINT
  Extents(const Shape &shape) : vector(shape.begin(), shape.end()) {}  // NOLINT
};

// Runs a net once, in evaluation mode, on an input "x" of this shape; its result is "y". Where sizes are open, only the
// shapes of what it computes are made; it is traced at two other sizes as well, and an Error says where these differ by
// more than the size.
Graph trace(Module &net, const Extents &input);

}  // namespace saltern
