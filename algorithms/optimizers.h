#pragma once
// Updates of parameters, elementwise; all results come from the same elements, so that they may be written over the inputs.
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
//
//   adagrad(p, g, v) -> { p', v' }
//     g' = g + weight_decay p       v' = v + g'^2       p' = p - rate g' / (sqrt(v') + epsilon)

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

struct SgdSettings {
  Value rate, momentum, dampening, weight_decay, nesterov;
};

inline Values sgd(const Value &p, const Value &g, const Value &v, const SgdSettings &s) {
  const Value gradient = g + s.weight_decay * p;
  const Value velocity = s.momentum * v + (1 - s.dampening) * gradient;
  const Value step = where(s.nesterov == 0, velocity, gradient + s.momentum * velocity);
  return {p - s.rate * step, velocity};
}

struct AdamSettings {
  Value rate, beta1, beta2, epsilon, weight_decay, correction1, correction2, decoupled;
};

inline Values adam(const Value &p, const Value &g, const Value &m, const Value &v, const AdamSettings &s) {
  const Value together = s.decoupled == 0;
  const Value gradient = g + where(together, s.weight_decay, 0) * p;
  const Value decayed = p * (1 - s.rate * where(together, 0, s.weight_decay));
  const Value mean = s.beta1 * m + (1 - s.beta1) * gradient;
  const Value square = s.beta2 * v + (1 - s.beta2) * gradient * gradient;
  const Value step = (mean / s.correction1) / (sqrt(square / s.correction2) + s.epsilon);
  return {decayed - s.rate * step, mean, square};
}

struct AdagradSettings {
  Value rate, epsilon, weight_decay;
};

inline Values adagrad(const Value &p, const Value &g, const Value &v, const AdagradSettings &s) {
  const Value gradient = g + s.weight_decay * p, square = v + gradient * gradient;
  return {p - s.rate * gradient / (sqrt(square) + s.epsilon), square};
}

}  // namespace saltern::algorithms
