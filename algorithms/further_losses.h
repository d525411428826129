#pragma once
// Losses that PyTorch has not, one for each pair of elements x and t, a target; and of sets of them.

#include "algorithms/losses.h"

namespace saltern::algorithms {

// Logistic loss that what is sure already counts less in: by (1 - p)^gamma, p being the probability of the target; and by
// alpha where it is 1, 1 - alpha where it is 0, unless alpha is negative.
inline Value focal_loss(const Value &x, const Value &t, double alpha, double gamma) {
  const Value p = sigmoid(x), missed = p + t - 2 * p * t;
  const Value loss = logistic_loss(x, t, {}) * power(missed, gamma);
  return alpha < 0 ? loss : (alpha * t + (1 - alpha) * (1 - t)) * loss;
}

// log(cosh(x - t)), without what overflows.
inline Value log_cosh_loss(const Value &x, const Value &t) {
  const Value e = x - t;
  return e + softplus(e * -2) - std::log(2.0);
}
inline Value squared_logarithmic_error(const Value &x, const Value &t, double epsilon) {
  return square(log(max(x, epsilon) + 1) - log(max(t, epsilon) + 1));
}
inline Value percentage_error(const Value &x, const Value &t, double epsilon) {
  return abs(x - t) / max(abs(t), epsilon) * 100;
}
// Targets are -1 and 1.
inline Value hinge_loss(const Value &x, const Value &t) { return relu(1 - t * x); }

// ---- Of sets: x and t are shares, in [0, 1], of elements that are among both.

// 1 - a / (a + alpha b + beta c): a of both, b of t alone, c of x alone. Dice is that of a half and a half.
inline Value tversky_loss(const Value &x, const Value &t, const std::vector<int> &axes, double alpha, double beta,
                          double epsilon) {
  const Value both = named("both", sum(t * x, axes)), missed = sum(t * (1 - x), axes), wrong = sum((1 - t) * x, axes);
  return 1 - both / (both + missed * alpha + wrong * beta + epsilon);
}
inline Value dice_loss(const Value &x, const Value &t, const std::vector<int> &axes, double epsilon) {
  return 1 - 2 * sum(t * x, axes) / (sum(t, axes) + sum(x, axes) + epsilon);
}

}  // namespace saltern::algorithms
