// Estimates of the inputs' extents give those of the outputs.

#include "generators/estimates.h"

#include <gtest/gtest.h>

#include "schedules/forms/tensor.h"

namespace saltern {
namespace {

using forms::Estimates;
using forms::Tensor;
using Halide::ImageParam;

Tensor dense(const Tensor &x, const Tensor &w, const Tensor &b) {
  const Halide::Var o("o"), n("n");
  const Halide::RDom i(0, x.extent(0), "i");
  Halide::Func y("dense");
  y(o, n) = b(o);
  y(o, n) += w(i, o) * x(i, n);
  return {y, {w.extent(1), x.extent(1)}};
}

TEST(Estimates, OfOutputsFollowFromThoseOfInputs) {
  const ImageParam x(Halide::Float(32), 2, "x"), w(Halide::Float(32), 2, "w"), b(Halide::Float(32), 1, "b");
  const Tensor y = dense(Tensor(x), Tensor(w), Tensor(b));
  Estimates estimates;
  estimates.input(x, {7, 3});
  estimates.input(w, {7, 5});
  estimates.input(b, {5});
  estimates.output(y.func(), y);
  const auto &bounds = y.func().function().schedule().estimates();
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_TRUE(Halide::Internal::is_const(bounds[0].extent, 5));
  EXPECT_TRUE(Halide::Internal::is_const(bounds[1].extent, 3));
  EXPECT_TRUE(Halide::Internal::is_const(x.parameter().extent_constraint_estimate(0), 7));
}

TEST(Estimates, NameTheOutputWhoseExtentIsUnknown) {
  const ImageParam x(Halide::Float(32), 2, "x"), w(Halide::Float(32), 2, "w"), b(Halide::Float(32), 1, "b");
  const Tensor y = dense(Tensor(x), Tensor(w), Tensor(b));
  Estimates estimates;
  estimates.input(x, {7, 3});
  EXPECT_THROW(estimates.output(y.func(), y), std::invalid_argument);
  EXPECT_THROW(estimates.input(w, {7}), std::invalid_argument);
}

}  // namespace
}  // namespace saltern
