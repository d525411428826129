#pragma once
// Functions of one number, with their parameters. Gradients come from the formulas.

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

inline Value relu(const Value &x) { return where(x > 0, x, 0); }
inline Value leaky_relu(const Value &x, double slope) { return where(x > 0, x, x * slope); }
inline Value elu(const Value &x, double alpha) { return where(x > 0, x, (exp(min(x, 0)) - 1) * alpha); }
// Both sides by the power that cannot overflow.
inline Value sigmoid(const Value &x) {
  const Value e = exp(-abs(x));
  return where(x < 0, e, 1) / (e + 1);
}
inline Value silu(const Value &x) { return x * sigmoid(x); }
inline Value softplus(const Value &x) { return max(x, 0) + log(exp(-abs(x)) + 1); }
// tanh(softplus(x)) = n / (n + 2) with n = e^x (e^x + 2), and 1 from 20 on.
inline Value mish(const Value &x) {
  const Value e = exp(min(x, 20)), n = e * (e + 2);
  return x * (n / (n + 2));
}
inline Value gelu(const Value &x) { return x * ((erf(x * 0.70710678118654752) + 1) * 0.5); }
inline Value gelu_tanh(const Value &x) {
  return x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.79788456080286536) + 1);
}
inline Value hard_swish(const Value &x) { return x * max(min(x + 3, 6), 0) / 6; }

// The sum over all elements.
inline Value huber_loss(const Value &x, const Value &target, double delta) {
  const Value e = abs(x - target);
  return sum_all(where(e < delta, e * e * 0.5, (e - 0.5 * delta) * delta));
}

}  // namespace saltern::algorithms
