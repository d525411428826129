#pragma once
// What a tensor reads as outside its extents. A formula that only reads inside is unchanged by these; they let a
// schedule compute past the edge of a tile, and a window look past the edge of an image.

#include "schedules/forms/tensor.h"

namespace saltern::forms {

// x with zero outside its extents.
inline Tensor zero_padded(const Tensor &x) {
  return {Halide::BoundaryConditions::constant_exterior(x.func(), Halide::cast(x.type(), 0), x.region()), x.extents()};
}

// x with zero outside its extent along dimension d.
inline Tensor zero_padded(const Tensor &x, int d) {
  Halide::Region bounds(x.rank(), {Halide::Expr(), Halide::Expr()});
  bounds[d] = {0, x.extent(d)};
  return {Halide::BoundaryConditions::constant_exterior(x.func(), Halide::cast(x.type(), 0), bounds), x.extents()};
}

// x whose last element along dimension d goes on for ever, and likewise its first.
inline Tensor edge_repeated(const Tensor &x, int d) {
  std::vector<Halide::Var> args = x.vars();
  std::vector<Halide::Expr> inside(args.begin(), args.end());
  inside[d] = Halide::clamp(args[d], 0, x.extent(d) - 1);
  Halide::Func f("edge_repeated");
  f(args) = x(inside);
  return {f, x.extents()};
}

}  // namespace saltern::forms
