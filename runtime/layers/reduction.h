#pragma once
// Sums and means over dimensions, and their mirror image, repetition.
//   sum     attributes: axes, scale. y = scale * (sum of x over the axes); these keep an extent of 1.
//   expand  attributes: shape. x repeated, by broadcasting, until it has the shape.

#include "runtime/layers/movement.h"

namespace saltern {

// Over all dimensions: a scalar, of shape [].
Variable sum(const Variable &x);
Variable mean(const Variable &x);
// Over some, which keep an extent of 1.
Variable sum(const Variable &x, const std::vector<int64_t> &axes, double scale = 1);
Variable mean(const Variable &x, const std::vector<int64_t> &axes);

Variable expand(const Variable &x, const Shape &shape);
// The sum over what expand() repeats: from a shape back to one that broadcasts to it.
Variable sum_to(const Variable &x, const Shape &shape);

}  // namespace saltern
