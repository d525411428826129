// What is said of chains, where it is known: of independent draws, of draws with a known correlation, of chains that disagree.

#include "apps/bayesian_regression/diagnostics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/tensor/random.h"
#include "tests/errors.h"

namespace saltern {
namespace {

// x(t) = correlation x(t - 1) + noise, of variance 1
std::vector<Chain> autoregressive(double correlation, int chains, int draws) {
  Random random(2);
  std::vector<Chain> all;
  for (int c = 0; c < chains; ++c) {
    double x = static_cast<double>(random.normal());
    all.emplace_back();
    for (int t = 0; t < draws; ++t) {
      all.back().push_back(x);
      x = correlation * x + std::sqrt(1 - correlation * correlation) * static_cast<double>(random.normal());
    }
  }
  return all;
}

TEST(Diagnostics, IndependentDrawsCountAsThemselves) {
  const std::vector<Chain> chains = autoregressive(0, 4, 2000);
  EXPECT_NEAR(r_hat(chains), 1, 0.005);
  EXPECT_NEAR(effective_samples(chains), 8000, 800);
}

TEST(Diagnostics, CorrelatedDrawsCountLess) {
  // n (1 - correlation) / (1 + correlation)
  for (const double correlation : {0.5, 0.8, -0.4}) {
    const double wanted = 8000 * (1 - correlation) / (1 + correlation);
    EXPECT_NEAR(effective_samples(autoregressive(correlation, 4, 2000)), wanted, 0.25 * wanted) << correlation;
  }
}

TEST(Diagnostics, FewDrawsThatAlternateAreMoreThanNone) {
  const Chain alternating = {1, -1, 1, -1, 1, -1, 1, -1};
  EXPECT_GT(effective_samples({alternating, alternating}), 0);
}

TEST(Diagnostics, ChainsThatDisagreeAreFoundOut) {
  std::vector<Chain> chains = autoregressive(0, 4, 500);
  for (double &x : chains[2]) x += 2;
  EXPECT_GT(r_hat(chains), 1.2);
  std::vector<Chain> drifting = autoregressive(0, 2, 500);  // alike, but not as they began
  for (Chain &c : drifting)
    for (size_t t = 0; t < c.size(); ++t) c[t] += 3 * static_cast<double>(t) / 500;
  EXPECT_GT(r_hat(drifting), 1.2);
}

TEST(Diagnostics, ChainsOfOneLengthAreNeeded) {
  EXPECT_TRUE(contains(error_of([] { r_hat({{1, 2, 3}}); }), "3 draws"));
  EXPECT_TRUE(contains(error_of([] { r_hat({{1, 2, 3, 4}, {1, 2, 3, 4, 5}}); }), "5 draws"));
}

}  // namespace
}  // namespace saltern
