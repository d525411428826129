#pragma once
// Convolutions of awkward sizes, and the loops that say what they are.

#include <gtest/gtest.h>

#include "dsl/shapes.h"

namespace saltern {

struct Convolution {
  int ci, groups, width, height, n, kernel_x, kernel_y, co;
  saltern::Sliding2d<int> s;

  int out_width() const { return window_positions(width, kernel_x, s.x); }
  int out_height() const { return window_positions(height, kernel_y, s.y); }
  // Calls visit(kx, ky, x, y) for the window's elements that lie inside the image.
  template <typename Visit>
  void for_each_inside(int at_x, int at_y, const Visit &visit) const {
    for (int ky = 0; ky < kernel_y; ++ky)
      for (int kx = 0; kx < kernel_x; ++kx) {
        const int x = at_x * s.x.stride + kx * s.x.dilation - s.x.pad_before;
        const int y = at_y * s.y.stride + ky * s.y.dilation - s.y.pad_before;
        if (x >= 0 && x < width && y >= 0 && y < height) visit(kx, ky, x, y);
      }
  }
};

inline const auto awkward_convolutions = testing::Values(
    Convolution{1, 1, 1, 1, 1, 1, 1, 1, {{1, 1, 0, 0}, {1, 1, 0, 0}}},
    Convolution{3, 1, 5, 4, 2, 3, 3, 2, {{1, 1, 1, 1}, {1, 1, 1, 1}}},
    Convolution{2, 1, 7, 6, 1, 3, 2, 3, {{2, 1, 1, 0}, {1, 2, 2, 1}}},   // stride one way, dilation the other
    Convolution{2, 3, 5, 7, 1, 2, 3, 2, {{3, 1, 0, 2}, {2, 1, 1, 1}}},   // groups, uneven padding
    Convolution{2, 1, 3, 3, 2, 5, 5, 1, {{1, 1, 2, 2}, {1, 1, 3, 1}}},   // window larger than the image
    Convolution{1, 1, 9, 8, 1, 2, 2, 1, {{4, 2, 0, 0}, {3, 1, 0, 0}}});  // stride beyond the window

}  // namespace saltern
