// Softmax, LogSoftmax and Hardmax.

#include "runtime/onnx/operators/softmax.h"

#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

using formula::Function;

namespace {

Axes with(Axes at, int axis, const Expression &index) {
  at[static_cast<size_t>(axis)] = index;
  return at;
}

// One value for each row along the axis, which keeps an extent of 1.
Operand along(Lowering &n, Function f, Type type, const std::vector<Operand> &operands, int axis,
              const std::function<Expression(const Reads &, const Axes &)> &element) {
  Shape shape = operands[0].shape;
  const int64_t extent = shape[static_cast<size_t>(axis)];
  shape[static_cast<size_t>(axis)] = 1;
  return n.formula(type, shape, operands, [&](const Reads &r, const Axes &at) {
    return reduce(f, {extent}, [&](const std::vector<Expression> &s) { return element(r, with(at, axis, s[0])); });
  });
}

Operand exponential(Lowering &n, const Operand &x, int axis, bool logarithm) {
  if (elements(x.shape) == 0) return x;
  if (working_type(x.type) == Type::f32) {
    const Operand y = n.operation(logarithm ? "log_softmax" : "softmax", {n.casted(x, Type::f32)},
                                  {{"axis", int64_t{axis}}}, x.shape);
    return n.casted(y, x.type);
  }
  const Operand largest =
      along(n, Function::greatest, x.type, {x}, axis, [](const Reads &r, const Axes &at) { return r[0](at); });
  // Broadcasting puts the row's value at each of its elements.
  const auto of_row = [axis](const Read &row, const Axes &at) {
    return row(with(at, axis, formula::constant_integer(Type::i64, 0)));
  };
  const Operand sum = along(n, Function::sum, x.type, {x, largest}, axis,
                            [&](const Reads &r, const Axes &at) { return exp(r[0](at) - of_row(r[1], at)); });
  return n.formula(x.type, x.shape, {x, largest, sum}, [&](const Reads &r, const Axes &at) {
    const Expression e = r[0].here() - of_row(r[1], at), s = of_row(r[2], at);
    return logarithm ? e - log(s) : exp(e) / s;
  });
}

// One where the row's first largest element is, zero elsewhere.
Operand hardmax(Lowering &n, const Operand &x, int axis) {
  const Operand place =
      along(n, Function::first_greatest, Type::i64, {x}, axis, [](const Reads &r, const Axes &at) { return r[0](at); });
  return n.formula(x.type, x.shape, {x, place}, [&](const Reads &r, const Axes &at) {
    const Expression here = at[static_cast<size_t>(axis)] == r[1].here();
    return select(here, formula::constant(x.type, 1), formula::constant(x.type, 0));
  });
}

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
