#pragma once
// Passes: functions from a graph to a graph that computes the same, in a form that compiles better. They use ordinary
// operations only, so that the executor can run a graph before and after each.

#include <string>
#include <unordered_set>

#include "runtime/graph/graph.h"

namespace saltern::generators {

// Without operations that do nothing: identity, a reshape to the same shape.
[[nodiscard]] Graph without_identities(Graph graph);

// What depends on constants only is computed here and becomes a constant, unless the library would grow by it.
[[nodiscard]] Graph with_folded_constants(Graph graph);

// Batch norm after a convolution or dense layer of constant weights goes into these weights.
[[nodiscard]] Graph with_folded_batch_norm(Graph graph);

// What is left of batch norm, as one multiplication and one addition for each channel.
[[nodiscard]] Graph with_batch_norm_as_arithmetic(Graph graph);

// A dense layer that reads a flattened image becomes a convolution whose window is the whole image: the image stays as
// it lies in memory, and its weights are packed in that order.
[[nodiscard]] Graph with_dense_on_images(Graph graph);

// Channels of an image in another order, written as reshape, transpose and reshape (ShuffleNet), are one formula, which
// leaves the image as it lies in memory.
[[nodiscard]] Graph with_channel_shuffles(Graph graph);

// Operations that have no kernel of their own as others that have: matrix products with constants as dense layers,
// batches that broadcast as copies, softmax along a dimension that is not the last, means of whole images, slices,
// transposes, sums and repetitions as formulas.
[[nodiscard]] Graph with_compilable_operations(Graph graph);

// A gradient that asks where the operand of max(x, 0) is greater than zero asks the result instead, where nobody else reads x
// any more: so the maximum is computed where x is, and x need not be kept for the gradient.
[[nodiscard]] Graph with_masks_of_results(Graph graph);

// Formulas that are rows times constant weights, as a layer of one's own or a turn of an LSTM has them, are dense layers,
// whose weights are packed.
[[nodiscard]] Graph with_dense_products(Graph graph);

// Elementwise operations that read the rows of a product through a reshape are computed on the rows, and their result is
// reshaped: so they end the product's kernel. Before and after formulas are fused, since that leaves one reader of some.
[[nodiscard]] Graph with_sunk_reshapes(Graph graph);

// A formula whose only reader is another one is computed there, element by element: chains of elementwise operations,
// movement of elements before and after them, what a reduction sums up. Not where elements would be computed many times
// over, and not what a kernel before it takes as its epilogue.
[[nodiscard]] Graph with_fused_formulas(Graph graph);

// A product, a softmax over rows of what is computed from it element by element (scaled, masked) and another product
// are an attention (runtime/layers/attention.cpp), which reads its operands from where they were before movements and
// reshapes, and computes of them what only it reads. Values that are read elsewhere too leave them alone.
[[nodiscard]] Graph with_attention(Graph graph);

// A join that begins with all parts of an earlier one takes that instead: concat(a, b, c) is concat(concat(a, b), c). So
// the joins of a DenseNet's block are one that grows, which homes.h keeps in one memory.
[[nodiscard]] Graph with_growing_joins(Graph graph);

// Images that convolutions and pools read or make lie in memory with their channels innermost, and so does what is
// computed from them element by element.
[[nodiscard]] Graph with_layouts(Graph graph);

// What is reduced of rows, and read by one formula of these rows in the end, is computed by that formula: a norm, a
// softmax or a log-sum-exp goes through each row while it is in the cache, instead of several times through memory.
// Such a formula is slow to interpret, since it says nothing of how often a row is reduced: it is the last pass.
[[nodiscard]] Graph with_fused_statistics(Graph graph);

// Not one of prepared_for_inference(): these values, which the nodes up to the one that makes `turn` make, are made again for
// the nodes behind it, right before the first of these that reads one. So their memory is free in between. What a value is
// made of is made again where it is named, too, and lives until then where it is not. memory_budget.h says which to name.
[[nodiscard]] Graph with_recomputed(Graph graph, const std::unordered_set<std::string> &values,
                                    const std::string &turn);

// Not one of prepared_for_inference() either, and the last of all: convolutions that are faster by Winograd's minimal
// filtering (winograd.h) are marked with the tile to take. Whoever runs the graph may pass over that.
[[nodiscard]] Graph with_winograd(Graph graph);

// All of them, in order. Throws an Error that names the pass where one leaves a wrong graph.
[[nodiscard]] Graph prepared_for_inference(const Graph &graph);
// What is compiled: the same, and with_winograd() unless convolutions are to be exact. Throws where the graph is not valid.
[[nodiscard]] Graph prepared_to_compile(const Graph &graph, bool exact_convolutions);

}  // namespace saltern::generators
