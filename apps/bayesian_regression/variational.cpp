#include "apps/bayesian_regression/variational.h"

#include <cmath>

#include "runtime/autograd/backward.h"
#include "runtime/optim/optimizer.h"

namespace saltern {

namespace {

// Normal(mean, triangle triangle'); the triangle's diagonal is exp(log_scale).
struct Guide : Module {
  Variable mean, below, log_scale;

  explicit Guide(int64_t d)
      : mean(Tensor::zeros({d}), true), below(Tensor::zeros({d, d}), true), log_scale(Tensor::full({d}, -1), true) {}

  void visit(Visitor &v) override {
    v.parameter("mean", mean);
    v.parameter("below", below);
    v.parameter("log_scale", log_scale);
  }
  nn::Distribution distribution() const {
    return nn::distributions::MultivariateNormal(mean, nn::tril(below, -1) + nn::diag(exp(log_scale)));
  }
};

// Of some samples of q.
Variable elbo_of(const LogDensity &log_density, const nn::Distribution &q, int64_t samples) {
  const nn::Distribution fixed =
      nn::distributions::MultivariateNormal(q.parameters()[0].detached(), q.parameters()[1].detached());
  const Variable w = q.rsample({samples});
  return mean(log_density(w) - fixed.log_prob(w));
}

}  // namespace

Variational fit_variational(const LogDensity &log_density, int64_t d, const VariationalOptions &options) {
  Guide guide(d);
  Adam optimizer(guide, {options.rate});
  Variational v;
  for (int64_t step = 0; step < options.steps; ++step) {
    const double done = static_cast<double>(step) / static_cast<double>(options.steps);
    optimizer.set_rate(options.rate * (1 + std::cos(std::acos(-1.0) * done)) / 2);
    const Variable elbo = elbo_of(log_density, guide.distribution(), options.samples);
    v.elbos.push_back(elbo.value().item());
    if (!std::isfinite(v.elbos.back())) fail("the ELBO of step ", step + 1, " is not finite");
    optimizer.clear_gradients();
    backward(-elbo);
    optimizer.step();
    if (options.watch) options.watch(step + 1, v.elbos.back());
  }
  const NoGradient guard;
  const nn::Distribution q = guide.distribution();
  v.elbo = elbo_of(log_density, q, 1000).value().item();
  v.posterior.mean = q.parameters()[0].value().reals();
  const std::vector<double> covariance = matmul(q.parameters()[1], transposed(q.parameters()[1])).value().reals();
  for (int64_t i = 0; i < d; ++i)
    v.posterior.covariance.emplace_back(covariance.begin() + i * d, covariance.begin() + (i + 1) * d);
  return v;
}

}  // namespace saltern
