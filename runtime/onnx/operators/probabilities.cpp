// Softmax, LogSoftmax and Hardmax, and losses of class labels: the negative log-likelihood of given log-probabilities, and
// of a softmax.

#include "algorithms/probabilities.h"
#include "algorithms/losses.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

using namespace formula;

namespace {

Operand exponential(Lowering &n, const Operand &x, int axis, bool logarithm) {
  if (elements(x.shape) == 0) return x;
  if (working_type(x.type) != Type::f32)
    return n.computed(logarithm ? algorithms::log_softmax(x, axis) : algorithms::softmax(x, axis));
  const Operand y =
      n.operation(logarithm ? "log_softmax" : "softmax", {n.casted(x, Type::f32)}, {{"axis", int64_t{axis}}}, x.shape);
  return n.casted(y, x.type);
}

Operand hardmax(Lowering &n, const Operand &x, int axis) { return n.computed(algorithms::hardmax(x, axis)); }

// Before opset 13 all dimensions from the axis on are one.
template <Operand (*of)(Lowering &, const Operand &, int)>
void along_axis(Lowering &n) {
  const Operand &x = n.input(0);
  if (n.opset() >= 13) {
    n.give(0, of(n, x, n.axis(n.attributes().integer("axis", -1), x.rank())));
    return;
  }
  const int64_t given = n.attributes().integer("axis", 1);
  const int axis = given == x.rank() ? x.rank() : n.axis(given, x.rank());
  const int64_t rows = elements({x.shape.begin(), x.shape.begin() + axis});
  const Operand matrix = n.reshaped(x, {rows, elements({x.shape.begin() + axis, x.shape.end()})});
  n.give(0, n.reshaped(of(n, matrix, 1), x.shape));
}

}  // namespace

Operand softmax(Lowering &n, const Operand &x, int axis) { return exponential(n, x, axis, false); }
Operand log_softmax(Lowering &n, const Operand &x, int axis) { return exponential(n, x, axis, true); }

namespace {

// x is (N, C, d1, ..., dk), labels are (N, d1, ..., dk), weights (C).
void give_loss(Lowering &n, const Operand &log_probabilities) {
  const Operand &x = log_probabilities, &labels = n.input(1);
  Shape expected = x.shape;
  if (x.rank() < 2) fail("scores are ", to_string(x.shape), "; expected (N, C, ...)");
  expected.erase(expected.begin() + 1);
  expect_shape(labels, expected, "labels");
  expect_shape(n.optional(2), {x.shape[1]}, "weights");
  const std::string reduction = one_of({"none", "mean", "sum"}, "reduction", n.attributes().word("reduction", "mean"));
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

const OperatorList probability_operators = {{"Hardmax", along_axis<hardmax>},
                                            {"LogSoftmax", along_axis<log_softmax>},
                                            {"NegativeLogLikelihoodLoss", negative_log_likelihood},
                                            {"Softmax", along_axis<softmax>},
                                            {"SoftmaxCrossEntropyLoss", softmax_cross_entropy}};

}  // namespace saltern
