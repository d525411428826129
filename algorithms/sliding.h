#pragma once
// A window that slides along an axis: where it stands, how often it fits.

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

struct Slide {
  Expression stride = 1, dilation = 1, pad = 0;
  Expression pad_behind = {};  // undefined: as many as before
};

// Along the two axes of an image.
struct Slide2d {
  Slide y, x;
  Slide2d(const Slide &both) : y(both), x(both) {}  // NOLINT: one for both
  Slide2d(Slide along_y, Slide along_x) : y(std::move(along_y)), x(std::move(along_x)) {}
};

inline Expression positions(const Expression &extent, const Expression &window, const Slide &s) {
  const Expression padded = extent + s.pad + (s.pad_behind.defined() ? s.pad_behind : s.pad);
  return quotient(padded - (window - 1) * s.dilation - 1, s.stride) + 1;
}

inline Expression source(const Expression &position, const Expression &k, const Slide &s) {
  return position * s.stride + k * s.dilation - s.pad;
}

}  // namespace saltern::algorithms
