// Operators that compute each element from those at the same place of their inputs, with broadcasting.

#include <algorithm>

#include "algorithms/functions.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;
using F = Function;
using Lower = std::function<void(Lowering &)>;

// ---- Of one input.

Lower unary(Function f) {
  return [f](Lowering &n) { n.give(0, map(f, n.input(0))); };
}
Lower mapped(Value (*of)(const Value &)) {
  return [of](Lowering &n) { n.give(0, of(n.input(0))); };
}
// A function with a parameter, and one with two: attributes of the node.
struct Parameter {
  const char *name;
  double otherwise;
  double of(const Lowering &n) const { return n.attributes().real(name, otherwise); }
};
Lower mapped(Value (*of)(const Value &, double), const Parameter &a) {
  return [=](Lowering &n) { n.give(0, of(n.input(0), a.of(n))); };
}
Lower mapped(Value (*of)(const Value &, double, double), const Parameter &a, const Parameter &b) {
  return [=](Lowering &n) { n.give(0, of(n.input(0), a.of(n), b.of(n))); };
}

void gelu(Lowering &n) {
  const bool by_tanh = n.attributes().word("approximate", "none") == "tanh";
  n.give(0, by_tanh ? algorithms::gelu_tanh(n.input(0)) : algorithms::gelu(n.input(0)));
}

Value sign(const Value &x) {
  const Value up = where(x > 0, 1, x);  // NaN has its own
  return facts(x.type()).kind == TypeFacts::Kind::natural ? up : where(x < 0, -1, up);
}

// Integers are compared and moved as real numbers: bias and lambda need not be whole.
Value shrink(const Value &x, double lambda, double bias) {
  return cast(x.type(), algorithms::shrink(is_real(x.type()) ? x : cast(Type::f64, x), lambda, bias));
}

void is_infinite(Lowering &n) {
  const Value x = n.input(0), v = cast(x.type() == Type::f64 ? Type::f64 : Type::f32, x);
  const bool negative = n.attributes().integer("detect_negative", 1) != 0,
             positive = n.attributes().integer("detect_positive", 1) != 0;
  const Value infinite = map(Function::is_infinite, v);
  n.give(0, negative && positive ? infinite : infinite && (negative ? v < 0 : positive ? v > 0 : !(v == v)));
}

// ---- Of two inputs.

// The second input. Before opset 7 the first of its dimensions stands at that of the first input which `axis` names.
Operand second(Lowering &n) {
  const Operand &a = n.input(0), &b = n.input(1);
  if (n.opset() >= 7 || !n.attributes().has("axis")) return b;
  const int axis = n.axis(n.attributes().integer("axis"), a.rank()), left = a.rank() - axis - b.rank();
  bool fits = left >= 0;
  for (size_t d = 0; fits && d < b.shape.size(); ++d)
    fits = b.shape[d] == 1 || b.shape[d] == a.shape[static_cast<size_t>(axis) + d];
  if (!fits) fail(to_string(b.shape), " does not fit ", to_string(a.shape), " from axis ", axis, " on");
  Shape shape = b.shape;
  shape.insert(shape.end(), static_cast<size_t>(left), 1);
  return n.reshaped(b, shape);
}

void give_binary(Lowering &n, Function f) {
  const Operand &a = n.input(0), b = second(n);
  expect_same_type(a, b);
  n.give(0, map(f, a, b));
}
Lower binary(Function f) {
  return [f](Lowering &n) { give_binary(n, f); };
}

// b < a and b <= a.
Lower swapped(Function f) {
  return [f](Lowering &n) {
    const Operand &a = n.input(0), b = second(n);
    expect_same_type(a, b);
    n.give(0, map(f, b, a));
  };
}

void lower_power(Lowering &n) {
  const Operand &a = n.input(0), b = second(n);
  // Both in a type that holds either; the result has that of the base.
  const bool whole = !is_real(a.type) && !is_real(b.type);
  const Type type = whole                                                            ? Type::i64
                    : a.type == Type::f64 || b.type == Type::f64 || !is_real(a.type) ? Type::f64
                                                                                     : Type::f32;
  const Value base = cast(type, a);
  // Squares, as exporters write them, are for multiplication.
  const bool squares = b.value.defined() && b.value.size() == 1 && b.rank() <= a.rank() && b.value.reals()[0] == 2;
  n.give(0, cast(a.type, squares ? base * base : power(base, cast(type, b))));
}

void lower_modulo(Lowering &n) {
  give_binary(n, n.attributes().integer("fmod", 0) != 0 ? Function::remainder : Function::modulo);
}

void bit_shift(Lowering &n) {
  static const std::map<std::string, Function> shifts = {{"LEFT", F::shift_left}, {"RIGHT", F::shift_right}};
  give_binary(n, one_of(shifts, "direction", n.attributes().word("direction")));
}

// As an operation, whose gradient is 0 at 0: that of a formula is 1 there.
void training_relu(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.type == Type::f32)
    n.give(0, n.operation("relu", {x}, {}, x.shape));
  else
    n.give(0, algorithms::relu(x));
}

void prelu(Lowering &n) {
  const Operand &x = n.input(0);
  Operand slope = n.input(1);
  expect_same_type(x, slope);
  // Before opset 7 there is one slope for each channel, and no broadcasting.
  if (n.opset() < 7 && slope.rank() == 1 && slope.shape[0] > 1 && x.rank() > 2) {
    Shape channels(x.shape.size() - 1, 1);
    channels[0] = slope.shape[0];
    slope = n.reshaped(slope, channels);
  }
  n.give(0, algorithms::leaky_relu(x, slope));
}

// ---- Of any number of inputs.

Lower folded(Function f, bool mean = false) {
  return [=](Lowering &n) {
    const Operand &first = n.input(0);
    Value all = first;
    for (size_t i = 1; i < n.input_count(); ++i) {
      expect_same_type(first, n.input(i));
      all = map(f, all, n.input(i));
    }
    n.give(0, mean ? all / static_cast<double>(n.input_count()) : all);
  };
}

void lower_where(Lowering &n) {
  expect_same_type(n.input(1), n.input(2));
  n.give(0, where(n.input(0), n.input(1), n.input(2)));
}

// Bounds are inputs of one element, or attributes in old files. One that is known is part of the formula: what is known
// to be a number takes one instruction.
void clip(Lowering &n) {
  const auto bound = [&](size_t input) -> Value {
    const Operand o = n.reshaped(n.input(input), {});
    if (!o.value.defined()) return o;
    return inlined({}, [&](const Axes &) {
      return is_real(o.type) ? constant(o.type, o.value.reals().at(0))
                             : constant_integer(o.type, o.value.integers().at(0));
    });
  };
  Value x = n.input(0);
  if (n.has(1)) x = max(x, bound(1));
  if (n.has(2)) x = min(x, bound(2));
  if (n.attributes().has("min")) x = max(x, n.attributes().real("min"));
  if (n.attributes().has("max")) x = min(x, n.attributes().real("max"));
  n.give(0, x);
}

// Operators that are one function.
struct FunctionRow {
  const char *name;
  Function function;
};
constexpr FunctionRow function_rows[] = {
    {"Abs", F::absolute},      {"Acos", F::arccosine}, {"Acosh", F::arccosh},   {"Add", F::add},
    {"Asin", F::arcsine},      {"Asinh", F::arcsinh},  {"Atan", F::arctangent}, {"Atanh", F::arctanh},
    {"Ceil", F::ceiling},      {"Cos", F::cosine},     {"Cosh", F::cosh},       {"Div", F::divide},
    {"Equal", F::equal},       {"Erf", F::erf},        {"Exp", F::exp},         {"Floor", F::floor},
    {"IsInf", F::is_infinite}, {"IsNaN", F::is_nan},   {"Less", F::less},       {"LessOrEqual", F::less_equal},
    {"Log", F::log},           {"Max", F::maximum},    {"Min", F::minimum},     {"Mul", F::multiply},
    {"Neg", F::negate},        {"Pow", F::power},      {"Round", F::round},     {"Sin", F::sine},
    {"Sinh", F::sinh},         {"Sqrt", F::sqrt},      {"Sub", F::subtract},    {"Tan", F::tangent},
    {"Tanh", F::tanh}};

// Rows that are written out, and those of functions that are not among them.
OperatorList with_functions(OperatorList rows) {
  for (const FunctionRow &r : function_rows)
    if (std::none_of(rows.begin(), rows.end(), [&](const Operator &o) { return o.name == r.name; }))
      rows.push_back({r.name, operand_count(r.function) == 1 ? unary(r.function) : binary(r.function)});
  return rows;
}

template <typename Is>
const char *operator_where(const Is &is_wanted) {
  const auto row = std::find_if(std::begin(function_rows), std::end(function_rows), is_wanted);
  return row == std::end(function_rows) ? nullptr : row->name;
}

}  // namespace

const char *operator_of(Function f) {
  return operator_where([&](const FunctionRow &r) { return r.function == f; });
}
const char *operator_of(const std::string &function) {
  return operator_where([&](const FunctionRow &r) { return name(r.function) == function; });
}

const OperatorList elementwise_operators = with_functions({
    {"And", binary(F::both)},
    {"BitShift", bit_shift},
    {"BitwiseAnd", binary(F::both)},
    {"BitwiseNot", unary(F::invert)},
    {"BitwiseOr", binary(F::either)},
    {"BitwiseXor", binary(F::differ)},
    {"Celu", mapped(algorithms::celu, {"alpha", 1})},
    {"Clip", clip},
    {"Elu", mapped(algorithms::elu, {"alpha", 1})},
    {"Equal", binary(F::equal), look_at_texts},
    {"Gelu", gelu},
    {"Greater", swapped(F::less)},
    {"GreaterOrEqual", swapped(F::less_equal)},
    {"HardSigmoid", mapped(algorithms::hard_sigmoid, {"alpha", 0.2}, {"beta", 0.5})},
    {"HardSwish", mapped(algorithms::hard_swish)},
    {"IsInf", is_infinite},
    {"LeakyRelu",
     mapped([](const Value &x, double slope) { return algorithms::leaky_relu(x, slope); }, {"alpha", 0.01})},
    {"Max", folded(F::maximum)},
    {"Mean", folded(F::add, true)},
    {"Min", folded(F::minimum)},
    {"Mish", mapped(algorithms::mish)},
    {"Mod", lower_modulo},
    {"Not", unary(F::invert)},
    {"Or", binary(F::either)},
    {"PRelu", prelu},
    {"Pow", lower_power},
    {"Reciprocal", mapped(algorithms::reciprocal)},
    {"Relu", mapped(algorithms::relu)},
    {"Relu", training_relu, nullptr, training_domain},
    {"Selu", mapped(algorithms::selu, {"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875})},
    {"Shrink", mapped(shrink, {"lambd", 0.5}, {"bias", 0})},
    {"Sigmoid", mapped(algorithms::sigmoid)},
    {"Sign", mapped(sign)},
    {"Softplus", mapped(algorithms::softplus)},
    {"Softsign", mapped(algorithms::softsign)},
    {"Sum", folded(F::add)},
    {"Swish", mapped(algorithms::swish, {"alpha", 1})},
    {"ThresholdedRelu", mapped(algorithms::thresholded_relu, {"alpha", 1})},
    {"Where", lower_where, move_texts},
    {"Xor", binary(F::differ)},
});

}  // namespace saltern
