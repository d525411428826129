#pragma once
// Softmax over one axis, its logarithm, and the loss made of it.
//
//   softmax      exp(x - m) / sum exp(x - m),   m = max x        log_softmax   x - m - log sum exp(x - m)
//   cross_entropy(x(n, c), labels(n))(n) = -log_softmax(x)(n, labels(n))
//
// The maximum keeps the powers finite; it changes neither the result nor the gradient, so none is taken of it.

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

inline Value softmax(const Value &x, int axis) {
  const Value largest = named("largest", greatest(x, {axis}));
  const Value power = named("power", exp(x - stop_gradient(largest)));
  return power / named("total", sum(power, {axis}));
}

inline Value log_softmax(const Value &x, int axis) {
  const Value largest = stop_gradient(named("largest", greatest(x, {axis})));
  return x - largest - log(named("total", sum(exp(x - largest), {axis})));
}

inline Value cross_entropy(const Value &x, const Value &labels) {
  const Value y = log_softmax(x, 1);
  return compute("cross_entropy", {x.extent(0)}, [&](Expression n) { return -y(n, labels(n)); });
}

}  // namespace saltern::algorithms
