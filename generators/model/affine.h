#pragma once
// Indices of formulas that are sums: a constant and multiples of axes. They are what moves elements without looking at
// them: slices, transposes, repetition.

#include <optional>

#include "dsl/expression.h"
#include "runtime/tensor/tensor.h"

namespace saltern::generators {

struct Affine {
  int64_t constant = 0;
  Shape factors;  // of the axes
};

// The index as such a sum, for a result of so many axes; nothing where it is none.
std::optional<Affine> affine(const formula::Expression &index, size_t axes);

// The same elements before a reshape: where those at `indices` of a tensor of the shape `to` are in the tensor of the
// shape `from` that it was. The axes have the extents `axes`. Nothing where an index would not be such a sum.
std::optional<std::vector<formula::Expression>> before_reshape(const std::vector<formula::Expression> &indices,
                                                               const Shape &axes, const Shape &to, const Shape &from);

}  // namespace saltern::generators
