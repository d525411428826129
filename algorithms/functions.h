#pragma once
// Functions of one number and of two, with their parameters. Gradients come from the formulas, but for those whose
// convention at a kink is another one than the formula's.
//
// NaN goes through all of them but thresholded_relu. At a kink the gradient is PyTorch's: that of relu is 0 at 0, of
// leaky_relu the slope; equal operands of maximum and minimum share it.

#include <cmath>

#include "dsl/derivative.h"

namespace saltern::algorithms {

using namespace formula;

// log(1 + x) and e^x - 1 to all digits of x, of which a small one loses the last beside a 1: by series as long as the type
// has digits.
//
// log(1 + x) = 2 artanh(x / (x + 2)), for x from -1/2 to 1.
inline Value log_near_one(const Value &x) {
  const int last = x.type() == Type::f64 ? 33 : 13;
  const Value s = x / (x + 2), t = s * s;
  Value series = 1.0 / last;
  for (int n = last - 2; n > 0; n -= 2) series = series * t + 1.0 / n;
  return s * 2 * series;
}
inline Value log_of_one_more(const Value &x) {
  return with_gradient(where(x > -0.5 && x < 1, log_near_one(x), log(x + 1)),
                       {{x}, [x](const Value &dy) { return Values{dy / (x + 1)}; }});
}
inline Value power_less_one(const Value &x) {
  const int terms = x.type() == Type::f64 ? 14 : 8;
  Value series = 1 / std::tgamma(terms + 1.0);  // x^(n - 1) / n!
  for (int n = terms - 1; n > 0; --n) series = series * x + 1 / std::tgamma(n + 1.0);
  return with_gradient(where(abs(x) < 0.5, x * series, exp(x) - 1),
                       {{x}, [x](const Value &dy) { return Values{dy * exp(x)}; }});
}

inline Value relu(const Value &x) {
  return with_gradient(max(x, 0), {{x}, [x](const Value &dy) { return Values{where(x > 0, dy, 0)}; }});
}
inline Value leaky_relu(const Value &x, const Value &slope) { return where(x > 0, x, x * slope); }
inline Value thresholded_relu(const Value &x, double least) { return where(x > least, x, 0); }
inline Value elu(const Value &x, double alpha) { return where(x > 0, x, power_less_one(min(x, 0)) * alpha); }
inline Value selu(const Value &x, double alpha, double scale) { return elu(x, alpha) * scale; }
inline Value celu(const Value &x, double alpha) { return where(x > 0, x, power_less_one(min(x, 0) / alpha) * alpha); }

// Both sides by the power that cannot overflow. Its derivative y (1 - y) would lose its digits in 1 - y.
inline Value sigmoid(const Value &x) {
  const Value e = exp(-abs(x));
  return with_gradient(where(x < 0, e, 1) / (e + 1),
                       {{x}, [e](const Value &dy) { return Values{dy * (e / ((e + 1) * (e + 1)))}; }});
}
inline Value silu(const Value &x) { return x * sigmoid(x); }
inline Value swish(const Value &x, double steepness) { return x * sigmoid(x * steepness); }
// Both of its parts have a kink at 0, where it has none: its slope is written down.
inline Value softplus(const Value &x) {
  return with_gradient(max(x, 0) + log_near_one(exp(-abs(x))),
                       {{x}, [x](const Value &dy) { return Values{dy * sigmoid(x)}; }});
}
// tanh(softplus(x)) = n / (n + 2) with n = e^x (e^x + 2), and 1 from 20 on.
inline Value mish(const Value &x) {
  const Value e = exp(min(x, 20)), n = e * (e + 2);
  return x * (n / (n + 2));
}
inline Value gelu(const Value &x) { return x * ((erf(x * 0.70710678118654752) + 1) * 0.5); }
// (1 + tanh u) / 2 is the sigmoid of 2 u.
inline Value gelu_tanh(const Value &x) { return x * sigmoid((x + x * x * x * 0.044715) * (2 * 0.79788456080286536)); }
inline Value hard_sigmoid(const Value &x, double slope, double shift) { return max(min(x * slope + shift, 1), 0); }
inline Value hard_swish(const Value &x) { return x * hard_sigmoid(x, 1.0 / 6, 0.5); }
inline Value softsign(const Value &x) { return x / (abs(x) + 1); }
inline Value shrink(const Value &x, double threshold, double bias) {
  return where(x < -threshold, x + bias, where(x > threshold, x - bias, 0));
}
inline Value reciprocal(const Value &x) { return 1 / x; }
inline Value square(const Value &x) { return x * x; }

inline Value maximum(const Value &a, const Value &b) {
  return with_gradient(max(a, b),
                       {{a, b}, [a, b](const Value &dy) {
                          const Value tie = dy * 0.5;
                          return Values{where(b < a, dy, where(a < b, 0, tie)), where(a < b, dy, where(b < a, 0, tie))};
                        }});
}
inline Value minimum(const Value &a, const Value &b) {
  return with_gradient(min(a, b),
                       {{a, b}, [a, b](const Value &dy) {
                          const Value tie = dy * 0.5;
                          return Values{where(a < b, dy, where(b < a, 0, tie)), where(b < a, dy, where(a < b, 0, tie))};
                        }});
}

// b a^(b - 1) is 0 for b = 0, and a^b log(a) for a = 0, whose limits they are.
inline Value to_the_power(const Value &a, const Value &b) {
  return with_gradient(
      power(a, b),
      {{a, b}, [a, b](const Value &dy) {
         return Values{where(b == 0, 0, dy * (b * power(a, b - 1))), where(a == 0, 0, dy * (power(a, b) * log(a)))};
       }});
}

// The sum over all elements.
inline Value huber_loss(const Value &x, const Value &target, double delta) {
  const Value e = abs(x - target);
  return sum_all(where(e < delta, e * e * 0.5, (e - 0.5 * delta) * delta));
}

}  // namespace saltern::algorithms
