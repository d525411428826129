// Losses of class labels: the negative log-likelihood of given log-probabilities, and of a softmax.
//
// x is (N, C, d1, ..., dk), labels are (N, d1, ..., dk), weights (C).

#include "algorithms/losses.h"
#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/softmax.h"

namespace saltern {

namespace {

using namespace formula;

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
  std::optional<int64_t> ignored;
  if (n.attributes().has("ignore_index")) ignored = n.attributes().integer("ignore_index");
  const Type type = working_type(x.type);
  const Value weights = n.has(2) ? cast(type, n.input(2)) : Value();
  const algorithms::LabelLoss of = algorithms::label_loss(cast(type, x), labels, weights, ignored);
  Value loss = reduction == "none" ? of.loss : sum_all(of.loss);
  if (reduction == "mean") loss = loss / sum_all(of.weight);
  n.give(0, cast(x.type, loss));
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
