#pragma once
// A window that slides along an axis: where it stands, how often it fits.

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

struct Slide {
  Expression stride = 1, dilation = 1, pad = 0;  // as many before as behind
};

inline Expression positions(const Expression &extent, const Expression &window, const Slide &s) {
  return quotient(extent + 2 * s.pad - (window - 1) * s.dilation - 1, s.stride) + 1;
}

inline Expression source(const Expression &position, const Expression &k, const Slide &s) {
  return position * s.stride + k * s.dilation - s.pad;
}

}  // namespace saltern::algorithms
