#pragma once
// The automatic gradient of any algorithm.
//
//   y = f(inputs...), dy of y's shape   ->   for each input x:  dx = d <dy, y> / dx, of x's shape
//
// A gradient is an ordinary algorithm: it is scheduled like one, and has a gradient of its own.
// Halide refuses reductions by maximum or minimum, and externs that it does not know; for those, algorithms/ has
// explicit gradients.

#include <stdexcept>
#include <string>
#include <vector>

#include "schedules/forms/padding.h"
#include "schedules/forms/tensor.h"

namespace saltern::forms {

// The inputs are those that y was made of: the same functions, not others with the same values.
inline std::vector<Tensor> gradient(const Tensor &y, const Tensor &dy, const std::vector<Tensor> &inputs) {
  using Halide::Func;
  if (dy.rank() != y.rank())
    throw std::invalid_argument("gradient of '" + y.func().name() + "': it has rank " + std::to_string(y.rank()) +
                                " and its adjoint rank " + std::to_string(dy.rank()));
  // Halide wants minimum and maximum here, whatever its header says.
  Halide::Region bounds;
  for (const Halide::Expr &e : y.extents()) bounds.emplace_back(0, e - 1);

  std::vector<Tensor> gradients;
  try {
    // Where a window looks past the edge, its adjoint looks past the edge of dy.
    const Halide::Derivative derivative = Halide::propagate_adjoints(y.func(), zero_padded(dy).func(), bounds);
    for (const Tensor &x : inputs) {
      Func dx = derivative(x.func());
      if (!dx.defined()) {  // y does not depend on x
        dx = Func("zero");
        dx(x.vars()) = Halide::cast(x.type(), 0);
      }
      gradients.emplace_back(dx, x.extents());
    }
  } catch (const Halide::Error &e) {
    throw std::invalid_argument("'" + y.func().name() +
                                "' has no automatic gradient; it needs an explicit one. Halide says: " + e.what());
  }
  return gradients;
}

}  // namespace saltern::forms
