#pragma once
// The kernel of a group of nodes: how it is built for a target, and what it is called with.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generators/kernel.h"
#include "generators/model/grouping.h"
#include "generators/model/piece.h"

namespace saltern::generators {

// One argument, innermost first: a value of the graph or a part of it, a constant, or (neither) memory that nobody
// reads after. Extents, type and layout are what the kernel's code takes the value to be, whatever the graph says:
// argument_checks.h compares the two.
struct EmittedArgument {
  std::vector<int> extents;
  std::string value;
  Tensor constant;
  Type type = Type::f32;
  Layout layout = Layout::row_major;
  std::optional<Piece> part = {};  // of the value; else all of it
  // Where it lies, which is known when the plan is made (placed).
  std::vector<int> strides = {};
  bool aligned = true;  // to buffer_alignment, else to its elements only
};

// The graph that it was emitted from must live as long as it is built.
struct EmittedKernel {
  // What it computes; once its arguments are placed, equal for kernels of the same code and no others.
  std::string key;
  std::function<Build(const Halide::Target &)> build;
  std::vector<EmittedArgument> arguments;  // inputs, then outputs
  // Whether anything can go wrong when it runs. The driver's buffers are right by construction; what is left is memory
  // that the kernel allocates. Checks are half of a small kernel's code.
  bool can_fail = true;
  bool multiplies_bytes = false;  // and gains by VNNI (kernel_targets.h)
  // The arguments whose memory the output may take, since each of their elements is read before the one at its place is
  // written.
  std::vector<int> in_place = {};
};

// The kernel for arguments that lie in memory as their strides say. All that its code depends on of them is in its key.
EmittedKernel placed(EmittedKernel kernel);

// Throws an Error that names the node where its operation cannot be compiled.
EmittedKernel emit(const Graph &graph, const Group &group);

// Whether a chain of elementwise operations may follow this node in one kernel.
bool takes_epilogue(const Graph &graph, const Graph::Node &node);
// Whether it sums products of integers (runtime/layers/integer_products.h): what follows it may be of any type.
bool is_integer_product(const Graph::Node &node);
// Whether this node may stand in such a chain.
bool is_elementwise(const Graph &graph, const Graph::Node &node);

// Whether a value lies in memory with its channels innermost: an image, of rank 4.
inline bool is_channels_last(const Graph::Value &v) { return v.layout == Layout::channels_last && v.shape.size() == 4; }
// Whether a value lies in memory as this layout says: it has it, or both are the same for its shape, as they are for an
// image of one channel or one pixel.
bool lies_as(const Graph::Value &v, Layout layout);

}  // namespace saltern::generators
