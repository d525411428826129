#pragma once
// The values of a tensor, computed by the plain schedule.

#include <vector>

#include "schedules/forms/tensor.h"
#include "schedules/plain.h"

namespace saltern {

// The extents of a tensor whose inputs are at hand, as numbers.
inline std::vector<int> extents_of(const forms::Tensor &t) {
  std::vector<int> extents;
  for (const Halide::Expr &e : t.extents()) {
    const auto number = Halide::Internal::as_const_int(Halide::Internal::simplify(e));
    if (!number) throw std::logic_error("an extent of '" + t.func().name() + "' is not a number");
    extents.push_back(static_cast<int>(*number));
  }
  return extents;
}

template <typename T>
Halide::Buffer<T> evaluate(const forms::Tensor &t) {
  Halide::Func values = t.func();
  schedules::plain({values});
  return values.realize(extents_of(t));
}

}  // namespace saltern
