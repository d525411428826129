#pragma once
// Linear regression as a Bayesian has it, with powers of x as features and noise of a known deviation:
//
//   w(j) ~ Normal(0, prior),   y(i) ~ Normal(sum over j of w(j) x(i)^j, noise)
//
// Its posterior is known in closed form, which is what makes it a test of ways that do not need one (variational.h,
// hamiltonian.h): they see log_joint() and its gradient, and nothing else.

#include "runtime/nn/all.h"

namespace saltern {

struct Regression {
  Tensor features;  // f32 (n, d): powers of x, which is scaled to [-1, 1]
  Tensor y;         // f32 (n)
  double noise = 0.25, prior = 2;

  int64_t weights() const { return features.extent(1); }
};

// Of x as it is scaled: 1, x, x^2, ..., f32 (n, degree + 1)
Tensor powers_of(const std::vector<double> &x, int64_t degree);

// log p(y, w) of w (.., d) -> (..)
Variable log_joint(const Regression &r, const Variable &w);

// What is known of the weights when y was seen.
struct Posterior {
  std::vector<double> mean;                     // (d)
  std::vector<std::vector<double>> covariance;  // (d, d)

  double deviation(size_t j) const;
  // Mean and deviation of the line at features f (d), without noise.
  struct Prediction {
    double mean, deviation;
  };
  Prediction at(const std::vector<double> &f) const;
};

// Mean and covariance of samples (n, d).
Posterior posterior_of(const std::vector<std::vector<double>> &samples);

struct ClosedForm {
  Posterior posterior;
  double log_evidence;  // log p(y), which the best ELBO comes up to
};
ClosedForm closed_form(const Regression &r);

}  // namespace saltern
