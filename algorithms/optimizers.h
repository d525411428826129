#pragma once
// Updates of parameters, elementwise. Each gives one tuple-valued tensor: all results of an element come from one
// stage, so that they may be written over the inputs.
//
//   sgd(p, g, v)     -> { p', v' }
//     g' = g + weight_decay p       v' = momentum v + (1 - dampening) g'
//     p' = p - rate (nesterov ? g' + momentum v' : v')
//
//   adam(p, g, m, v) -> { p', m', v' }
//     g' = g + weight_decay p       unless the decay is decoupled (AdamW): p is scaled by 1 - rate weight_decay instead
//     m' = beta1 m + (1 - beta1) g'       v' = beta2 v + (1 - beta2) g'^2
//     p' = p - rate (m' / correction1) / (sqrt(v' / correction2) + epsilon)
//   with correction1 = 1 - beta1^t and correction2 = 1 - beta2^t for step t = 1, 2, ...

#include "dsl/tensor.h"

namespace saltern::algorithms {
using dsl::Tensor;

struct SgdSettings {
  Halide::Expr rate, momentum, dampening, weight_decay, nesterov;
};

inline Tensor sgd(const Tensor &p, const Tensor &g, const Tensor &v, const SgdSettings &s) {
  const auto at = p.vars();
  const Halide::Expr gradient = g(at) + s.weight_decay * p(at);
  const Halide::Expr velocity = s.momentum * v(at) + (1 - s.dampening) * gradient;
  const Halide::Expr step = Halide::select(s.nesterov != 0, gradient + s.momentum * velocity, velocity);
  Halide::Func updated("sgd");
  updated(at) = Halide::Tuple(p(at) - s.rate * step, velocity);
  return {updated, p.extents()};
}

struct AdamSettings {
  Halide::Expr rate, beta1, beta2, epsilon, weight_decay, correction1, correction2, decoupled;
};

inline Tensor adam(const Tensor &p, const Tensor &g, const Tensor &m, const Tensor &v, const AdamSettings &s) {
  const auto at = p.vars();
  const Halide::Expr apart = s.decoupled != 0, none = Halide::cast(p.type(), 0);
  const Halide::Expr gradient = g(at) + Halide::select(apart, none, s.weight_decay) * p(at);
  const Halide::Expr decayed = p(at) - s.rate * Halide::select(apart, s.weight_decay, none) * p(at);
  const Halide::Expr mean = s.beta1 * m(at) + (1 - s.beta1) * gradient;
  const Halide::Expr square = s.beta2 * v(at) + (1 - s.beta2) * gradient * gradient;
  const Halide::Expr step = (mean / s.correction1) / (Halide::sqrt(square / s.correction2) + s.epsilon);
  Halide::Func updated("adam");
  updated(at) = Halide::Tuple(decayed - s.rate * step, mean, square);
  return {updated, p.extents()};
}

}  // namespace saltern::algorithms
