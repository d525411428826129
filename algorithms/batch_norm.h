#pragma once
// Batch normalisation over channels; p runs over all pixels of all images.
//
//   statistics:  mean(c) = sum_p x(c, p) / P      variance(c) = sum_p (x(c, p) - mean(c))^2 / P      (biased)
//   forward:     y(c, p) = scale(c) h(c, p) + shift(c),   h(c, p) = (x(c, p) - mean(c)) r(c),
//                r(c) = 1 / sqrt(variance(c) + epsilon)
//
//   dshift(c) = sum_p dy(c, p)        dscale(c) = sum_p dy(c, p) h(c, p)
//   training, where the statistics depend on x:  dx(c, p) = scale(c) r(c) (dy - dshift(c) / P - h dscale(c) / P)
//   inference, where they are constants:         dx(c, p) = scale(c) r(c) dy(c, p)
//
// The variance is taken about the mean in a second walk over x: sum x^2 / P - mean^2 loses all digits where the mean is
// large against the deviation.

#include "dsl/tensor.h"

namespace saltern::algorithms {
using dsl::Tensor;

// The sums are functions of their own, for a schedule to split.
struct BatchNormStatistics {
  Halide::Func sum, squares;
  Tensor mean, variance;
};

inline BatchNormStatistics batch_norm_statistics(const Tensor &x) {
  Halide::Var c("c");
  Halide::RDom p(0, x.extent(1), "p"), q(0, x.extent(1), "q");
  Halide::Func sum("sum"), squares("squares"), mean("mean"), variance("variance");
  const Halide::Expr count = Halide::cast(x.type(), x.extent(1));
  sum(c) = Halide::cast(x.type(), 0);
  sum(c) += x(c, p);
  mean(c) = sum(c) / count;
  const Halide::Expr deviation = x(c, q) - mean(c);
  squares(c) = Halide::cast(x.type(), 0);
  squares(c) += deviation * deviation;
  variance(c) = squares(c) / count;
  return {sum, squares, {mean, {x.extent(0)}}, {variance, {x.extent(0)}}};
}

// What the normalised x is multiplied by to be y, channel by channel.
inline Tensor batch_norm_factor(const Tensor &variance, const Tensor &scale, const Halide::Expr &epsilon) {
  Halide::Var c("c");
  Halide::Func factor("factor");
  factor(c) = scale(c) / Halide::sqrt(variance(c) + Halide::cast(variance.type(), epsilon));
  return {factor, {variance.extent(0)}};
}

// y, given factor = batch_norm_factor(variance, scale, epsilon).
inline Tensor batch_norm(const Tensor &x, const Tensor &mean, const Tensor &factor, const Tensor &shift) {
  Halide::Var c("c"), p("p");
  Halide::Func y("batch_norm");
  y(c, p) = (x(c, p) - mean(c)) * factor(c) + shift(c);
  return {y, x.extents()};
}

struct BatchNormGradient {
  Halide::Func sums;     // (sum_p dy, sum_p dy (x - mean)): one walk over x and dy
  Halide::Func factors;  // (scale r, what (x - mean) is multiplied by in dx, what is subtracted in dx)
  Tensor x, scale, shift;
};

enum class Statistics { of_x, constant };

inline BatchNormGradient batch_norm_gradient(const Tensor &x, const Tensor &mean, const Tensor &variance,
                                             const Tensor &scale, const Tensor &dy, const Halide::Expr &epsilon,
                                             Statistics statistics) {
  Halide::Var c("c"), p("p");
  Halide::RDom q(0, x.extent(1), "q");
  const Halide::Type type = x.type();
  const Halide::Expr zero = Halide::cast(type, 0), count = Halide::cast(type, x.extent(1));
  Halide::Func sums("sums"), factors("factors"), dx("batch_norm_dx"), dscale("batch_norm_dscale"),
      dshift("batch_norm_dshift");
  sums(c) = Halide::Tuple(zero, zero);
  sums(c) = Halide::Tuple(sums(c)[0] + dy(c, q), sums(c)[1] + dy(c, q) * (x(c, q) - mean(c)));

  const Halide::Expr r = 1 / Halide::sqrt(variance(c) + Halide::cast(type, epsilon));
  dshift(c) = sums(c)[0];
  dscale(c) = sums(c)[1] * r;
  factors(c) = Halide::Tuple(scale(c) * r, sums(c)[1] * r * r / count, sums(c)[0] / count);

  if (statistics == Statistics::of_x)
    dx(c, p) = factors(c)[0] * (dy(c, p) - factors(c)[2] - (x(c, p) - mean(c)) * factors(c)[1]);
  else
    dx(c, p) = factors(c)[0] * dy(c, p);
  return {sums, factors, {dx, x.extents()}, {dscale, {x.extent(0)}}, {dshift, {x.extent(0)}}};
}

}  // namespace saltern::algorithms
