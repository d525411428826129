#pragma once
// Normalisation of each row, over the innermost dimension.
//
//   layer_norm:  y(c, n) = scale(c) (x(c, n) - mean(n)) / sqrt(variance(n) + epsilon) + shift(c)
//                mean(n) = sum_c x(c, n) / C,   variance(n) = sum_c (x(c, n) - mean(n))^2 / C      (biased)
//   rms_norm:    y(c, n) = scale(c) x(c, n) / sqrt(sum_c x(c, n)^2 / C + epsilon)
//
// Their gradients are written with other operations (runtime/layers/layer_norm.cpp).

#include "dsl/tensor.h"

namespace saltern::algorithms {
using dsl::Tensor;

// The sums are functions of their own, for a schedule to split; so are the factors, one for each row.
struct RowNorm {
  std::vector<Halide::Func> sums;
  Halide::Func factor;  // 1 / sqrt(... + epsilon)
  Tensor y;
};

inline Halide::Expr row_norm_factor(const Halide::Expr &squares, const Tensor &x, const Halide::Expr &epsilon) {
  return 1 / Halide::sqrt(squares / Halide::cast(x.type(), x.extent(0)) + Halide::cast(x.type(), epsilon));
}

inline RowNorm layer_norm(const Tensor &x, const Tensor &scale, const Tensor &shift, const Halide::Expr &epsilon) {
  Halide::Var c("c"), n("n");
  Halide::RDom r(0, x.extent(0), "r"), s(0, x.extent(0), "s");
  Halide::Func sum("sum"), squares("squares"), factor("factor"), y("layer_norm");
  const auto deviation = [&](const Halide::Expr &at) {
    return x(at, n) - sum(n) / Halide::cast(x.type(), x.extent(0));
  };
  sum(n) = Halide::cast(x.type(), 0);
  sum(n) += x(r, n);
  squares(n) = Halide::cast(x.type(), 0);
  squares(n) += deviation(s) * deviation(s);
  factor(n) = row_norm_factor(squares(n), x, epsilon);
  y(c, n) = deviation(c) * factor(n) * scale(c) + shift(c);
  return {{sum, squares}, factor, {y, x.extents()}};
}

inline RowNorm rms_norm(const Tensor &x, const Tensor &scale, const Halide::Expr &epsilon) {
  Halide::Var c("c"), n("n");
  Halide::RDom r(0, x.extent(0), "r");
  Halide::Func squares("squares"), factor("factor"), y("rms_norm");
  squares(n) = Halide::cast(x.type(), 0);
  squares(n) += x(r, n) * x(r, n);
  factor(n) = row_norm_factor(squares(n), x, epsilon);
  y(c, n) = x(c, n) * factor(n) * scale(c);
  return {{squares}, factor, {y, x.extents()}};
}

}  // namespace saltern::algorithms
