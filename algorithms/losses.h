#pragma once
// Losses, one for each pair of elements x and t, a target.
//
//   absolute, squared, huber, smooth_l1          of their difference
//   binary_cross_entropy                         -t log x - (1 - t) log(1 - x), logarithms of at least -100
//   logistic                                     the same of sigmoid(x); with a factor p on t
//   divergence                                   t (log t - x), x a logarithm; poisson, gaussian: of such distributions
//
// Losses of class labels: x(n, c, d...) holds logarithms of probabilities, labels(n, d...) say which c is right.
//
//   loss(n, d...) = -weight(n, d...) x(n, label, d...),   weight = weights(label), or 1; 0 where a label is ignored

#include <cmath>
#include <optional>

#include "algorithms/functions.h"

namespace saltern::algorithms {

using namespace formula;

inline Value huber(const Value &x, const Value &t, double delta) {
  const Value e = abs(x - t);
  return where(e < delta, e * e * 0.5, (e - 0.5 * delta) * delta);
}
inline Value smooth_l1(const Value &x, const Value &t, double beta) {
  const Value e = abs(x - t);
  return beta == 0 ? e : where(e < beta, e * e * (0.5 / beta), e - 0.5 * beta);
}

inline Value binary_cross_entropy(const Value &x, const Value &t) {
  const Value yes = max(log(x), -100), no = max(log(1 - x), -100);
  return with_gradient(-(t * yes) - (1 - t) * no,
                       {{x, t}, [=](const Value &dy) {
                          return Values{dy * (x - t) / max((1 - x) * x, 1e-12), dy * (no - yes)};
                        }});
}
// `p` may be undefined.
inline Value logistic_loss(const Value &x, const Value &t, const Value &p) {
  const Value no = (1 - t) * x, miss = softplus(-x);
  return no + (p.defined() ? (1 + (p - 1) * t) * miss : miss);
}

inline Value divergence(const Value &x, const Value &t) {
  return where(t == 0, 0, t * log(where(t == 0, 1, t))) - t * x;
}
inline Value divergence_of_logarithm(const Value &x, const Value &t) { return exp(t) * (t - x); }

// Without the terms that t alone decides, or with Stirling's for its factorial.
inline Value poisson_loss(const Value &x, const Value &t, bool is_logarithm, bool full, double epsilon) {
  const Value loss = is_logarithm ? exp(x) - t * x : x - t * log(x + epsilon);
  if (!full) return loss;
  const Value many = where(t > 1, t, 1);
  return loss + where(t > 1, many * log(many) - many + 0.5 * log(2 * M_PI * many), 0);
}

// The gradient is that of the variance even where epsilon stands for it.
inline Value gaussian_loss(const Value &x, const Value &t, const Value &variance, bool full, double epsilon) {
  const Value v = variance + stop_gradient(max(variance, epsilon) - variance), e = x - t;
  const Value loss = 0.5 * (log(v) + e * e / v);
  return full ? loss + 0.5 * std::log(2 * M_PI) : loss;
}

struct LabelLoss {
  Value loss, weight;
};

// `weights` may be undefined. The score beside an ignored label may be an infinity.
inline LabelLoss label_loss(const Value &x, const Value &labels, const Value &weights,
                            std::optional<int64_t> ignored = std::nullopt) {
  const Value label = cast(Type::i64, labels);
  const auto each = [&](const std::function<Expression(const Axes &at, const Expression &of)> &element) {
    return inlined(labels.extents(), [&](const Axes &at) {
      const Expression of = label.at(at), e = element(at, of);
      return ignored ? select(of == *ignored, constant(x.type(), 0), e) : e;
    });
  };
  const Value weight =
      each([&](const Axes &, const Expression &of) { return weights.defined() ? weights(of) : constant(x.type(), 1); });
  const Value loss = each([&](Axes at, const Expression &of) {
    const Expression w = weight.at(at);
    at.insert(at.begin() + 1, of);
    return -(w * x.at(at));
  });
  return {loss, weight};
}

}  // namespace saltern::algorithms
