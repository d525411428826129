#include "runtime/nn/distributions.h"

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/distribution_row.h"
#include "runtime/tensor/strided.h"

namespace saltern::nn {

namespace {

Distribution made(const char *name, std::initializer_list<const Given *> given) {
  Type type = Type::f32;
  for (const Given *g : given)
    if (const auto *v = g->value.as<Variable>()) type = v->value().type();
  std::vector<Variable> parameters;
  Shape shape;
  for (const Given *g : given) {
    const auto *number = g->value.as<double>();
    const auto *whole = g->value.as<int64_t>();
    parameters.push_back(number  ? scalar(*number, type)
                         : whole ? scalar(static_cast<double>(*whole), type)
                                 : variable_of(g->value));
    if (std::string(name) != "MultivariateNormal") shape = broadcast_shape(shape, parameters.back().shape(), name);
  }
  if (std::string(name) != "MultivariateNormal")
    for (Variable &p : parameters) p = expand(p, shape);
  return {name, parameters};
}

}  // namespace

Distribution::Distribution(std::string name, std::vector<Variable> parameters)
    : name_(std::move(name)), parameters_(std::move(parameters)) {
  const DistributionRow &row = table<DistributionRow>().expect(name_, "distribution");
  if (parameters_.size() != row.parameters.size())
    fail(name_, ": ", parameters_.size(), " parameters; expected ", row.joined(""));
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (row.expected[i] != '+' || parameters_[i].value().is_outline()) continue;
    for (double v : parameters_[i].value().reals())
      if (!(v > 0)) fail(name_, ": '", row.parameters[i], "' has ", v, "; expected positive numbers");
  }
}

Variable Distribution::sample(const Shape &sample_shape) const {
  const NoGradient guard;
  std::vector<Argument> given(parameters_.begin(), parameters_.end());
  given.emplace_back(sample_shape);
  return composed("distributions." + name_ + ".rsample", given);
}
Variable Distribution::rsample(const Shape &sample_shape) const {
  if (!table<DistributionRow>().expect(name_, "distribution").has_gradients)
    fail(name_, ": its samples have no gradients");
  std::vector<Argument> given(parameters_.begin(), parameters_.end());
  given.emplace_back(sample_shape);
  return composed("distributions." + name_ + ".rsample", given);
}
Variable Distribution::log_prob(const Variable &value) const {
  std::vector<Argument> given(parameters_.begin(), parameters_.end());
  given.emplace_back(value);
  return composed("distributions." + name_ + ".log_prob", given);
}
Variable Distribution::entropy() const {
  return composed("distributions." + name_ + ".entropy", {parameters_.begin(), parameters_.end()});
}

namespace distributions {

Variable kl_divergence(const Distribution &p, const Distribution &q) {
  if (p.name() != q.name()) fail("kl_divergence: ", p.name(), " and ", q.name(), "; expected two of one kind");
  std::vector<Argument> given(p.parameters().begin(), p.parameters().end());
  given.insert(given.end(), q.parameters().begin(), q.parameters().end());
  return composed("distributions." + p.name() + ".kl_divergence", given);
}

Distribution Normal(const Given &loc, const Given &scale) { return made("Normal", {&loc, &scale}); }
Distribution Laplace(const Given &loc, const Given &scale) { return made("Laplace", {&loc, &scale}); }
Distribution Uniform(const Given &low, const Given &high) { return made("Uniform", {&low, &high}); }
Distribution Exponential(const Given &rate) { return made("Exponential", {&rate}); }
Distribution Gamma(const Given &concentration, const Given &rate) { return made("Gamma", {&concentration, &rate}); }
Distribution Beta(const Given &concentration1, const Given &concentration0) {
  return made("Beta", {&concentration1, &concentration0});
}
Distribution Dirichlet(const Given &concentration) { return made("Dirichlet", {&concentration}); }
Distribution Bernoulli(const Given &logits) { return made("Bernoulli", {&logits}); }
Distribution Categorical(const Given &logits) { return made("Categorical", {&logits}); }
Distribution MultivariateNormal(const Given &loc, const Given &scale_tril) {
  return made("MultivariateNormal", {&loc, &scale_tril});
}

}  // namespace distributions

}  // namespace saltern::nn
