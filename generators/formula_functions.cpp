#include "generators/formula_functions.h"

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "generators/small_float_code.h"
#include "runtime/error.h"
#include "runtime/tensor/view.h"
#include "schedules/forms/elementary.h"
#include "schedules/forms/float_bits.h"

namespace saltern::generators {

using forms::strict;
using formula::Expression;
using formula::Function;
using Halide::Expr;
using Kind = Expression::Kind;

Halide::Type storage_type(Type type) { return Halide::Type(halide_type(type)); }

Halide::Type compute_type(Type type) {
  if (is_real(type)) return type == Type::f64 ? Halide::Float(64) : Halide::Float(32);
  return storage_type(type);
}

namespace {

bool is_unsigned(Type type) {
  return facts(type).kind == TypeFacts::Kind::natural || facts(type).kind == TypeFacts::Kind::boolean;
}

bool is_a_number(const Expr &e) {
  const auto constant = Halide::Internal::as_const_float(e);
  return constant && !std::isnan(*constant);
}

Expr nan_or(Function f, Type type, const Expr &a, const Expr &b) {
  if (!is_real(type)) return f == Function::maximum ? Halide::max(a, b) : Halide::min(a, b);
  if (is_a_number(a)) return nan_or(f, type, b, a);
  const Expr better = f == Function::maximum ? forms::strict_less(a, b) : forms::strict_less(b, a);
  // One instruction, which takes a where there is no order.
  const Expr best = Halide::select(better, b, a);
  if (is_a_number(b)) return best;
  // All bits are a NaN. LLVM would make one choice of two, and the instruction three.
  const Halide::Type bits = Halide::Int(a.type().bits());
  const Expr none = Halide::select(forms::is_not_a_number(b), Halide::Internal::make_const(bits, -1),
                                   Halide::Internal::make_zero(bits));
  return Halide::reinterpret(a.type(), Halide::reinterpret(bits, best) | none);
}

// Division by zero gives zero, as Halide's own does and the evaluator's.
Expr truncated_quotient(Type type, const Expr &a, const Expr &b) {
  if (is_unsigned(type)) return a / b;
  // Halide rounds so that the remainder is not negative.
  const Expr q = a / b;
  return Halide::select(a < 0 && b != 0 && a - q * b != 0,
                        q + Halide::select(b > 0, Halide::cast(a.type(), 1), Halide::cast(a.type(), -1)), q);
}

// A quotient in between would be rounded, or overflow.
Expr c_remainder(const Expr &a, const Expr &b) {
  using Halide::Internal::Call;
  return Call::make(a.type(), a.type().bits() == 64 ? "fmod" : "fmodf", {a, b}, Call::PureExtern);
}

Expr floor_modulo(Type type, const Expr &a, const Expr &b) {
  if (is_real(type)) {
    const Expr r = c_remainder(a, b);
    return Halide::select(r != 0 && (r < 0) != (b < 0), r + b, r);
  }
  const Expr r = a % b;
  return is_unsigned(type) ? r : Halide::select(b < 0 && r != 0, r + b, r);
}

Expr integer_power(const Expr &a, const Expr &b) {
  // Squares for every bit of the exponent, of which six say all that does not overflow for |a| > 1.
  const Expr one = Halide::cast(a.type(), 1);
  Expr result = one, factor = a;
  for (int bit = 0; bit < 6; ++bit) {
    result = Halide::select(((b >> bit) & one) != 0, result * factor, result);
    factor = factor * factor;
  }
  return result;
}

// A real number without its fraction, in the integer that conversions go through (runtime/formula/elements.cpp): what it
// does not hold, NaN too, is its least one. LLVM takes a conversion of that for impossible.
Expr whole_of(Type to, const Expr &a) {
  if (to == Type::u64) return a;
  const bool wide = facts(to).bits == 64 || to == Type::u32;
  const Halide::Type whole = Halide::Int(wide ? 64 : 32);
  const double bound = wide ? 0x1p63 : 0x1p31;
  const Expr least = Halide::Internal::make_const(a.type(), wide ? -bound : -bound - 1);
  const Expr holds =
      forms::strict_less(a, Halide::Internal::make_const(a.type(), bound)) && forms::strict_less(least, a);
  const Expr zero = Halide::cast(a.type(), 0);
  return Halide::select(holds, Halide::cast(whole, Halide::select(holds, a, zero)), whole.min());
}

}  // namespace

Expr call_code(Function f, Type type, const Expr &a) {
  using OfOne = std::function<Expr(const Expr &)>;
  static const std::map<Function, OfOne> of_reals = {
      {Function::exp, forms::exp},
      {Function::log, forms::log},
      {Function::sqrt, Halide::sqrt},
      {Function::sine, Halide::sin},
      {Function::cosine, Halide::cos},
      {Function::tangent, Halide::tan},
      {Function::arcsine, Halide::asin},
      {Function::arccosine, Halide::acos},
      {Function::arctangent, [](const Expr &x) { return Halide::atan(x); }},
      {Function::sinh, Halide::sinh},
      {Function::cosh, Halide::cosh},
      {Function::tanh, forms::tanh},
      {Function::arcsinh, Halide::asinh},
      {Function::arccosh, Halide::acosh},
      {Function::arctanh, Halide::atanh},
      {Function::erf, forms::erf}};
  static const std::map<Function, OfOne> to_whole = {{Function::floor, Halide::floor},
                                                     {Function::ceiling, Halide::ceil},
                                                     {Function::round, Halide::round},
                                                     {Function::truncate, Halide::trunc}};
  const bool real = is_real(type);
  if (const auto row = of_reals.find(f); row != of_reals.end()) return row->second(a);
  if (const auto row = to_whole.find(f); row != to_whole.end()) return real ? row->second(a) : a;
  switch (f) {
    case Function::stopped:
      return a;
    case Function::negate:
      // LLVM knows it for a sign. Taken from -0, it was taken from 0 where there was one, too: Halide has them equal.
      return real ? strict(Halide::Internal::Call::strict_mul, a, Halide::Internal::make_const(a.type(), -1))
                  : Halide::cast(a.type(), 0) - a;
    case Function::absolute:
      return is_unsigned(type) ? a : Halide::cast(a.type(), Halide::abs(a));
    case Function::invert:
      return type == Type::boolean ? !a : ~a;
    case Function::is_nan:
      return real ? forms::is_not_a_number(a) : Halide::Internal::const_false();
    case Function::is_infinite:
      return real ? forms::is_infinity(a) : Halide::Internal::const_false();
    default:
      fail("the formula function ", formula::name(f), " does not take one operand");
  }
}

Expr call_code(Function f, Type type, const Expr &a, const Expr &b) {
  switch (f) {
    case Function::add:
      return a + b;
    case Function::subtract:
      return a - b;
    case Function::multiply:
      return a * b;
    case Function::divide:
      return is_real(type) ? a / b : truncated_quotient(type, a, b);
    case Function::remainder:
      if (is_real(type)) return c_remainder(a, b);
      return Halide::select(b == 0, Halide::cast(a.type(), 0), a - truncated_quotient(type, a, b) * b);
    case Function::modulo:
      return floor_modulo(type, a, b);
    case Function::quotient:
      return truncated_quotient(type, a - floor_modulo(type, a, b), b);
    case Function::power:
      return is_real(type) ? forms::power(a, b) : integer_power(a, b);
    case Function::maximum:
    case Function::minimum:
      return nan_or(f, type, a, b);
    case Function::less:
      return a < b;
    case Function::less_equal:
      return a <= b;
    case Function::equal:
      return a == b;
    case Function::both:
      return type == Type::boolean ? a && b : a & b;
    case Function::either:
      return type == Type::boolean ? a || b : a | b;
    case Function::differ:
      return type == Type::boolean ? a != b : a ^ b;
    case Function::shift_left:
      return Halide::select(b < facts(type).bits, a << b, Halide::cast(a.type(), 0));
    case Function::shift_right:
      return Halide::select(b < facts(type).bits, a >> b, Halide::cast(a.type(), 0));
    default:
      fail("the formula function ", formula::name(f), " does not take two operands");
  }
}

Expr cast_code(Type from, Type to, const Expr &a) {
  if (to == Type::boolean) return from == Type::boolean ? a : a != Halide::cast(a.type(), 0);
  if (is_real(to)) {
    const Expr wide = Halide::cast(compute_type(to), a);
    if (to == Type::f32 || to == Type::f64) return wide;
    if (facts(to).is_small_real()) return f32_of_small_code(to, small_code_of_f32(to, wide, /*saturate=*/true));
    return Halide::cast<float>(Halide::cast(storage_type(to), wide));  // rounded
  }
  const Expr whole = is_real(from) ? whole_of(to, a) : a;
  if (facts(to).bits >= 8) return Halide::cast(storage_type(to), whole);
  const int spare = 8 - facts(to).bits;
  const Halide::Type narrow = storage_type(to);
  return Halide::cast(narrow, Halide::cast(narrow, whole) << Halide::cast(narrow, spare)) >>
         Halide::cast(narrow, spare);
}

// As the standard has it, where operands may be NaN or infinite; undefined where there is no such form.
Expr strict_call(Function f, const Expr &a, const Expr &b) {
  using Halide::Internal::Call;
  // Halide's strict_le is "not greater", which a NaN is.
  if (f == Function::less_equal) return strict(Call::strict_lt, a, b) || strict(Call::strict_eq, a, b);
  static const std::map<Function, Call::IntrinsicOp> operations = {
      {Function::add, Call::strict_add},      {Function::subtract, Call::strict_sub},
      {Function::multiply, Call::strict_mul}, {Function::divide, Call::strict_div},
      {Function::less, Call::strict_lt},      {Function::equal, Call::strict_eq}};
  const auto it = operations.find(f);
  return it == operations.end() ? Expr() : strict(it->second, a, b);
}

namespace {

bool is_read(const Expression &e) {
  bool found = false;
  formula::for_each_node(e, [&](const Expression::Node &n) { found |= n.kind == Kind::load; });
  return found;
}

// Halide makes x - (y + z) of x - y - z, where a large y swallows z.
bool subtracts_twice(const Expression::Node &n) {
  const auto subtracts = [](const Expression::Node &c) {
    return c.kind == Kind::call && c.function == Function::subtract && is_real(c.type);
  };
  return subtracts(n) && subtracts(*n.arguments[0].get());
}

// LLVM takes whatever meets an infinity that was written down for impossible.
bool is_no_finite_number(const Expression::Node &n) {
  return n.kind == Kind::constant && is_real(n.type) && !std::isfinite(n.real);
}

}  // namespace

bool finds_the_best(Function f) { return f >= Function::greatest; }

bool minds_what_is_no_number(const Expression &element) {
  static const std::set<Function> minding = {Function::is_nan, Function::is_infinite, Function::exp,
                                             Function::log,    Function::tanh,        Function::erf,
                                             Function::power,  Function::remainder,   Function::modulo};
  static const std::set<Function> comparing = {Function::less, Function::less_equal, Function::equal};
  bool minds = false;
  formula::for_each_node(element, [&](const Expression::Node &n) {
    if (facts(n.type).is_small_real() || subtracts_twice(n) || is_no_finite_number(n)) minds = true;
    if (n.kind == Kind::cast) minds |= is_real(n.arguments[0].type()) && !is_real(n.type);
    if (n.kind == Kind::reduce) minds |= is_real(n.arguments[0].type()) && finds_the_best(n.function);
    if (n.kind != Kind::call || !is_real(n.arguments[0].type())) return;
    minds |= minding.count(n.function) > 0;
    // What is compared of parameters alone is the same for all elements.
    if (comparing.count(n.function) > 0) minds |= is_read(n.arguments[0]) || is_read(n.arguments[1]);
  });
  return minds;
}

}  // namespace saltern::generators
