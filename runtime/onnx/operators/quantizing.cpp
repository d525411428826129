// Quantization: numbers as small integers or floats times a scale.
//
//   y = round(x / scale) + zero point, saturated          x = (y - zero point) * scale
//
// A scale is one number, a vector along one axis, or a tensor that has one number for each block along an axis.

#include <cmath>
#include <optional>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/small_casts.h"

namespace saltern {

namespace {

using namespace formula;

// Which element of a scale, or of a zero point, belongs to an element of x.
std::function<Expression(const Value &, Axes)> granularity(const Lowering &n, const Operand &x, const Operand &scale) {
  if (elements(scale.shape) == 1)
    return [](const Value &s, const Axes &) { return s.at(Axes(static_cast<size_t>(s.rank()), index(0))); };
  const auto axis = static_cast<size_t>(n.axis(n.attributes().integer("axis", 1), x.rank()));
  const int64_t extent = x.shape[axis], block = n.attributes().integer("block_size", 0);
  if (block < 0) fail("its block_size is ", block);
  Shape wanted = x.shape;
  if (block > 0) wanted[axis] = extent / block + (extent % block != 0 ? 1 : 0);
  expect_shape(scale, block > 0 ? wanted : Shape{extent}, "the scale");
  if (block == 0) return [axis](const Value &s, const Axes &at) { return s(at[axis]); };
  return [axis, block](const Value &s, Axes at) {
    at[axis] = at[axis] / block;
    return s.at(at);
  };
}

// Scale and zero point have one shape, but for the number and the vector of one.
void expect_zero_point(const Operand &scale, const Operand &zero, Type type) {
  if (zero.type != type) fail("a zero point of ", facts(zero.type).name, "; expected ", facts(type).name);
  if (zero.shape != scale.shape && (elements(zero.shape) != 1 || elements(scale.shape) != 1))
    fail("a zero point of ", to_string(zero.shape), " with a scale of ", to_string(scale.shape));
}

// The zero point where it is one known number of 16 bits or fewer.
std::optional<int64_t> known_zero(const Lowering &n) {
  if (!n.has(2)) return 0;
  const Operand &zero = n.input(2);
  if (!zero.value.defined() || zero.value.size() != 1 || is_real(zero.type) || facts(zero.type).bits > 16)
    return std::nullopt;
  return zero.value.integers()[0];
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
  if (n.has(2)) expect_zero_point(scale, n.input(2), type);
  if (type == Type::f8e8m0 || (!facts(type).is_small_real() && (is_real(type) || facts(type).bits > 16)))
    fail("quantizes to ", facts(type).name, "; expected integers of 16 bits or fewer, or floats of 8 or 4");
  const auto each = granularity(n, x, scale);
  const std::optional<int64_t> zero = known_zero(n);
  // A quotient by one is none.
  const bool is_scaled = !scale.value.defined() || scale.value.size() != 1 || scale.type != Type::f32 ||
                         x.type != Type::f32 || scale.value.item() != 1;
  const Type precision = type_attribute(n.attributes(), "precision", scale.type);
  n.give(0, inlined(extents(x.shape), [&](const Axes &at) {
           // The quotient is rounded as its precision says; what follows is exact in f32.
           const auto precise = [&](const Expression &e) {
             return cast(Type::f32, facts(precision).is_small_real() ? cast(Type::f32, e) : cast(precision, e));
           };
           Expression q = precise(Value(x).at(at));
           if (is_scaled) q = precise(q / precise(each(scale, at)));
           if (!is_real(type) && zero) return rounded_from(type, q, *zero);
           if (!is_real(type)) q = call(Function::round, q);
           if (n.has(2)) q = q + cast(Type::f32, each(n.input(2), at));
           return is_real(type) ? cast_to(type, q, saturate) : saturated(type, q);
         }));
}

void dequantize(Lowering &n) {
  const Operand &x = n.input(0), &scale = n.input(1);
  const Type type = type_attribute(n.attributes(), "output_dtype", scale.type);
  if (n.has(2)) expect_zero_point(scale, n.input(2), x.type);
  const auto each = granularity(n, x, scale);
  // Differences of short integers are exact in f32.
  const std::optional<int64_t> zero = known_zero(n);
  const bool is_short = zero && !is_real(x.type) && facts(x.type).bits <= 16;
  n.give(0, inlined(extents(x.shape), [&](const Axes &at) {
           Expression v = cast(is_short || is_real(x.type) ? Type::f32 : Type::i64, Value(x).at(at));
           if (is_short && *zero != 0) v = v - static_cast<double>(*zero);
           if (!is_short && n.has(2)) v = v - cast(v.type(), each(n.input(2), at));
           return cast(type, cast(Type::f32, v) * cast(Type::f32, each(scale, at)));
         }));
}

// To u8 with a scale that makes the range of all elements, and zero, fit.
void dynamic_quantize(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.type != Type::f32) fail("its input is ", facts(x.type).name, "; expected f32");
  const Value in = x;
  const auto extreme = [&](Function f) {
    return compute("extreme", {},
                   [&](const Axes &) { return reduce(f, x.shape, [&](const Axes &k) { return in.at(k); }); });
  };
  const Value most = max(extreme(Function::greatest), 0), least = named("least", min(extreme(Function::least), 0));
  const Value way = named("way", most - least), scale = named("scale", where(way == 0, 1, way) / 255);
  const auto rounded = [](const Value &v, const Value &shift) {
    return inlined(v.extents(), [&](const Axes &at) {
      const Expression e = call(Function::round, v.at(at));
      return saturated(Type::u8, shift.defined() ? e + cast(Type::f32, shift()) : e);
    });
  };
  const Value zero = named("zero", rounded(min(max(-least / scale, 0), 255), {}));
  n.give({rounded(in / scale, zero), scale, zero});
}

}  // namespace

const OperatorList quantizing_operators = {
    {"DequantizeLinear", dequantize},
    {"DynamicQuantizeLinear", dynamic_quantize},
    {"QuantizeLinear", quantize},
};

}  // namespace saltern
