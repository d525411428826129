#pragma once
// Shape rules, written once for both worlds: Extent is an integer in the run world and a Halide expression in the
// compile world.

namespace saltern {

// How a window (a convolution's kernel, a pool) slides over one spatial dimension.
template <typename Extent>
struct Sliding {
  Extent stride, dilation, pad_before, pad_after;
};

// Both spatial dimensions, x (width) first as everywhere inside.
template <typename Extent>
struct Sliding2d {
  Sliding<Extent> x, y;
};

// Positions that a window of `window` elements takes over `extent` elements.
template <typename Extent>
Extent window_positions(Extent extent, Extent window, const Sliding<Extent> &s) {
  return (extent + s.pad_before + s.pad_after - s.dilation * (window - 1) - 1) / s.stride + 1;
}

}  // namespace saltern
