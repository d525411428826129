#pragma once
// Distributions: samples, densities, entropies and how far two are apart, all with gradients where there are any.
//
//   const Distribution p = distributions::Normal(mean, deviation), q = distributions::Normal(0.0, 1.0);
//   Variable x = p.rsample({8}), loss = sum(q.log_prob(x)) + sum(distributions::kl_divergence(p, q));
//
// Each is four rows of the table of functions, distributions.Normal.log_prob and its like, which Python's classes call too.
// Samples have the shape sample_shape + that of the parameters, which broadcast; the last dimension of Categorical's logits
// is that of classes, those of Dirichlet's and MultivariateNormal's are of one event.

#include "runtime/nn/function.h"

namespace saltern::nn {

class Distribution {
 public:
  // Refuses parameters that are none.
  Distribution(std::string name, std::vector<Variable> parameters);

  const std::string &name() const { return name_; }
  const std::vector<Variable> &parameters() const { return parameters_; }

  // With gradients: an Error where samples have none. And without.
  Variable rsample(const Shape &sample_shape = {}) const;
  Variable sample(const Shape &sample_shape = {}) const;
  Variable log_prob(const Variable &value) const;
  Variable entropy() const;

 private:
  std::string name_;
  std::vector<Variable> parameters_;
};

namespace distributions {

// The mean of log p(x) - log q(x) under p, of two of one kind.
Variable kl_divergence(const Distribution &p, const Distribution &q);

// Numbers are tensors of f32, or of the type of those beside them.
Distribution Normal(const Given &loc, const Given &scale);
Distribution Laplace(const Given &loc, const Given &scale);
Distribution Uniform(const Given &low, const Given &high);
Distribution Exponential(const Given &rate);
Distribution Gamma(const Given &concentration, const Given &rate);
Distribution Beta(const Given &concentration1, const Given &concentration0);
Distribution Dirichlet(const Given &concentration);
Distribution Bernoulli(const Given &logits);
Distribution Categorical(const Given &logits);
Distribution MultivariateNormal(const Given &loc, const Given &scale_tril);

}  // namespace distributions

}  // namespace saltern::nn
