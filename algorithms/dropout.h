#pragma once
// Dropout: elements are left out with a probability, and the others made larger so that the mean stays.
//
//   x(i)  ->  y(i) = keep(i) ? x(i) / (1 - probability) : 0,   keep(i) = uniform(seed, offset + i) >= probability
//
//   dx(i) is dropout of dy(i) with the same seed, offset and probability: the mask is drawn again, never stored.

#include "dsl/random.h"
#include "dsl/tensor.h"

namespace saltern::algorithms {
using dsl::Tensor;

inline Tensor dropout(const Tensor &x, const Halide::Expr &seed, const Halide::Expr &offset,
                      const Halide::Expr &probability) {
  Halide::Var i("i");
  Halide::Func y("dropout");
  // Unsigned, since the counter may run over the largest integer and on.
  const Halide::Expr counter = Halide::cast<uint32_t>(offset) + Halide::cast<uint32_t>(i);
  const Halide::Expr keep = dsl::uniform(seed, counter) >= Halide::cast<float>(probability);
  const Halide::Expr scale =
      Halide::cast(x.type(), 1) / (Halide::cast(x.type(), 1) - Halide::cast(x.type(), probability));
  y(i) = Halide::select(keep, x(i) * scale, Halide::cast(x.type(), 0));
  return {y, x.extents()};
}

}  // namespace saltern::algorithms
