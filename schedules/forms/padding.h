#pragma once
// What a tensor reads as outside its extents. A formula that only reads inside is unchanged by these; they let a
// schedule compute past the edge of a tile, and a window look past the edge of an image.

#include "schedules/forms/tensor.h"

namespace saltern::forms {

// x with zero outside its extents.
inline Tensor zero_padded(const Tensor &x) {
  return {Halide::BoundaryConditions::constant_exterior(x.func(), Halide::cast(x.type(), 0), x.region()), x.extents()};
}

}  // namespace saltern::forms
