// Losses of class labels: the negative log-likelihood of given log-probabilities, and of a softmax.
//
// x is (N, C, d1, ..., dk), labels are (N, d1, ..., dk), weights (C).

#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/softmax.h"

namespace saltern {

namespace {

using formula::Function;

// What all samples sum up to, one of them by its indices.
Operand total(Lowering &n, Type type, const Shape &shape, const std::vector<Operand> &operands, const Element &sample) {
  return n.formula(type, {}, operands, [&](const Reads &r, const Axes &) {
    return reduce(Function::sum, shape, [&](const std::vector<Expression> &s) { return sample(r, s); });
  });
}

void give_loss(Lowering &n, const Operand &log_probabilities) {
  const Operand &x = log_probabilities, &labels = n.input(1);
  Shape expected = x.shape;
  if (x.rank() < 2) fail("scores are ", to_string(x.shape), "; expected (N, C, ...)");
  expected.erase(expected.begin() + 1);
  if (labels.shape != expected) fail("labels are ", to_string(labels.shape), "; expected ", to_string(expected));
  if (n.has(2) && n.input(2).shape != Shape{x.shape[1]})
    fail("weights are ", to_string(n.input(2).shape), "; expected one for each of ", x.shape[1], " classes");
  const std::string reduction = n.attributes().word("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    fail("reduction is '", reduction, "'; expected none, mean or sum");
  const bool ignores = n.attributes().has("ignore_index");
  const int64_t ignored = n.attributes().integer("ignore_index", 0);
  const Type type = working_type(x.type);

  std::vector<Operand> operands = {labels, x};
  if (n.has(2)) operands.push_back(n.input(2));
  const auto label_of = [](const Reads &r, const Axes &at) { return cast(Type::i64, r[0](at)); };
  const Element weight = [&](const Reads &r, const Axes &at) {
    const Expression label = label_of(r, at), one = formula::constant(type, 1);
    const Expression w = r.size() > 2 ? cast(type, r[2]({label})) : one;
    return ignores ? select(label == ignored, literal(w, 0), w) : w;
  };
  const Element loss = [&](const Reads &r, const Axes &at) {
    std::vector<Expression> place = at;
    const Expression label = label_of(r, at);
    place.insert(place.begin() + 1, label);
    const Expression w = weight(r, at), e = -(w * cast(type, r[1](place)));
    // The score beside an ignored label may be an infinity.
    return ignores ? select(label == ignored, literal(e, 0), e) : e;
  };
  if (reduction == "none") {
    n.give(0, n.formula(x.type, labels.shape, operands,
                        [&](const Reads &r, const Axes &at) { return cast(x.type, loss(r, at)); }));
    return;
  }
  Operand y = total(n, type, labels.shape, operands, loss);
  if (reduction == "mean") {
    const Operand weights = total(n, type, labels.shape, operands, weight);
    y = n.formula(type, {}, {y, weights}, [](const Reads &r, const Axes &) { return r[0].here() / r[1].here(); });
  }
  n.give(0, n.casted(y, x.type));
}

void negative_log_likelihood(Lowering &n) { give_loss(n, n.input(0)); }

void softmax_cross_entropy(Lowering &n) {
  if (n.input(0).rank() < 2) fail("scores are ", to_string(n.input(0).shape), "; expected (N, C, ...)");
  const Operand logs = log_softmax(n, n.input(0), 1);
  give_loss(n, logs);
  n.give(1, logs);
}

}  // namespace

const OperatorList &loss_operators() {
  static const OperatorList list = {{"NegativeLogLikelihoodLoss", negative_log_likelihood},
                                    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy}};
  return list;
}

}  // namespace saltern
