#include "generators/element_code.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "generators/small_float_code.h"
#include "schedules/forms/float_bits.h"

namespace saltern::generators {

using formula::Expression;
using formula::Function;
using Halide::Expr;
using Kind = Expression::Kind;

namespace {

constexpr int64_t most = 0x7FFFFFFF;

bool is_index_function(Function f) {
  return f == Function::add || f == Function::subtract || f == Function::multiply || f == Function::divide ||
         f == Function::modulo || f == Function::quotient || f == Function::maximum || f == Function::minimum;
}

bool compares(Function f) { return f == Function::less || f == Function::less_equal || f == Function::equal; }

}  // namespace

Expr from_storage(Type type, const Expr &stored) {
  if (facts(type).is_small_real()) return f32_of_small_code(type, stored);
  return Halide::cast(compute_type(type), stored);
}

Expr to_storage(Type type, const Expr &value) {
  if (facts(type).is_small_real()) return small_code_of_f32(type, value, /*saturate=*/false);
  return Halide::cast(storage_type(type), value);
}

Expr ElementCode::value(const Expression &e, Scope &scope) {
  const auto known = scope.values.find(e.get());
  if (known != scope.values.end()) return known->second;
  return scope.values[e.get()] = new_value(e, scope);
}

Expr ElementCode::index(const Expression &e, Scope &scope) {
  const auto known = scope.indices.find(e.get());
  if (known != scope.indices.end()) return known->second;
  return scope.indices[e.get()] = new_index(e, scope);
}

namespace {

// select(low < v, min(v, high), low): a number within bounds, which are constants; what is no number is the lower one.
struct Bounded {
  Expression value;
  double low, high;
};

std::optional<Bounded> bounded(const Expression &e) {
  const auto is_call = [](const Expression &c, formula::Function f) {
    return c->kind == Kind::call && c->function == f && is_real(c->arguments[0].type());
  };
  if (e->kind != Kind::select || !is_call(e->arguments[0], formula::Function::less) ||
      !is_call(e->arguments[1], formula::Function::minimum))
    return std::nullopt;
  const Expression &asked = e->arguments[0], &least = e->arguments[1], &low = asked->arguments[0],
                   &value = asked->arguments[1], &high = least->arguments[1];
  const bool same = is_same(low, e->arguments[2]) && is_same(value, least->arguments[0]);
  if (!same || low->kind != Kind::constant || high->kind != Kind::constant || low->real > high->real)
    return std::nullopt;
  return Bounded{value, low->real, high->real};
}

// round(number) + shift, the number within bounds: the only way from real numbers to integers that asks nothing.
struct Rounded {
  Bounded number;
  Expression from;
  int64_t shift;
};

std::optional<Rounded> rounded(const Expression &e) {
  const bool shifted = e->kind == Kind::call && e->function == Function::add &&
                       e->arguments[1]->kind == Kind::constant &&
                       std::nearbyint(e->arguments[1]->real) == e->arguments[1]->real;
  const Expression &whole = shifted ? e->arguments[0] : e;
  if (e.type() != Type::f32 || whole->kind != Kind::call || whole->function != Function::round) return std::nullopt;
  constexpr double most_exact = 0x1p22;
  const std::optional<Bounded> b = bounded(whole->arguments[0]);
  if (!b || b->low < -most_exact || b->high > most_exact) return std::nullopt;
  const double shift = shifted ? e->arguments[1]->real : 0;
  if (std::fabs(shift) > most_exact) return std::nullopt;
  return Rounded{*b, whole->arguments[0], static_cast<int64_t>(shift)};
}

// Conversions go through i32.
bool is_narrow_integer(Type type) {
  return !is_real(type) && type != Type::boolean && facts(type).bits <= 32 && type != Type::u32;
}

// Halves to even: the unit of numbers that large is one, so that the sum is rounded, and its bits count from those of the
// large number. Halide's round() takes 512 bits apart.
Expr nearest_integer(const Expr &small, int64_t shift) {
  constexpr float large = 0x1.8p23F;
  constexpr int64_t bits_of_large = 0x4B400000;
  const Expr sum = forms::strict(Halide::Internal::Call::strict_add, small, Expr(large));
  return Halide::reinterpret<int32_t>(sum) - static_cast<int32_t>(bits_of_large - shift);
}

}  // namespace

Expr ElementCode::new_value(const Expression &e, Scope &scope) {
  const Expression::Node &n = *e.get();
  switch (n.kind) {
    case Kind::constant:
      return is_real(n.type) ? Halide::Internal::make_const(compute_type(n.type), n.real)
                             : Halide::Internal::make_const(compute_type(n.type), n.integer);
    case Kind::axis:
    case Kind::step:
      return Halide::cast<int64_t>(index(e, scope));
    case Kind::symbol:
      return Halide::cast(compute_type(n.type), symbol(e));
    case Kind::carried:
      return carried();
    case Kind::load:
      return load(e, scope);
    case Kind::call:
      return call(e, scope);
    case Kind::select:
      // Of a number the question is asked already; the minimum need not mind what is none.
      if (const std::optional<Bounded> b = bounded(e)) {
        const Expr v = value(b->value, scope), low = Halide::Internal::make_const(v.type(), b->low);
        return Halide::select(forms::strict_less(low, v),
                              Halide::min(v, Halide::Internal::make_const(v.type(), b->high)), low);
      }
      return Halide::select(value(n.arguments[0], scope), value(n.arguments[1], scope), value(n.arguments[2], scope));
    case Kind::cast: {
      const Expression &from = n.arguments[0];
      if (const std::optional<Rounded> r = is_narrow_integer(n.type) ? rounded(from) : std::nullopt)
        return cast_code(Type::i32, n.type, nearest_integer(value(r->from, scope), r->shift));
      if (n.type == Type::i32 && narrow_ && is_narrow(from)) return index(from, scope);
      if (is_real(n.type) && is_narrow(from)) return cast_code(Type::i32, n.type, index(from, scope));
      return cast_code(from.type(), n.type, value(from, scope));
    }
    case Kind::bits: {
      const Type from = n.arguments[0].type();
      const Expr stored = to_storage(from, value(n.arguments[0], scope));
      return from_storage(n.type, Halide::reinterpret(storage_type(n.type), stored));
    }
    case Kind::reduce:
      return reduction(e, scope);
  }
  return {};
}

Expr ElementCode::call(const Expression &e, Scope &scope) {
  const std::vector<Expression> &of = e->arguments;
  const Type type = of[0].type();
  if (of.size() == 1) return call_code(e->function, type, value(of[0], scope));
  if (narrow_ && compares(e->function) && is_narrow(of[0]) && is_narrow(of[1]))
    return call_code(e->function, Type::i32, index(of[0], scope), index(of[1], scope));
  const Expr a = value(of[0], scope), b = value(of[1], scope);
  const Expr exact = strict_ && is_real(type) ? strict_call(e->function, a, b) : Expr();
  return exact.defined() ? exact : call_code(e->function, type, a, b);
}

bool ElementCode::is_narrow(const Expression &e) {
  if (!e->is_index) return false;
  const formula::Interval all = bounds(e);
  return all.least >= -most && all.greatest <= most;
}

Expr ElementCode::new_index(const Expression &e, Scope &scope) {
  const Expression::Node &n = *e.get();
  switch (n.kind) {
    case Kind::constant:
      return static_cast<int>(std::clamp<int64_t>(n.integer, -most, most));
    case Kind::axis:
      return scope.axes.at(static_cast<size_t>(n.number));
    case Kind::step:
      return scope.steps.at(n.number);
    case Kind::symbol:
      return Halide::cast<int32_t>(symbol(e));
    case Kind::select:
      return Halide::select(value(n.arguments[0], scope), index(n.arguments[1], scope), index(n.arguments[2], scope));
    case Kind::call:
      if (n.type == Type::i64 && n.arguments.size() == 2 && is_index_function(n.function)) return index_call(e, scope);
      break;
    default:
      break;
  }
  return Halide::cast<int32_t>(value(e, scope));
}

Expr ElementCode::index_call(const Expression &e, Scope &scope) {
  const std::vector<Expression> &of = e->arguments;
  const Expr a = index(of[0], scope), b = index(of[1], scope);
  const bool by_positive = bounds(of[1]).least > 0;
  // Halide rounds down, and does not matter where nothing is negative.
  if (e->function == Function::quotient && by_positive) return a / b;
  if (e->function == Function::modulo && by_positive) return a % b;
  if (e->function == Function::divide && bounds(of[0]).least >= 0 && by_positive) return a / b;
  const Expr result = call_code(e->function, Type::i64, a, b);
  if (e->function != Function::divide) return result;
  // Halide takes a quotient that is rounded towards zero for one that is rounded down: -1 / 2 would be read at -1.
  const formula::Interval all = bounds(e);
  return all.least < -most || all.greatest > most
             ? result
             : Halide::clamp(result, static_cast<int>(all.least), static_cast<int>(all.greatest));
}

}  // namespace saltern::generators
