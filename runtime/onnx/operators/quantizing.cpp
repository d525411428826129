// Quantization: numbers as small integers or floats times a scale.
//
//   y = round(x / scale) + zero point, saturated          x = (y - zero point) * scale
//
// A scale is one number, a vector along one axis, or a tensor that has one number for each block along an axis.

#include <cmath>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/small_casts.h"

namespace saltern {

namespace {

using formula::Function;

// Which scale belongs to an element.
class Granularity {
 public:
  Granularity(const Lowering &n, const Operand &x, const Operand &scale) : whole_(elements(scale.shape) == 1) {
    if (whole_) return;
    axis_ = static_cast<size_t>(n.axis(n.attributes().integer("axis", 1), x.rank()));
    block_ = n.attributes().integer("block_size", 0);
    if (block_ < 0) fail("its block_size is ", block_);
    Shape wanted = {x.shape[axis_]};
    if (block_ > 0) {
      wanted = x.shape;
      wanted[axis_] = wanted[axis_] / block_ + (wanted[axis_] % block_ != 0 ? 1 : 0);
    }
    if (scale.shape != wanted) fail("a scale of ", to_string(scale.shape), "; expected ", to_string(wanted));
  }

  Expression of(const Read &scale, Axes at) const {
    if (whole_) return scale(Axes(scale.shape().size(), index(0)));
    if (block_ == 0) return scale({at[axis_]});
    at[axis_] = at[axis_] / block_;
    return scale(at);
  }

 private:
  bool whole_;
  size_t axis_ = 0;
  int64_t block_ = 0;
};

// Scale and zero point have one shape, but for the number and the vector of one.
void expect_zero_point(const Operand &scale, const Operand &zero, Type type) {
  if (zero.type != type) fail("a zero point of ", facts(zero.type).name, "; expected ", facts(type).name);
  if (zero.shape != scale.shape && (elements(zero.shape) != 1 || elements(scale.shape) != 1))
    fail("a zero point of ", to_string(zero.shape), " with a scale of ", to_string(scale.shape));
}

Expression saturated(Type type, const Expression &v) {
  const int bits = facts(type).bits;
  const bool natural = facts(type).kind == TypeFacts::Kind::natural;
  const double low = natural ? 0 : -std::ldexp(1, bits - 1), high = std::ldexp(1, natural ? bits : bits - 1) - 1;
  // What is not above is the least, NaN too: as ONNX Runtime and the reference have it.
  return cast(type, select(v > low, min(v, high), literal(v, low)));
}

void quantize(Lowering &n) {
  const Operand &x = n.input(0), &scale = n.input(1);
  const Type type = type_attribute(n.attributes(), "output_dtype", n.has(2) ? n.input(2).type : Type::u8);
  const bool saturate = n.attributes().integer("saturate", 1) != 0;
  std::vector<Operand> operands = {x, scale};
  if (n.has(2)) {
    expect_zero_point(scale, n.input(2), type);
    operands.push_back(n.input(2));
  }
  if (type == Type::f8e8m0 || (!facts(type).is_small_real() && (is_real(type) || facts(type).bits > 16)))
    fail("quantizes to ", facts(type).name, "; expected integers of 16 bits or fewer, or floats of 8 or 4");
  const Granularity each(n, x, scale);
  const Type precision = type_attribute(n.attributes(), "precision", scale.type);
  n.give(0, n.formula(type, x.shape, operands, [&](const Reads &r, const Axes &at) {
    // The quotient is rounded as its precision says; what follows is exact in f32.
    const auto precise = [&](const Expression &e) {
      return cast(Type::f32, facts(precision).is_small_real() ? cast(Type::f32, e) : cast(precision, e));
    };
    Expression q = precise(r[0](at)) / precise(each.of(r[1], at));
    q = precise(q);
    if (!is_real(type)) q = call(Function::round, q);
    if (r.size() > 2) q = q + cast(Type::f32, each.of(r[2], at));
    return is_real(type) ? cast_to(type, q, saturate) : saturated(type, q);
  }));
}

void dequantize(Lowering &n) {
  const Operand &x = n.input(0), &scale = n.input(1);
  const Type type = type_attribute(n.attributes(), "output_dtype", scale.type);
  std::vector<Operand> operands = {x, scale};
  if (n.has(2)) {
    expect_zero_point(scale, n.input(2), x.type);
    operands.push_back(n.input(2));
  }
  const Granularity each(n, x, scale);
  n.give(0, n.formula(type, x.shape, operands, [&](const Reads &r, const Axes &at) {
    const bool whole = !is_real(x.type);
    Expression v = whole ? cast(Type::i64, r[0](at)) : cast(Type::f32, r[0](at));
    if (r.size() > 2) v = v - cast(v.type(), each.of(r[2], at));
    return cast(type, cast(Type::f32, v) * cast(Type::f32, each.of(r[1], at)));
  }));
}

// To u8 with a scale that makes the range of all elements, and zero, fit.
void dynamic_quantize(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.type != Type::f32) fail("its input is ", facts(x.type).name, "; expected f32");
  const auto extreme = [&](Function of_all, Function of_two) {
    return n.formula(Type::f32, {}, {x}, [&](const Reads &r, const Axes &) {
      const Expression all = reduce(of_all, x.shape, [&](const Axes &s) { return r[0](s); });
      return call(of_two, all, literal(all, 0));
    });
  };
  const Operand most = extreme(Function::greatest, Function::maximum),
                least = extreme(Function::least, Function::minimum);
  const Operand scale = n.formula(Type::f32, {}, {most, least}, [](const Reads &r, const Axes &) {
    const Expression way = r[0]({}) - r[1]({});
    return select(way == 0, literal(way, 1), way) / 255.0;
  });
  const Operand zero = n.formula(Type::u8, {}, {least, scale}, [](const Reads &r, const Axes &) {
    return saturated(Type::u8, call(Function::round, min(max(-r[0]({}) / r[1]({}), 0.0), 255.0)));
  });
  n.give(0, n.formula(Type::u8, x.shape, {x, scale, zero}, [](const Reads &r, const Axes &at) {
    return saturated(Type::u8, call(Function::round, r[0](at) / r[1]({})) + cast(Type::f32, r[2]({})));
  }));
  n.give(1, scale);
  n.give(2, zero);
}

}  // namespace

const OperatorList &quantizing_operators() {
  static const OperatorList list = {
      {"DequantizeLinear", dequantize},
      {"DynamicQuantizeLinear", dynamic_quantize},
      {"QuantizeLinear", quantize},
  };
  return list;
}

}  // namespace saltern
