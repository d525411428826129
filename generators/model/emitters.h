#pragma once
// The emitters behind emit.h: one for each way that a kernel of a compiled model comes about.

#include "generators/model/emit.h"
#include "generators/model/merged_axes.h"

namespace saltern::generators {

struct Chain;

// A contraction with packed weights and an epilogue: conv2d of one group and dense, of constant weights.
EmittedKernel emit_contraction(const Graph &graph, const Group &group);
// A convolution that with_winograd (passes/passes.h) marked, and an epilogue.
EmittedKernel emit_winograd(const Graph &graph, const Group &group);
// Sums of products of bytes and an epilogue, which scales and rounds them.
EmittedKernel emit_integer_product(const Graph &graph, const Group &group);
// Products, scores, softmax and products again, without the scores as a whole.
EmittedKernel emit_attention(const Graph &graph, const Group &group);
// Convolutions that follow each other, computed depth first.
EmittedKernel emit_chain(const Graph &graph, const Chain &chain);
// Whether a group is such a chain by itself: it gains by reading past the edges of its image without a copy.
bool has_chain_form(const Graph &graph, const Group &group);
// A chain of elementwise operations, with broadcasting.
EmittedKernel emit_elementwise(const Graph &graph, const Group &group);
// Any formula: movement, reductions, gathers.
EmittedKernel emit_formula(const Graph &graph, const Group &group);
// What is no formula of each element by itself: a scatter or a scan, scheduled by structure.
EmittedKernel emit_stage(const Graph &graph, const Group &group);
EmittedKernel emit_max_pool(const Graph &graph, const Group &group);
// A convolution of computed weights, or a gradient of one, whose images have few pixels.
EmittedKernel emit_window_rows(const Graph &graph, const Group &group);
bool has_window_rows(const Graph &graph, const Graph::Node &node);
// A kernel of the library with exact extents and scalars.
EmittedKernel emit_library(const Graph &graph, const Group &group);
// The same elements in another order of memory: a reshape of images.
EmittedKernel emit_reshape(const Graph &graph, const Group &group);

// Values joined along a dimension, all by one kernel;
EmittedKernel emit_concat(const Graph &graph, const Group &group);
// or one part of them, copied to its place.
EmittedKernel emit_part(const Graph &graph, const Graph::Node &concat, size_t input, const Piece &place);

bool has_packed_form(const Graph &graph, const Graph::Node &node);
// Whether it is a convolution whose every channel is a group of its own, of constant weights.
bool is_depthwise(const Graph &graph, const Graph::Node &node);
bool has_library_form(const Graph::Node &node);
// Whether an epilogue can follow it in its kernel.
bool has_library_epilogue(const Graph &graph, const Graph::Node &node);

// Which public dimension each dimension of memory is, innermost first.
std::vector<int> memory_order(const Graph::Value &v);
// At least one dimension: a tensor of rank 0 is one of one element.
std::vector<int> memory_extents(const Graph::Value &v);

// What the elementwise nodes of a group make of `value`; read(name) is another operand at the same element.
Halide::Expr apply_elementwise(const Graph &graph, const std::vector<Graph::Node> &nodes, size_t first,
                               Halide::Expr value, const std::string &value_name,
                               const std::function<Halide::Expr(const std::string &)> &read);
// The operands that the elementwise nodes read beside the chain, each once, in order; and their operations as a text.
std::vector<std::string> other_operands(const std::vector<Graph::Node> &nodes, size_t first,
                                        const std::string &value_name);
std::string epilogue_key(const std::vector<Graph::Node> &nodes, size_t first, const std::string &value_name);

// Values of the graph as Values of the language, which lie in memory: dimensions are in its order, the outermost first, all
// of them or those of several elements.
enum class Dimensions { all, of_several };
formula::Value stored_input(const std::string &name, const Graph::Value &v, Dimensions which = Dimensions::all);
// The element of one at indices in the order that users know,
formula::Expression stored_element(const formula::Value &stored, const Graph::Value &v, const formula::Axes &indices,
                                   Dimensions which = Dimensions::all);
// and a result by what its elements are at such indices.
formula::Value stored_result(const Graph::Value &v, const formula::Element &element,
                             Dimensions which = Dimensions::all);
// The extents of one, as kernels' arguments have them.
std::vector<int> innermost_first(const formula::Value &stored);
// The kernel of a formula of stored inputs, scheduled by structure. It is asked for when the kernel is built: a plan of
// many thousand nodes builds few.
std::function<Build(const Halide::Target &)> built_by_structure(const std::function<MergedAxes()> &formula);

// Whether a formula computes with the indices of its element, not only reads there.
bool reads_its_place(const formula::Expression &element);

// A text that is equal for values of one type, shape and layout.
std::string key_of(const Graph::Value &v);

// The extents of an image (N, C, H, W) whose channels are innermost.
std::vector<int> image_extents(const Shape &shape);

// A value or constant as an argument of a kernel that takes it as it lies, whatever the graph says of it;
EmittedArgument argument(const Graph &graph, const std::string &value);
// or of one whose code is for this order of memory and type, and sees it with these extents. Constants are brought into
// that order; a value has to be in it.
EmittedArgument argument(const Graph &graph, const std::string &value, std::vector<int> extents, Layout layout,
                         Type type = Type::f32);

}  // namespace saltern::generators
