#include "apps/bayesian_regression/diagnostics.h"

#include <algorithm>
#include <cmath>

#include "runtime/error.h"

namespace saltern {

namespace {

double mean(const Chain &c) {
  double total = 0;
  for (const double v : c) total += v;
  return total / static_cast<double>(c.size());
}

// The mean of products of what is `apart` draws apart; over all draws, so that far ones weigh less.
double covariance(const Chain &c, size_t apart) {
  const double m = mean(c);
  double total = 0;
  for (size_t i = apart; i < c.size(); ++i) total += (c[i] - m) * (c[i - apart] - m);
  return total / static_cast<double>(c.size());
}

std::vector<Chain> halves(const std::vector<Chain> &chains) {
  std::vector<Chain> all;
  for (const Chain &c : chains) {
    if (c.size() < 4 || c.size() != chains[0].size())
      fail("a chain of ", c.size(), " draws; expected at least 4, and as many in all chains");
    const auto half = static_cast<int64_t>(c.size() / 2);
    all.emplace_back(c.begin(), c.begin() + half);
    all.emplace_back(c.end() - half, c.end());
  }
  return all;
}

// The mean variance inside chains, and that of all draws as chains of infinite length would have it.
struct Variances {
  double within = 0, whole = 0;

  explicit Variances(const std::vector<Chain> &chains) {
    const auto n = static_cast<double>(chains[0].size()), m = static_cast<double>(chains.size());
    Chain means;
    for (const Chain &c : chains) {
      means.push_back(mean(c));
      within += covariance(c, 0) * n / (n - 1) / m;
    }
    whole = within * (n - 1) / n + covariance(means, 0) * m / (m - 1);
  }
};

}  // namespace

double r_hat(const std::vector<Chain> &chains) {
  const Variances v(halves(chains));
  return std::sqrt(v.whole / v.within);
}

double effective_samples(const std::vector<Chain> &chains) {
  const std::vector<Chain> parts = halves(chains);
  const Variances v(parts);
  const auto correlation = [&](size_t apart) {
    double within = 0;
    for (const Chain &c : parts) within += covariance(c, apart) / static_cast<double>(parts.size());
    return 1 - (v.within - within) / v.whole;
  };
  double times = -1;  // draws that one independent one takes
  for (size_t t = 0; t + 1 < parts[0].size(); t += 2) {
    const double pair = correlation(t) + correlation(t + 1);
    if (!(pair > 0)) break;
    times += 2 * pair;
  }
  // Of few draws the estimate may be nothing, or less: it is bounded as Stan's is.
  const auto draws = static_cast<double>(parts.size() * parts[0].size());
  return draws / std::max(times, 1 / std::log10(draws));
}

}  // namespace saltern
