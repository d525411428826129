#pragma once
// Which convolutions of a model are computed by Winograd's minimal filtering (schedules/forms/winograd.h), and what their
// kernels take.

#include <optional>

#include "generators/model/geometry.h"
#include "schedules/forms/winograd.h"
#include "schedules/patterns/winograd.h"

namespace saltern::generators {

// A convolution of one group whose window is 3 x 3 and slides from pixel to pixel. So is the gradient of one with respect to
// its image (passes/compilable.cpp).
struct WinogradNode {
  Geometry geometry;
  bool has_constants;  // weights and bias, which are packed then; else weights are transformed when the kernel runs
  bool has_bias;
  int tile;  // 2 or 4 pixels along a side, where the pass with_winograd marked the node; 0: it did not
};

// Nothing where a node has not this form.
std::optional<WinogradNode> winograd_form(const Graph &graph, const Graph::Node &node);
int winograd_tile(const Graph::Node &node);
// The tile that is fastest for a convolution of this form; 0: none is faster than its sums as they stand, or it has few
// channels, which gain little. A small tile, which is more exact and has smaller weights, wins where it is nearly as fast.
int fastest_tile(const Geometry &g, bool has_constants = true);

schedules::WinogradShape winograd_shape(const Geometry &g, int tile);
int channel_chunks(const Geometry &g);
// Weights (O, I, 3, 3) as transformed(co, c, chunk, i, j, block), zero past the last channels; the shape of the result is
// in reverse, as shapes are.
Tensor transformed_weights(const Tensor &weights, const Geometry &g, int tile);

}  // namespace saltern::generators
