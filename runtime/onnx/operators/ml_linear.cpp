// Linear models of ai.onnx.ml: scores are products of samples (N, F) with coefficients (E, F).

#include "runtime/onnx/operators/ml_scores.h"

namespace saltern {

namespace {

void linear_regressor(Lowering &n) {
  const Operand y = linear_scores(n, sample_rows(n), reals_of(n.attributes(), "coefficients"),
                                  n.attributes().integer("targets", 1), reals_of(n.attributes(), "intercepts"));
  n.give(0, n.casted(transformed_scores(n, y, post_transform(n)), Type::f32));
}

// 1 where a score (N, 1) is above the threshold, or at it.
Operand is_above(Lowering &n, const Operand &score, double threshold, int64_t then, int64_t otherwise) {
  return n.computed(formula::inlined({score.shape[0]}, [&](const Axes &at) {
    return select(Value(score)(at[0], 0) >= threshold, Expression(then), Expression(otherwise));
  }));
}

void linear_classifier(Lowering &n) {
  const Operand x = sample_rows(n);
  const char *labels = "classlabels_ints";
  const std::vector<double> coefficients = reals_of(n.attributes(), "coefficients");
  const int64_t rows = x.shape[1] == 0 ? 0 : static_cast<int64_t>(coefficients.size()) / x.shape[1];
  Operand scores = linear_scores(n, x, coefficients, rows, reals_of(n.attributes(), "intercepts"));
  if (rows == 1 && class_count(n.attributes(), labels) == 2) scores = both_sides(n, scores);
  scores = transformed_scores(n, scores, post_transform(n));
  if (scores.shape[1] > 1) {
    n.give(0, class_labels(n, best_class(n, scores), labels));
  } else {
    const std::vector<int64_t> only = n.attributes().integers(labels, {1});
    n.give(0, is_above(n, scores, post_transform(n) == "NONE" ? 0 : 0.5, only.empty() ? 1 : only[0], 0));
  }
  n.give(1, n.casted(scores, Type::f32));
}

const auto with_texts = [](const HostCall &c) { return class_texts(c, "classlabels_ints"); };

}  // namespace

const OperatorList ml_linear_operators = {
    {"LinearClassifier", linear_classifier, with_texts, ml_domain, true},
    {"LinearRegressor", linear_regressor, nullptr, ml_domain},
};

}  // namespace saltern
