#include "apps/bayesian_regression/regression.h"

#include <cmath>

namespace saltern {

namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix rows_of(const Tensor &t) {
  const std::vector<double> all = t.reals();
  const auto columns = static_cast<size_t>(t.extent(1));
  Matrix m;
  for (size_t i = 0; i < static_cast<size_t>(t.extent(0)); ++i)
    m.emplace_back(all.begin() + static_cast<int64_t>(i * columns),
                   all.begin() + static_cast<int64_t>((i + 1) * columns));
  return m;
}

Variable in_f64(const Tensor &t) { return Variable(Tensor::of<double>(t.shape(), t.reals())); }
Variable identity(int64_t n) {
  const Tensor t = Tensor::zeros({n, n}, Type::f64);
  for (int64_t i = 0; i < n; ++i) t.at<double>({i, i}) = 1;
  return t;
}

}  // namespace

Tensor powers_of(const std::vector<double> &x, int64_t degree) {
  const Tensor t = Tensor::empty({static_cast<int64_t>(x.size()), degree + 1});
  for (int64_t i = 0; i < t.extent(0); ++i)
    for (int64_t j = 0; j <= degree; ++j)
      t.at<float>({i, j}) = static_cast<float>(std::pow(x[static_cast<size_t>(i)], static_cast<double>(j)));
  return t;
}

Variable log_joint(const Regression &r, const Variable &w) {
  const Variable line = matmul(w, transposed(r.features));
  const Variable likelihood = nn::distributions::Normal(line, r.noise).log_prob(r.y),
                 prior = nn::distributions::Normal(0.0, r.prior).log_prob(w);
  return nn::sum(likelihood, -1) + nn::sum(prior, -1);
}

double Posterior::deviation(size_t j) const { return std::sqrt(covariance[j][j]); }

Posterior::Prediction Posterior::at(const std::vector<double> &f) const {
  Prediction p = {0, 0};
  double variance = 0;
  for (size_t i = 0; i < f.size(); ++i) {
    p.mean += f[i] * mean[i];
    for (size_t j = 0; j < f.size(); ++j) variance += f[i] * covariance[i][j] * f[j];
  }
  p.deviation = std::sqrt(variance);
  return p;
}

Posterior posterior_of(const std::vector<std::vector<double>> &samples) {
  if (samples.size() < 2) fail("a covariance of ", samples.size(), " samples");
  const size_t d = samples[0].size();
  Posterior p = {std::vector<double>(d), Matrix(d, std::vector<double>(d))};
  for (const auto &s : samples)
    for (size_t j = 0; j < d; ++j) p.mean[j] += s[j] / static_cast<double>(samples.size());
  for (const auto &s : samples)
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j < d; ++j)
        p.covariance[i][j] += (s[i] - p.mean[i]) * (s[j] - p.mean[j]) / static_cast<double>(samples.size() - 1);
  return p;
}

// covariance = (X'X / noise^2 + 1 / prior^2)^-1, mean = covariance X'y / noise^2; y ~ Normal(0, noise^2 + prior^2 X X').
ClosedForm closed_form(const Regression &r) {
  const Variable x = in_f64(r.features), y = reshape(in_f64(r.y), {-1, 1});
  const double precision = 1 / (r.noise * r.noise);
  const auto inverse = [](const Variable &m) { return nn::variable_of(nn::call("linalg.inv", {m})); };
  const Variable covariance =
      inverse(matmul(transposed(x), x) * precision + identity(x.extent(1)) / (r.prior * r.prior));
  const Variable mean = matmul(covariance, matmul(transposed(x), y)) * precision;
  const Variable of_y = identity(x.extent(0)) * (r.noise * r.noise) + matmul(x, transposed(x)) * (r.prior * r.prior);
  const double square = matmul(transposed(y), matmul(inverse(of_y), y)).value().item();
  const double log_determinant = nn::logdet(of_y).value().item();
  return {{mean.value().reals(), rows_of(covariance.value())},
          -0.5 * (square + log_determinant + static_cast<double>(y.size()) * std::log(2 * std::acos(-1.0)))};
}

}  // namespace saltern
