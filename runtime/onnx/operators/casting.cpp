// Operators that change the type of elements. Numbers are formulas; texts are read and written on the host.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/small_casts.h"
#include "runtime/onnx/operators/wide_numbers.h"
#include "runtime/tensor/small_floats.h"

namespace saltern {

namespace {

// ---- Floats of 8 and 4 bits.

using formula::Function;

Expression code(Type type, uint8_t bits) { return bits_as(type, formula::constant_integer(Type::u8, bits)); }

// A power of two is the exponent of an f32, next to the fraction that decides on the rounding. Where the exponent is 0
// the fraction is all there is: half of it is the smallest power.
Expression power_of_two(const Expression &x, bool saturate, Rounding rounding) {
  constexpr int64_t half = 1 << 22, largest = 0xFE, not_a_number = 0xFF;
  const Expression bits = cast(Type::i64, bits_as(Type::u32, cast(Type::f32, x)));
  const Expression exponent = bits / (2 * half) % 256, fraction = bits % (2 * half);
  const Expression smallest = exponent == 0;
  Expression rounded = exponent;
  if (rounding == Rounding::up) rounded = exponent + cast(Type::i64, select(smallest, fraction > half, fraction > 0));
  if (rounding == Rounding::nearest)
    rounded = exponent + cast(Type::i64, select(smallest, fraction > half, fraction >= half));
  if (saturate) {
    rounded = min(rounded, largest);
    rounded = select(exponent == 255 && fraction > 0, index(not_a_number), rounded);
  } else {
    rounded = select(exponent == 255 || (smallest && fraction < half), index(not_a_number), rounded);
  }
  return bits_as(Type::f8e8m0, cast(Type::u8, rounded));
}

// The cast itself saturates; numbers beyond the largest become what the type has for them.
Expression without_saturation(Type type, const Expression &x) {
  const float largest = largest_small(type);
  const uint8_t last = small_of_f32(type, largest);
  const float tie = largest + (largest - f32_of_small(type, static_cast<uint8_t>(last - 1))) / 2;
  const bool tie_is_too_large = !std::isfinite(f32_of_small(type, small_of_f32(type, tie, false)));
  const Expression v = x.type() == Type::f64 ? x : cast(Type::f32, x), size = abs(v);
  const Expression too_large = tie_is_too_large ? size >= tie : size > tie;
  const float infinity = std::numeric_limits<float>::infinity();
  return select(
      too_large,
      select(v > 0, code(type, small_of_f32(type, infinity, false)), code(type, small_of_f32(type, -infinity, false))),
      cast(type, x));
}

// A type that has no NaN has -0 in its place, as ONNX's own conversion does.
Expression without_nan(Type type, const Expression &x) {
  const Expression v = x.type() == Type::f64 ? x : cast(Type::f32, x);
  return select(call(Function::is_nan, v), bits_as(type, formula::constant_integer(Type::u4, 8)), cast(type, x));
}

}  // namespace

Expression cast_to(Type type, const Expression &x, bool saturate, Rounding rounding) {
  if (type == x.type()) return x;
  if (type == Type::f8e8m0) return power_of_two(x, saturate, rounding);
  if (type == Type::f4e2m1 && is_real(x.type())) return without_nan(type, x);
  return facts(type).is_small_real() && facts(type).bits == 8 && !saturate ? without_saturation(type, x)
                                                                           : cast(type, x);
}

namespace {

// ---- Texts.

// As few digits as give the number back; with an exponent where it is very small or very large.
template <typename Real>
std::string text_of_real(Real x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "INF" : "-INF";
  const Real size = std::fabs(x);
  const bool plain = size == 0 || (size >= Real(1e-4) && size < Real(1e16));
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, x,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(digits, end.ptr);
  return plain && text.find('.') == std::string::npos ? text + ".0" : text;
}

Tensor texts_of(const Tensor &x) {
  const Tensor y = Tensor::empty(x.shape(), Type::text);
  const auto write = [&](auto of, const auto &text_of) {
    const Tensor numbers = converted(x, TypeOf<decltype(of)>::value);
    std::transform(numbers.data<decltype(of)>(), numbers.data<decltype(of)>() + y.size(), y.data<std::string>(),
                   text_of);
    return y;
  };
  if (x.type() == Type::boolean) return write(bool(), [](bool v) { return std::string(v ? "True" : "False"); });
  if (x.type() == Type::f64) return write(double(), text_of_real<double>);
  if (is_real(x.type())) return write(float(), text_of_real<float>);
  if (x.type() == Type::u64) return write(uint64_t(), [](uint64_t v) { return std::to_string(v); });
  return write(int64_t(), [](int64_t v) { return std::to_string(v); });
}

double real_of(const std::string &text) {
  char *end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (text.empty() || static_cast<size_t>(end - text.c_str()) != text.size()) fail("'", text, "' is not a number");
  return v;
}

// Exact where the text is an integer; else the real number that it is, truncated.
template <typename Integer>
Integer integer_of(const std::string &text) {
  Integer v = 0;
  const size_t first = !text.empty() && text[0] == '+' ? 1 : 0;
  const auto end = std::from_chars(text.data() + first, text.data() + text.size(), v);
  if (end.ec == std::errc{} && end.ptr == text.data() + text.size()) return v;
  const double real = std::trunc(real_of(text));
  if (!(real >= static_cast<double>(std::numeric_limits<Integer>::min())) || real >= 9223372036854775808.0)
    fail("'", text, "' is no integer of 64 bits");
  return static_cast<Integer>(real);
}

Tensor numbers_of(const Tensor &texts, Type type) {
  const Tensor x = texts.in_layout(Layout::row_major);
  return with_widest(type, [&](auto *of) {
    using T = std::remove_pointer_t<decltype(of)>;
    const Tensor y = Tensor::empty(x.shape(), widest(type));
    for (int64_t i = 0; i < x.size(); ++i) {
      const std::string &text = x.data<std::string>()[i];
      if constexpr (std::is_same_v<T, double>)
        y.data<T>()[i] = real_of(text);
      else
        y.data<T>()[i] = integer_of<T>(text);
    }
    return y;
  });
}

// ---- Numbers.

void cast_numbers(Lowering &n, Type type) {
  const Operand &x = n.input(0);
  static const std::map<std::string, Rounding> roundings = {
      {"up", Rounding::up}, {"down", Rounding::down}, {"nearest", Rounding::nearest}};
  const Rounding rounding = one_of(roundings, "round_mode", n.attributes().word("round_mode", "up"));
  const bool saturate = n.attributes().integer("saturate", 1) != 0;
  if (type == x.type) return n.give(0, x);
  if (type == Type::text) {
    if (!x.value.defined()) unsupported("texts out of numbers that are known at run time only");
    return n.give(0, n.constant(texts_of(x.value)));
  }
  n.give(0, formula::inlined(extents(x.shape),
                             [&](const Axes &at) { return cast_to(type, Value(x).at(at), saturate, rounding); }));
}

Type target(const Attributes &a) { return type_of_onnx(a.integer("to")); }

void cast_lowered(Lowering &n) { cast_numbers(n, target(n.attributes())); }
void cast_like(Lowering &n) { cast_numbers(n, n.input(1).type); }

// Texts as the widest numbers of the type's kind, which are cast as numbers are.
std::vector<HostValue> cast_texts(const HostCall &c, Type type) {
  const Tensor &x = c.tensor(0);
  if (x.type() == type) return {x};
  if (type == Type::text) return {texts_of(x)};
  Graph::Node node = c.node;
  node.operation = "Cast";
  node.attributes.set("to", int64_t{onnx_type(type)});
  return compute_lowered(*find_operator("", "Cast"), node, c.opset, {numbers_of(x, type)});
}

std::vector<HostValue> cast_texts_by_number(const HostCall &c) { return cast_texts(c, target(c.attributes())); }
std::vector<HostValue> cast_texts_like(const HostCall &c) { return cast_texts(c, c.tensor(1).type()); }

// ---- The same bits.

void bit_cast(Lowering &n) {
  const Operand &x = n.input(0);
  const Type type = target(n.attributes());
  const auto width = [](Type t) { return t == Type::boolean ? 8 : facts(t).bits; };
  if (type == Type::text || width(type) != width(x.type))
    fail("the bits of ", facts(x.type).name, " as ", facts(type).name, "; expected a type of as many bits");
  const auto is_integer = [](Type t) { return !is_real(t); };
  n.give(0, formula::inlined(extents(x.shape), [&](const Axes &at) {
           Expression v = Value(x).at(at);
           // A conversion between integers of one width keeps the bits; floats of 4 bits have the bits of a natural number.
           if (is_integer(x.type) && is_integer(type)) return cast(type, v);
           if (width(type) >= 8) {
             if (x.type == Type::boolean) v = cast(Type::u8, v);
             return type == Type::boolean ? cast(type, bits_as(Type::u8, v)) : bits_as(type, v);
           }
           return is_integer(type) ? cast(type, bits_as(Type::u4, v)) : bits_as(type, cast(Type::u4, v));
         }));
}

}  // namespace

const OperatorList casting_operators = {
    {"BitCast", bit_cast},
    {"Cast", cast_lowered, cast_texts_by_number},
    {"CastLike", cast_like, cast_texts_like},
};

}  // namespace saltern
