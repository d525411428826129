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

inline Value sgd_velocity(const Value &p, const Value &g, const Value &v, const SgdSettings &s) {
  return s.momentum * v + (1 - s.dampening) * (g + s.weight_decay * p);
}

// p' with the new velocity.
inline Value sgd_moved(const Value &p, const Value &g, const Value &velocity, const SgdSettings &s) {
  return p - s.rate * where(s.nesterov == 0, velocity, g + s.weight_decay * p + s.momentum * velocity);
}

inline Values sgd(const Value &p, const Value &g, const Value &v, const SgdSettings &s) {
  const Value velocity = sgd_velocity(p, g, v, s);
  return {sgd_moved(p, g, velocity, s), velocity};
}

struct AdamSettings {
  Value rate, beta1, beta2, epsilon, weight_decay, correction1, correction2, decoupled;
};

inline Values adam_moments(const Value &p, const Value &g, const Value &m, const Value &v, const AdamSettings &s) {
  const Value gradient = g + where(s.decoupled == 0, s.weight_decay, 0) * p;
  return {s.beta1 * m + (1 - s.beta1) * gradient, s.beta2 * v + (1 - s.beta2) * gradient * gradient};
}

// p' with the new moments.
inline Value adam_moved(const Value &p, const Value &mean, const Value &square, const AdamSettings &s) {
  const Value decayed = p * (1 - s.rate * where(s.decoupled == 0, 0, s.weight_decay));
  return decayed - s.rate * ((mean / s.correction1) / (sqrt(square / s.correction2) + s.epsilon));
}

inline Values adam(const Value &p, const Value &g, const Value &m, const Value &v, const AdamSettings &s) {
  const Values moments = adam_moments(p, g, m, v, s);
  return {adam_moved(p, moments[0], moments[1], s), moments[0], moments[1]};
}

struct AdagradSettings {
  Value rate, epsilon, weight_decay;
};

inline Values adagrad(const Value &p, const Value &g, const Value &v, const AdagradSettings &s) {
  const Value gradient = g + s.weight_decay * p, square = v + gradient * gradient;
  return {p - s.rate * gradient / (sqrt(square) + s.epsilon), square};
}

}  // namespace saltern::algorithms
