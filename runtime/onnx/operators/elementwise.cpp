// Operators that compute each element from those at the same place of their inputs, with broadcasting.

#include <limits>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/move_texts.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using formula::Function;

// ---- Of one input.

template <Function f>
void unary(Lowering &n) {
  const Operand &x = n.input(0);
  n.give(0, n.formula(x.type, x.shape, {x}, [](const Reads &r, const Axes &) { return call(f, r[0].here()); }));
}

template <Function f>
void question(Lowering &n) {
  const Operand &x = n.input(0);
  n.give(0, n.formula(Type::boolean, x.shape, {x}, [](const Reads &r, const Axes &) { return call(f, r[0].here()); }));
}

// y = of(x), in the type of x.
template <Expression (*of)(const Expression &x, const Lowering &n)>
void mapped(Lowering &n) {
  const Operand &x = n.input(0);
  n.give(0, n.formula(x.type, x.shape, {x}, [&](const Reads &r, const Axes &) { return of(r[0].here(), n); }));
}

double alpha(const Lowering &n, double otherwise) { return n.attributes().real("alpha", otherwise); }
double beta(const Lowering &n, double otherwise) { return n.attributes().real("beta", otherwise); }

Expression logistic(const Expression &x) { return 1.0 / (1.0 + exp(-x)); }
// log(1 + e^x) without overflow.
Expression softplus(const Expression &x) { return max(x, 0.0) + log(1.0 + exp(-abs(x))); }

Expression relu(const Expression &x, const Lowering &) { return max(x, 0); }
Expression leaky_relu(const Expression &x, const Lowering &n) { return select(x < 0, x * alpha(n, 0.01), x); }
Expression sigmoid(const Expression &x, const Lowering &) { return logistic(x); }
Expression hard_sigmoid(const Expression &x, const Lowering &n) {
  return max(min(x * alpha(n, 0.2) + beta(n, 0.5), 1.0), 0.0);
}
Expression hard_swish(const Expression &x, const Lowering &) { return x * max(min(x * (1.0 / 6) + 0.5, 1.0), 0.0); }
Expression elu(const Expression &x, const Lowering &n) { return select(x < 0, (exp(x) - 1.0) * alpha(n, 1), x); }
Expression celu(const Expression &x, const Lowering &n) {
  const double a = alpha(n, 1);
  return max(x, 0.0) + min((exp(x / a) - 1.0) * a, 0.0);
}
Expression selu(const Expression &x, const Lowering &n) {
  const double a = alpha(n, 1.67326319217681884765625), g = n.attributes().real("gamma", 1.05070102214813232421875);
  return select(x <= 0, (exp(x) * a - a) * g, x * g);
}
Expression softplus_of(const Expression &x, const Lowering &) { return softplus(x); }
Expression softsign(const Expression &x, const Lowering &) { return x / (1.0 + abs(x)); }
Expression thresholded_relu(const Expression &x, const Lowering &n) {
  return select(x > alpha(n, 1), x, literal(x, 0));
}
// tanh(log(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2), and 1 from 20 on.
Expression mish(const Expression &x, const Lowering &) {
  const Expression e = exp(min(x, 20.0)), n = e * (e + 2.0);
  return x * (n / (n + 2.0));
}
Expression swish(const Expression &x, const Lowering &n) { return x * logistic(x * alpha(n, 1)); }
Expression gelu(const Expression &x, const Lowering &n) {
  if (n.attributes().word("approximate", "none") == "tanh")
    return x * logistic((x + x * x * x * 0.044715) * (2 * 0.79788456080286535588));  // (1 + tanh u) / 2
  return x * 0.5 * (1.0 + call(Function::erf, x * 0.70710678118654752440));
}
Expression sign(const Expression &x, const Lowering &) {
  const Expression up = select(x > 0, literal(x, 1), x);  // NaN has its own
  if (facts(x.type()).kind == TypeFacts::Kind::natural) return up;
  return select(x < 0, literal(x, -1), up);
}
Expression reciprocal(const Expression &x, const Lowering &) { return 1.0 / x; }
// Integers are compared and moved as real numbers: bias and lambda need not be whole.
Expression shrink(const Expression &given, const Lowering &n) {
  const double bias = n.attributes().real("bias", 0), lambda = n.attributes().real("lambd", 0.5);
  const Expression x = is_real(given.type()) ? given : cast(Type::f64, given);
  return cast(given.type(), select(x < -lambda, x + bias, select(x > lambda, x - bias, literal(x, 0))));
}

void is_infinite(Lowering &n) {
  const Operand &x = n.input(0);
  const bool negative = n.attributes().integer("detect_negative", 1) != 0,
             positive = n.attributes().integer("detect_positive", 1) != 0;
  n.give(0, n.formula(Type::boolean, x.shape, {x}, [&](const Reads &r, const Axes &) {
    const Expression v = cast(x.type == Type::f64 ? Type::f64 : Type::f32, r[0].here());
    const Expression infinite = call(Function::is_infinite, v);
    if (negative && positive) return infinite;
    return infinite && (negative ? v < 0 : positive ? v > 0 : !(v == v));
  }));
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

template <Function f>
void binary(Lowering &n) {
  const Operand &a = n.input(0), b = second(n);
  expect_same_type(n, a, b);
  n.give(0, n.formula(a.type, broadcasted_shape({a, b}), {a, b},
                      [](const Reads &r, const Axes &) { return call(f, r[0].here(), r[1].here()); }));
}

template <Function f, bool swapped = false>
void comparison(Lowering &n) {
  const Operand &a = n.input(0), b = second(n);
  expect_same_type(n, a, b);
  n.give(0, n.formula(Type::boolean, broadcasted_shape({a, b}), {a, b}, [](const Reads &r, const Axes &) {
    return call(f, r[swapped ? 1 : 0].here(), r[swapped ? 0 : 1].here());
  }));
}

void power(Lowering &n) {
  const Operand &a = n.input(0), b = second(n);
  // Both in a type that holds either; the result has that of the base.
  const bool whole = !is_real(a.type) && !is_real(b.type);
  const Type type = whole                                                            ? Type::i64
                    : a.type == Type::f64 || b.type == Type::f64 || !is_real(a.type) ? Type::f64
                                                                                     : Type::f32;
  n.give(0, n.formula(a.type, broadcasted_shape({a, b}), {a, b}, [&](const Reads &r, const Axes &) {
    return cast(a.type, power(cast(type, r[0].here()), cast(type, r[1].here())));
  }));
}

void modulo(Lowering &n) {
  const bool truncated = n.attributes().integer("fmod", 0) != 0;
  truncated ? binary<Function::remainder>(n) : binary<Function::modulo>(n);
}

void bit_shift(Lowering &n) {
  const std::string &direction = n.attributes().word("direction");
  if (direction != "LEFT" && direction != "RIGHT") fail("direction is '", direction, "'; expected LEFT or RIGHT");
  direction == "LEFT" ? binary<Function::shift_left>(n) : binary<Function::shift_right>(n);
}

void prelu(Lowering &n) {
  const Operand &x = n.input(0);
  Operand slope = n.input(1);
  expect_same_type(n, x, slope);
  // Before opset 7 there is one slope for each channel, and no broadcasting.
  if (n.opset() < 7 && slope.rank() == 1 && slope.shape[0] > 1 && x.rank() > 2) {
    Shape channels(x.shape.size() - 1, 1);
    channels[0] = slope.shape[0];
    slope = n.reshaped(slope, channels);
  }
  n.give(0, n.formula(x.type, broadcasted_shape({x, slope}), {x, slope}, [](const Reads &r, const Axes &) {
    const Expression v = r[0].here();
    return select(v < 0, v * r[1].here(), v);
  }));
}

// ---- Of any number of inputs.

template <Function f, bool mean = false>
void folded(Lowering &n) {
  std::vector<Operand> all;
  for (size_t i = 0; i < n.input_count(); ++i) all.push_back(n.input(i));
  if (all.empty()) fail("has no input");
  for (const Operand &o : all) expect_same_type(n, all[0], o);
  n.give(0, n.formula(all[0].type, broadcasted_shape(all), all, [&](const Reads &r, const Axes &) {
    Expression e = r[0].here();
    for (size_t i = 1; i < r.size(); ++i) e = call(f, e, r[i].here());
    return mean ? e / literal(e, static_cast<double>(r.size())) : e;
  }));
}

void where(Lowering &n) {
  const Operand &c = n.input(0), &a = n.input(1), &b = n.input(2);
  expect_same_type(n, a, b);
  n.give(0, n.formula(a.type, broadcasted_shape({c, a, b}), {c, a, b},
                      [](const Reads &r, const Axes &) { return select(r[0].here(), r[1].here(), r[2].here()); }));
}

// The only element of a constant.
Expression constant_of(const Operand &o) {
  return is_real(o.type) ? formula::constant(o.type, o.value.reals().at(0))
                         : formula::constant_integer(o.type, o.value.integers().at(0));
}

// Bounds are inputs of one element, or attributes in old files. One that is known is part of the formula: what is known
// to be a number takes one instruction.
void clip(Lowering &n) {
  const Operand &x = n.input(0);
  std::vector<Operand> all = {x};
  struct Bound {
    Operand operand;
    size_t place = 0;  // among all, where it is not known
    Expression of(const Reads &r) const { return place > 0 ? r[place].here() : constant_of(operand); }
  } low, high;
  const auto read = [&](size_t input, Bound &b) {
    if (!n.has(input)) return;
    b.operand = n.reshaped(n.input(input), {});
    if (b.operand.value.defined()) return;
    b.place = all.size();
    all.push_back(b.operand);
  };
  read(1, low);
  read(2, high);
  n.give(0, n.formula(x.type, x.shape, all, [&](const Reads &r, const Axes &) {
    Expression e = r[0].here();
    if (low.operand.present()) e = max(e, low.of(r));
    if (high.operand.present()) e = min(e, high.of(r));
    if (n.attributes().has("min")) e = max(e, n.attributes().real("min"));
    if (n.attributes().has("max")) e = min(e, n.attributes().real("max"));
    return e;
  }));
}

}  // namespace

const OperatorList &elementwise_operators() {
  using F = Function;
  static const OperatorList list = {
      {"Abs", unary<F::absolute>},
      {"Acos", unary<F::arccosine>},
      {"Acosh", unary<F::arccosh>},
      {"Add", binary<F::add>},
      {"And", binary<F::both>},
      {"Asin", unary<F::arcsine>},
      {"Asinh", unary<F::arcsinh>},
      {"Atan", unary<F::arctangent>},
      {"Atanh", unary<F::arctanh>},
      {"BitShift", bit_shift},
      {"BitwiseAnd", binary<F::both>},
      {"BitwiseNot", unary<F::invert>},
      {"BitwiseOr", binary<F::either>},
      {"BitwiseXor", binary<F::differ>},
      {"Ceil", unary<F::ceiling>},
      {"Celu", mapped<celu>},
      {"Clip", clip},
      {"Cos", unary<F::cosine>},
      {"Cosh", unary<F::cosh>},
      {"Div", binary<F::divide>},
      {"Elu", mapped<elu>},
      {"Equal", comparison<F::equal>, look_at_texts},
      {"Erf", unary<F::erf>},
      {"Exp", unary<F::exp>},
      {"Floor", unary<F::floor>},
      {"Gelu", mapped<gelu>},
      {"Greater", comparison<F::less, true>},
      {"GreaterOrEqual", comparison<F::less_equal, true>},
      {"HardSigmoid", mapped<hard_sigmoid>},
      {"HardSwish", mapped<hard_swish>},
      {"IsInf", is_infinite},
      {"IsNaN", question<F::is_nan>},
      {"LeakyRelu", mapped<leaky_relu>},
      {"Less", comparison<F::less>},
      {"LessOrEqual", comparison<F::less_equal>},
      {"Log", unary<F::log>},
      {"Max", folded<F::maximum>},
      {"Mean", folded<F::add, true>},
      {"Min", folded<F::minimum>},
      {"Mish", mapped<mish>},
      {"Mod", modulo},
      {"Mul", binary<F::multiply>},
      {"Neg", unary<F::negate>},
      {"Not", unary<F::invert>},
      {"Or", binary<F::either>},
      {"PRelu", prelu},
      {"Pow", power},
      {"Reciprocal", mapped<reciprocal>},
      {"Relu", mapped<relu>},
      {"Round", unary<F::round>},
      {"Selu", mapped<selu>},
      {"Shrink", mapped<shrink>},
      {"Sigmoid", mapped<sigmoid>},
      {"Sign", mapped<sign>},
      {"Sin", unary<F::sine>},
      {"Sinh", unary<F::sinh>},
      {"Softplus", mapped<softplus_of>},
      {"Softsign", mapped<softsign>},
      {"Sqrt", unary<F::sqrt>},
      {"Sub", binary<F::subtract>},
      {"Sum", folded<F::add>},
      {"Swish", mapped<swish>},
      {"Tan", unary<F::tangent>},
      {"Tanh", unary<F::tanh>},
      {"ThresholdedRelu", mapped<thresholded_relu>},
      {"Where", where, move_texts},
      {"Xor", binary<F::differ>},
      {"Identity", [](Lowering &n) { n.give(0, n.input(0)); },
       [](const HostCall &c) -> std::vector<HostValue> { return {c.inputs.at(0)}; }},
  };
  return list;
}

}  // namespace saltern
