#pragma once
// Stochastic variational inference: of all normal distributions q, the one that is nearest to the posterior.
//
// It maximises the ELBO, the mean over w ~ q of log p(y, w) - log q(w), which is below log p(y) by the divergence of q from
// the posterior. Samples are w = mean + triangle z with z ~ Normal(0, 1), so that gradients go through them to mean and
// triangle. Those of log q with respect to its own parameters are left out: their mean is 0, and without them the estimate
// has no noise left where q is the posterior (Roeder, Wu and Duvenaud, 2017).

#include <functional>

#include "apps/bayesian_regression/regression.h"

namespace saltern {

// log p(y, w) of w (samples, d) -> (samples), up to a constant; differentiable.
using LogDensity = std::function<Variable(const Variable &w)>;

struct VariationalOptions {
  int64_t steps = 1500, samples = 16;
  double rate = 0.05;  // of Adam; it falls to 0
  std::function<void(int64_t step, double elbo)> watch = nullptr;
};

struct Variational {
  Posterior posterior;
  double elbo;                // of 1000 samples, at the end
  std::vector<double> elbos;  // of every step
};

Variational fit_variational(const LogDensity &log_density, int64_t d, const VariationalOptions &options = {});

}  // namespace saltern
