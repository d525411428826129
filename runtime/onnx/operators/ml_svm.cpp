// Support vector machines of ai.onnx.ml.
//
// With V support vectors, the kernel values of N samples are a matrix K (N, V); all scores are then one product of it
// with the coefficients.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/ml_scores.h"

namespace saltern {

namespace {

using namespace formula;

// K (N, V) of samples and support vectors.
Operand kernel_values(Lowering &n, const Operand &x, int64_t vectors) {
  const std::vector<double> values = reals_of(n.attributes(), "support_vectors");
  if (static_cast<int64_t>(values.size()) != vectors * x.shape[1])
    fail(values.size(), " numbers in ", vectors, " support vectors of ", x.shape[1], " features");
  const Operand v = constant_of(n, x.type, {vectors, x.shape[1]}, values);
  std::vector<double> parameters = reals_of(n.attributes(), "kernel_params");
  parameters.resize(3);
  const double gamma = parameters[0], offset = parameters[1], degree = parameters[2];
  const std::string kind = n.attributes().word("kernel_type", "LINEAR");
  if (kind == "RBF") {
    const Value apart = compute("apart", {x.shape[0], vectors}, [&](const Axes &at) {
      return sum({Expression(x.shape[1])}, [&](const Axes &k) {
        const Expression d = Value(x)(at[0], k[0]) - Value(v)(at[1], k[0]);
        return d * d;
      });
    });
    return n.computed(exp(apart * -gamma));
  }
  const Operand products = dense(n, x, v);
  const Value scaled = Value(products) * gamma + offset;
  if (kind == "LINEAR") return products;
  if (kind == "POLY") return n.computed(power(scaled, degree));
  if (kind == "SIGMOID") return n.computed(tanh(scaled));
  fail("kernel_type is '", kind, "'; expected LINEAR, POLY, RBF or SIGMOID");
}

void svm_regressor(Lowering &n) {
  const Operand x = sample_rows(n);
  const int64_t vectors = n.attributes().integer("n_supports", 0);
  const Operand features = vectors > 0 ? kernel_values(n, x, vectors) : x;
  std::vector<double> rho = reals_of(n.attributes(), "rho");
  rho.resize(1);
  Operand y = linear_scores(n, features, reals_of(n.attributes(), "coefficients"), 1, rho);
  if (n.attributes().integer("one_class", 0) != 0) y = n.computed(where(Value(y) > 0, constant_value(y.type, 1), -1));
  n.give(0, n.casted(transformed_scores(n, y, post_transform(n)), Type::f32));
}

// The scores of all pairs of classes i < j: (N, pairs). Class i has its own part of the support vectors, and for each
// other class a row of coefficients.
struct Pairs {
  std::vector<int64_t> first, second;
  Operand scores;
};
Pairs pair_scores(Lowering &n, const Operand &x, const std::vector<int64_t> &vectors_per_class, int64_t vectors) {
  const auto classes = static_cast<int64_t>(vectors_per_class.size());
  const std::vector<double> coefficients = reals_of(n.attributes(), "coefficients");
  std::vector<double> rho = reals_of(n.attributes(), "rho");
  if (static_cast<int64_t>(coefficients.size()) != (classes - 1) * vectors)
    fail(coefficients.size(), " coefficients; expected ", classes - 1, " for each of ", vectors, " support vectors");
  Pairs p;
  std::vector<double> weights;  // (pairs, vectors)
  std::vector<int64_t> begin(1, 0);
  for (int64_t count : vectors_per_class) begin.push_back(begin.back() + count);
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j) {
      p.first.push_back(i);
      p.second.push_back(j);
      const size_t row = weights.size();
      weights.resize(row + static_cast<size_t>(vectors), 0);
      const auto take = [&](int64_t of, int64_t from) {
        for (int64_t v = begin[static_cast<size_t>(of)]; v < begin[static_cast<size_t>(of) + 1]; ++v)
          weights[row + static_cast<size_t>(v)] = coefficients[static_cast<size_t>(from * vectors + v)];
      };
      take(i, j - 1);
      take(j, i);
    }
  if (rho.size() < p.first.size()) fail(rho.size(), " values of rho for ", p.first.size(), " pairs of classes");
  rho.resize(p.first.size());
  p.scores = linear_scores(n, kernel_values(n, x, vectors), weights, static_cast<int64_t>(p.first.size()), rho);
  return p;
}

// How many of its pairs each class wins: (N, classes).
Operand votes(Lowering &n, const Pairs &p, int64_t classes) {
  const auto count = static_cast<int64_t>(p.first.size());
  const Value scores = p.scores, first = constant_of(n, p.first), second = constant_of(n, p.second);
  return n.computed(compute("votes", {scores.extent(0), classes}, [&](const Axes &at) {
    return sum({Expression(count)}, [&](const Axes &k) {
      const Expression winner = select(scores(at[0], k[0]) > 0.0, first(k[0]), second(k[0]));
      return cast(Type::i64, winner == at[1]);
    });
  }));
}

bool has_probabilities(const Attributes &a) {
  return a.has("prob_a") && !a.reals("prob_a").empty() && !a.integers("vectors_per_class", {}).empty();
}

void svm_classifier(Lowering &n) {
  if (has_probabilities(n.attributes())) unsupported("probabilities are found by iteration; only the host does that");
  const char *labels = "classlabels_ints";
  const Operand x = sample_rows(n);
  const std::vector<double> coefficients = reals_of(n.attributes(), "coefficients");
  std::vector<double> rho = reals_of(n.attributes(), "rho");
  if (rho.empty() || coefficients.empty()) fail("needs coefficients and rho");
  const auto named = static_cast<int64_t>(class_count(n.attributes(), labels));
  const std::vector<int64_t> per_class = n.attributes().integers("vectors_per_class", {});
  int64_t vectors = 0;
  for (int64_t count : per_class) vectors += count;

  Operand scores, best, weight;  // weight: the greatest number of votes, or score, (N, 1)
  if (vectors > 0) {
    const Pairs pairs = pair_scores(n, x, per_class, vectors);
    const Operand won = votes(n, pairs, static_cast<int64_t>(per_class.size()));
    scores = pairs.scores;
    best = best_class(n, won);
    weight = n.casted(won, scores.type);
  } else {
    const int64_t rows = std::max<int64_t>(named, 1);
    scores = linear_scores(n, x, coefficients, rows, std::vector<double>(static_cast<size_t>(rows), rho[0]));
    best = best_class(n, scores);
    weight = scores;
  }
  const bool all_positive = *std::min_element(coefficients.begin(), coefficients.end()) >= 0;
  if (rho.size() == 1 && (named != 2 || (all_positive && vectors == 0))) {
    // One number decides: against 0, or against a half where it looks like a probability.
    const Value most = greatest(weight, {1}), other = best;
    const Operand decided = n.computed(inlined(extents(best.shape), [&](const Axes &at) {
      const Expression m = most(at[0], 0);
      return named == 2 ? select(m >= 0.5, Expression(1), other.at(at)) : cast(Type::i64, m > 0.0);
    }));
    n.give(0, named == 2 ? class_labels(n, decided, labels) : decided);
  } else {
    n.give(0, class_labels(n, best, labels));
  }
  const std::string transform = post_transform(n);
  if (scores.shape[1] > 1 || transform == "PROBIT")
    scores = transformed_scores(n, scores, transform);
  else if (rho.size() == 1 && named == 2)
    scores = transformed_scores(n, both_sides(n, scores), transform);
  n.give(1, n.casted(scores, Type::f32));
}

// ---- Probabilities, on the host.

// Those of k classes that agree best with the probabilities r(i, j) of i against j (Wu, Lin and Weng, 2004, the second
// approach), by as many steps as libsvm takes.
std::vector<double> coupled(const std::vector<std::vector<double>> &r) {
  const size_t k = r.size();
  std::vector<std::vector<double>> q(k, std::vector<double>(k, 0));
  std::vector<double> p(k, 1.0 / static_cast<double>(k)), qp(k);
  for (size_t t = 0; t < k; ++t)
    for (size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t][t] += r[j][t] * r[j][t];
      q[t][j] = -r[j][t] * r[t][j];
    }
  const double close = 0.005 / static_cast<double>(k);
  for (size_t turn = 0; turn < std::max<size_t>(100, k); ++turn) {
    double pqp = 0, error = 0;
    for (size_t t = 0; t < k; ++t) {
      qp[t] = std::inner_product(q[t].begin(), q[t].end(), p.begin(), 0.0);
      pqp += p[t] * qp[t];
    }
    for (size_t t = 0; t < k; ++t) error = std::max(error, std::abs(qp[t] - pqp));
    if (error < close) break;
    for (size_t t = 0; t < k; ++t) {
      const double step = (pqp - qp[t]) / q[t][t];
      p[t] += step;
      pqp = (pqp + step * (step * q[t][t] + 2 * qp[t])) / ((1 + step) * (1 + step));
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t][j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return p;
}

// From the scores of all pairs (N, pairs) to probabilities (N, classes).
Tensor probabilities(const Attributes &a, const Tensor &scores, size_t classes) {
  const std::vector<double> &slope = a.reals("prob_a"), &offset = a.reals("prob_b");
  const std::vector<double> values = scores.reals();
  const size_t pairs = classes * (classes - 1) / 2, given = static_cast<size_t>(scores.extent(1));
  if (slope.size() < pairs || offset.size() < pairs) fail("prob_a and prob_b have no value for each pair of classes");
  const Tensor y = Tensor::empty({scores.extent(0), static_cast<int64_t>(classes)});
  for (size_t n = 0; n < static_cast<size_t>(scores.extent(0)); ++n) {
    std::vector<std::vector<double>> r(classes, std::vector<double>(classes, 0));
    // The only pair of two classes comes as (-s, s).
    size_t pair = 0, at = n * given + (given - pairs);
    for (size_t i = 0; i < classes; ++i)
      for (size_t j = i + 1; j < classes; ++j, ++pair, ++at) {
        const double against = 1 / (1 + std::exp(values[at] * slope[pair] + offset[pair]));
        r[i][j] = std::clamp(against, 1e-7, 1 - 1e-7);
        r[j][i] = 1 - r[i][j];
      }
    const std::vector<double> p = coupled(r);
    std::copy(p.begin(), p.end(), y.data<float>() + n * classes);
  }
  return y;
}

std::vector<HostValue> svm_class_texts(const HostCall &call) {
  const Attributes &a = call.attributes();
  if (!has_probabilities(a)) return class_texts(call, "classlabels_ints");
  Graph::Node plain = call.node;
  plain.attributes.set("prob_a", std::vector<double>());
  plain.attributes.set("post_transform", std::string("NONE"));
  std::vector<HostValue> results = class_texts({plain, call.opset, call.inputs}, "classlabels_ints");
  if (results.size() < 2 || results[1].is_empty()) return results;
  static const Operator transform = {
      "post_transform", [](Lowering &n) { n.give(1, transformed_scores(n, n.input(0), post_transform(n))); }};
  const Tensor p = probabilities(a, results[1].tensor(), a.integers("vectors_per_class").size());
  results[1] = compute_lowered(transform, call.node, call.opset, {p})[1];
  return results;
}

}  // namespace

const OperatorList ml_svm_operators = {
    {"SVMClassifier", svm_classifier, svm_class_texts, ml_domain, true},
    {"SVMRegressor", svm_regressor, nullptr, ml_domain},
};

}  // namespace saltern
