#pragma once
// Hamiltonian Monte Carlo: samples of a density of which the logarithm and its gradient can be computed.
//
// A state w gets a momentum p ~ Normal(0, 1) and moves as a body does in the potential -log p(w), by leapfrog steps, which
// lose next to no energy; where it comes to is taken with probability min(1, exp(energy before - energy behind)). In the first
// part, which is thrown away, the size of steps is learned so that as many are taken as is wanted (dual averaging: Hoffman
// and Gelman, 2014). All chains move at once, as rows of one tensor.

#include "apps/bayesian_regression/variational.h"

namespace saltern {

struct HamiltonianOptions {
  int64_t chains = 4, warm_up = 300, draws = 1000;
  int64_t leaps = 24;     // leapfrog steps of a move at most: each has a random number of them, against returning
  double accepted = 0.8;  // the share of moves that is wanted
  uint64_t seed = 1;
  std::function<void(int64_t move, double accepted)> watch = nullptr;
};

struct Chains {
  std::vector<std::vector<std::vector<double>>> draws;  // (chains, draws, d)
  double step_size = 0;
  double accepted = 0;  // the share of moves, behind the warm-up

  // All of them, as samples.
  std::vector<std::vector<double>> together() const;
};

// Chains begin at random places, Normal(0, 1).
Chains sample_hamiltonian(const LogDensity &log_density, int64_t d, const HamiltonianOptions &options = {});

}  // namespace saltern
