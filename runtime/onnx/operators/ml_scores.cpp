#include "runtime/onnx/operators/ml_scores.h"

#include "algorithms/functions.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"

namespace saltern {

using namespace formula;

const char *const ml_domain = "ai.onnx.ml";

namespace {

Value softmax_zero(const Value &x) {
  const Value top = greatest(x, {1}), parts = named("parts", where(abs(x) > 1e-7, exp(x - top), x * exp(-top)));
  const Value total = sum(parts, {1});
  return where(total == 0, 0.5, parts / total);
}

// The inverse of the normal distribution, by Winitzki's approximation of the inverse of erf.
Value probit(const Value &v) {
  const Value x = v * 2 - 1, rest = (1 - x) * (1 + x), logarithm = log(rest);
  const Value a = logarithm * 0.5 + 2 / (3.14159265358979323846 * 0.147);
  const Value size = sqrt(sqrt(a * a - logarithm / 0.147) - a);
  return where(rest == 0, 0, where(x < 0, -size, size)) * 1.41421356;
}

}  // namespace

Operand sample_rows(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.rank() != 1 && x.rank() != 2) fail("samples are ", to_string(x.shape), "; expected (N, F)");
  const Operand real = n.casted(x, x.type == Type::f64 ? Type::f64 : Type::f32);
  return x.rank() == 2 ? real : n.reshaped(real, {1, x.shape[0]});
}

Operand linear_scores(Lowering &n, const Operand &x, const std::vector<double> &weights, int64_t rows,
                      const std::vector<double> &bias) {
  if (rows < 1 || static_cast<int64_t>(weights.size()) != rows * x.shape[1])
    fail(weights.size(), " coefficients for ", rows, " results of ", x.shape[1], " features");
  const Operand w = constant_of(n, x.type, {rows, x.shape[1]}, weights);
  if (bias.empty()) return dense(n, x, w);
  if (static_cast<int64_t>(bias.size()) != rows) fail(bias.size(), " intercepts for ", rows, " results");
  return dense(n, x, w, constant_of(n, x.type, {rows}, bias));
}

Operand transformed_scores(Lowering &n, const Operand &scores, const std::string &transform) {
  if (transform == "NONE") return scores;
  if (transform == "LOGISTIC") return n.computed(algorithms::sigmoid(scores));
  if (transform == "SOFTMAX") return softmax(n, scores, 1);
  if (transform == "SOFTMAX_ZERO") return n.computed(softmax_zero(scores));
  if (transform == "PROBIT") return n.computed(probit(scores));
  fail("post_transform is '", transform, "'; expected NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT");
}

Operand both_sides(Lowering &n, const Operand &score) {
  return n.computed(inlined({score.shape[0], 2}, [&](const Axes &at) {
    const Expression s = Value(score)(at[0], 0);
    return select(at[1] == 0, -s, s);
  }));
}

Operand best_class(Lowering &n, const Operand &scores) {
  return n.computed(compute("best", {scores.shape[0]}, [&](const Axes &at) {
    return reduce(Function::first_greatest, {scores.shape[1]},
                  [&](const Axes &k) { return Value(scores)(at[0], k[0]); });
  }));
}

size_t class_count(const Attributes &attributes, const char *attribute) {
  const char *texts = "classlabels_strings";
  if (attributes.has(attribute) && !attributes.integers(attribute).empty())
    return attributes.integers(attribute).size();
  return attributes.has(texts) ? attributes.words(texts).size() : 0;
}

Operand class_labels(Lowering &n, const Operand &classes, const char *attribute) {
  const std::vector<int64_t> labels = n.attributes().integers(attribute, {});
  if (labels.empty()) {
    if (class_count(n.attributes(), attribute) > 0) unsupported("labels that are texts; only the host has them");
    return classes;
  }
  const Value all = constant_of(n, labels);
  return n.computed(inlined(extents(classes.shape), [&](const Axes &at) { return all(Value(classes).at(at)); }));
}

std::vector<HostValue> class_texts(const HostCall &call, const char *attribute) {
  const Operator &op = *find_operator(call.node.domain, call.node.operation);
  const char *name = "classlabels_strings";
  if (!call.attributes().has(name) || call.attributes().words(name).empty())
    return compute_lowered(op, call.node, call.opset, call.inputs);
  const std::vector<std::string> &labels = call.attributes().words(name);
  if (labels.size() < 2) unsupported("a single label that is a text: there is none for the other class");
  Graph::Node numbered = call.node;
  numbered.attributes.set(name, std::vector<std::string>());
  numbered.attributes.set(attribute, numbers_below(labels.size()));
  std::vector<HostValue> results = compute_lowered(op, numbered, call.opset, call.inputs);
  if (results.empty() || results[0].is_empty()) return results;
  const std::vector<int64_t> classes = results[0].tensor().integers();
  const Tensor texts = Tensor::empty(results[0].tensor().shape(), Type::text);
  for (size_t i = 0; i < classes.size(); ++i) texts.data<std::string>()[i] = labels.at(static_cast<size_t>(classes[i]));
  results[0] = texts;
  return results;
}

std::vector<double> reals_of(const Attributes &attributes, const std::string &name) {
  if (attributes.has(name + "_as_tensor")) return attributes.tensor(name + "_as_tensor").reals();
  return attributes.has(name) ? attributes.reals(name) : std::vector<double>();
}

Tensor in_type(Type type, const std::vector<double> &values) {
  return type == Type::f64 ? list_of(values) : list_of(std::vector<float>(values.begin(), values.end()));
}

Operand constant_of(Lowering &n, Type type, const Shape &shape, const std::vector<double> &values) {
  return n.constant(in_type(type, values).reshaped(shape));
}

Operand constant_of(Lowering &n, const std::vector<int64_t> &values) { return n.constant(list_of(values)); }

namespace {

// ---- Linear models: scores are products of samples (N, F) with coefficients (E, F).

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
