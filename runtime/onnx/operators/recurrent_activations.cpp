#include "runtime/onnx/operators/recurrent_activations.h"

#include <algorithm>
#include <cctype>

#include "algorithms/functions.h"

namespace saltern {

namespace {

struct Row {
  std::string name;
  bool has_alpha, has_beta;
  double alpha, beta;  // unless given
  Value (*of)(const Value &x, double alpha, double beta);
};

const std::vector<Row> &table() {
  using namespace algorithms;
  using V = Value;
  static const std::vector<Row> rows = {
      {"relu", false, false, 0, 0, [](const V &x, double, double) { return relu(x); }},
      {"tanh", false, false, 0, 0, [](const V &x, double, double) { return tanh(x); }},
      {"sigmoid", false, false, 0, 0, [](const V &x, double, double) { return sigmoid(x); }},
      {"affine", true, true, 1, 0, [](const V &x, double a, double b) { return x * a + b; }},
      {"leakyrelu", true, false, 0.01, 0, [](const V &x, double a, double) { return leaky_relu(x, a); }},
      {"thresholdedrelu", true, false, 1, 0, [](const V &x, double a, double) { return where(x < a, 0, x); }},
      {"scaledtanh", true, true, 1, 1, [](const V &x, double a, double b) { return tanh(x * b) * a; }},
      {"hardsigmoid", true, true, 0.2, 0.5, hard_sigmoid},
      {"elu", true, false, 1, 0, [](const V &x, double a, double) { return elu(x, a); }},
      {"softsign", false, false, 0, 0, [](const V &x, double, double) { return softsign(x); }},
      {"softplus", false, false, 0, 0, [](const V &x, double, double) { return softplus(x); }},
  };
  return rows;
}

const Row &find(const std::string &name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Row &r : table())
    if (r.name == lower) return r;
  fail("there is no activation '", name, "'");
}

// The next value of a list, if there is one left.
double next(const std::vector<double> &values, size_t &used, bool wanted, double otherwise) {
  return wanted && used < values.size() ? values[used++] : otherwise;
}

}  // namespace

std::vector<algorithms::Activation> recurrent_activations(const Attributes &attributes,
                                                          const std::vector<std::string> &defaults,
                                                          int64_t directions) {
  const size_t count = defaults.size() * static_cast<size_t>(directions);
  std::vector<std::string> names = attributes.has("activations") ? attributes.words("activations") : defaults;
  // The defaults of RNN stand there twice even for one direction.
  if (names.size() < count && names.size() != defaults.size()) fail(names.size(), " activations; expected ", count);
  for (size_t i = names.size(); i < count; ++i) names.push_back(names[i - defaults.size()]);
  names.resize(count);
  const auto reals = [&](const char *name) {
    return attributes.has(name) ? attributes.reals(name) : std::vector<double>();
  };
  const std::vector<double> alphas = reals("activation_alpha"), betas = reals("activation_beta");
  const double clip = attributes.real("clip", 0);
  size_t alpha = 0, beta = 0;
  std::vector<algorithms::Activation> all;
  for (const std::string &name : names) {
    const Row &row = find(name);
    const double a = next(alphas, alpha, row.has_alpha, row.alpha), b = next(betas, beta, row.has_beta, row.beta);
    all.emplace_back(
        [&row, a, b, clip](const Value &x) { return row.of(clip > 0 ? min(max(x, -clip), clip) : x, a, b); });
  }
  return all;
}

}  // namespace saltern
