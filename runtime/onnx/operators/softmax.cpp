// Softmax, LogSoftmax and Hardmax.

#include "runtime/onnx/operators/softmax.h"

#include "algorithms/probabilities.h"
#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

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

const OperatorList &softmax_operators() {
  static const OperatorList list = {
      {"Hardmax", along_axis<hardmax>}, {"LogSoftmax", along_axis<log_softmax>}, {"Softmax", along_axis<softmax>}};
  return list;
}

}  // namespace saltern
