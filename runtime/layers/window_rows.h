#pragma once
// Convolutions of images of few pixels as products of matrices: the windows of all pixels of all images are the rows of one,
// windows(n y x, ky kx c), and weights, whose channels are innermost, are the other, w(o, ky kx c). Kernels of convolutions
// have tiles that end with an image, most of which is idle where that has 2 x 2 pixels (schedules/patterns/window_rows.h has
// figures). Compiled models have the same by a kernel of its own (schedules/forms/window_rows.h).

#include "runtime/layers/window.h"

namespace saltern {

// Of shapes (N, C, H, W), (O, C, KH, KW) and (N, O, Y, X) of one group.
struct WindowRows {
  Shape x, w, y;
  Window window;

  // Whether these are few pixels, of enough channels.
  bool fits() const;
  // Whether the gradient of the image is a convolution, too.
  bool has_gradient_x() const;

  // Of tensors whose channels are innermost.
  Tensor result(const Tensor &x, const Tensor &w, const Tensor &b) const;
  Tensor gradient_x(const Tensor &w, const Tensor &dy) const;
  Tensor gradient_w(const Tensor &x, const Tensor &dy) const;
};

}  // namespace saltern
