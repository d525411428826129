#pragma once
// What chains of samples tell of themselves: whether they agree, and how many independent samples they are worth.

#include <vector>

namespace saltern {

using Chain = std::vector<double>;  // of one number

// How much wider all chains together are than each half of one: 1 where they agree, above 1.01 they were too short
// (split R-hat: Gelman et al., Bayesian Data Analysis, 2013). At least 4 draws a chain, all chains of one length.
double r_hat(const std::vector<Chain> &chains);

// So many independent samples have a mean as precise (by autocorrelations, up to the first pair that is not positive).
double effective_samples(const std::vector<Chain> &chains);

}  // namespace saltern
