#pragma once
// One component of a tuple-valued tensor.

#include "schedules/forms/tensor.h"

namespace saltern::forms {

inline Tensor component(const Tensor &tuple, int i) {
  const auto at = tuple.vars();
  Halide::Func f(tuple.func().name() + "_component");
  f(at) = tuple.func()(at)[i];
  return {f, tuple.extents()};
}

}  // namespace saltern::forms
