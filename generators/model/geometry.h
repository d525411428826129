#pragma once
// The one form that every contraction of a compiled model has: a convolution with known extents.
//
// A dense layer is a 1 x 1 convolution whose pixels are the rows of the batch; a convolution whose window is the whole
// image is a dense layer over the image's memory.

#include <string>

#include "algorithms/sliding.h"
#include "dsl/shapes.h"
#include "runtime/graph/graph.h"

namespace saltern::generators {

struct Geometry {
  int channels_in, width, height, batch;
  int kernel_x, kernel_y, channels_out;
  Sliding2d<int> sliding;

  int out_width() const { return window_positions(width, kernel_x, sliding.x); }
  int out_height() const { return window_positions(height, kernel_y, sliding.y); }
  bool is_padded() const;
  double flops() const;
};

// Output channels in one panel of packed weights. One packing serves all CPU targets: it is one vector of AVX-512, two
// of AVX2, four of SSE4.1.
constexpr int panel = 16;
inline int panels(const Geometry &g) { return (g.channels_out + panel - 1) / panel; }

algorithms::Slides slides(const Sliding2d<int> &s);
// The attributes strides, pads and dilations of a node.
Sliding2d<int> sliding_of(const Attributes &attributes);

// The window of a pooling node: its attribute kernel, and how it slides.
struct PoolWindow {
  int kernel_x, kernel_y;
  Sliding2d<int> sliding;
};
PoolWindow pool_window(const Attributes &attributes);

// A node of the operation conv2d (of one group) or dense, as the graph says. Throws where shapes do not fit.
Geometry geometry_of(const Graph &graph, const Graph::Node &node);
// A convolution whose every channel is a group of its own: each channel of the result has one channel of the image.
Geometry depthwise_geometry(const Graph &graph, const Graph::Node &node);
// The same computation on the same memory, with as few dimensions as it has.
Geometry simplified(const Geometry &g);

// Weights (O, I, KH, KW) as packed(co, ci, kx, ky, block), zero past the last output channel; the shape of the result
// is in reverse, as shapes are. Their geometry is the unsimplified one: simplifying changes the names of dimensions,
// never the order of memory.
Tensor packed_weights(const Tensor &weights, const Geometry &g);
// A bias (O), or none, as packed(co, block).
Tensor packed_bias(const Tensor &bias, const Geometry &g);

// A depthwise convolution's weights (C, 1, KH, KW) with their channels innermost: (KH, KW, C).
Tensor channels_innermost(const Tensor &weights);
// A constant with one element for each channel, and zeros after them up to the end of the last panel.
Tensor filled_panels(const Tensor &constant);

// Texts that are equal for equal geometries.
std::string to_string(const Geometry &g);
std::string to_string(const PoolWindow &w);

}  // namespace saltern::generators
