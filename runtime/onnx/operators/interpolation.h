#pragma once
// The value of an image between its elements: (N, C, D1, ..., Dn) at a place that is computed.
//
// What lies outside is one image with the inside: filters reach across the edge, and read zeros, the nearest element,
// or the reflected one there. (So do PyTorch and ONNX Runtime. ONNX's reference moves places back to the border before
// it filters, which gives other values for cubic filters there.)

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

struct Interpolation {
  enum class Filter : uint8_t { nearest, linear, cubic };
  enum class Outside : uint8_t { zeros, border, reflection };

  Filter filter = Filter::linear;
  Outside outside = Outside::zeros;
  // Where reflection turns round: in the centres of the outermost elements, or at their outer edges.
  bool at_centres = true;
};

// `place` has a coordinate for each spatial dimension, in elements; the result has the type of `value_type`.
Expression interpolated(const Interpolation &how, const Read &x, const Expression &batch, const Expression &channel,
                        const std::vector<Expression> &place, Type value_type);

}  // namespace saltern
