#pragma once
// Which convolutions of a model are computed by Winograd's minimal filtering (schedules/forms/winograd.h), and what their
// kernels take.

#include "generators/model/geometry.h"
#include "schedules/forms/winograd.h"
#include "schedules/patterns/winograd.h"

namespace saltern::generators {

// The tile of a node that the pass with_winograd marked: 2 or 4 pixels along a side; 0: it is none of them.
int winograd_tile(const Graph::Node &node);

// Whether it slides a window of 3 x 3 from pixel to pixel.
bool has_winograd_form(const Geometry &g);
// The tile that is fastest for a convolution of this form; 0: none is faster than its sums as they stand, or it has few
// channels, which gain little. A small tile, which is more exact and has smaller weights, wins where it is nearly as fast.
int fastest_tile(const Geometry &g);

schedules::WinogradShape winograd_shape(const Geometry &g, int tile);
int channel_chunks(const Geometry &g);
// Weights (O, I, 3, 3) as transformed(co, c, chunk, i, j, block), zero past the last channels; the shape of the result is
// in reverse, as shapes are.
Tensor transformed_weights(const Tensor &weights, const Geometry &g, int tile);

}  // namespace saltern::generators
