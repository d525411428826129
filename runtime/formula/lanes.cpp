#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/formula/lanes.h"

namespace saltern {

using namespace lanes;
using formula::Function;

namespace {

template <typename T>
void apply_real(Function f, const Block &a, Block &to, int count) {
  switch (f) {
#define SALTERN_ROW(FUNCTION, VALUE) \
  case Function::FUNCTION:           \
    return each<T>(a, to, count, [](T x) { return static_cast<T>(VALUE); });
    SALTERN_ROW(stopped, x)
    SALTERN_ROW(negate, -x)
    SALTERN_ROW(absolute, std::fabs(x))
    SALTERN_ROW(exp, std::exp(x))
    SALTERN_ROW(log, std::log(x))
    SALTERN_ROW(sqrt, std::sqrt(x))
    SALTERN_ROW(sine, std::sin(x))
    SALTERN_ROW(cosine, std::cos(x))
    SALTERN_ROW(tangent, std::tan(x))
    SALTERN_ROW(arcsine, std::asin(x))
    SALTERN_ROW(arccosine, std::acos(x))
    SALTERN_ROW(arctangent, std::atan(x))
    SALTERN_ROW(sinh, std::sinh(x))
    SALTERN_ROW(cosh, std::cosh(x))
    SALTERN_ROW(tanh, std::tanh(x))
    SALTERN_ROW(arcsinh, std::asinh(x))
    SALTERN_ROW(arccosh, std::acosh(x))
    SALTERN_ROW(arctanh, std::atanh(x))
    SALTERN_ROW(erf, std::erf(x))
    SALTERN_ROW(floor, std::floor(x))
    SALTERN_ROW(ceiling, std::ceil(x))
    SALTERN_ROW(round, std::nearbyint(x))
    SALTERN_ROW(truncate, std::trunc(x))
#undef SALTERN_ROW
    case Function::is_nan:
      return each<T>(a, to, count, [](T x) { return static_cast<int64_t>(std::isnan(x)); });
    case Function::is_infinite:
      return each<T>(a, to, count, [](T x) { return static_cast<int64_t>(std::isinf(x)); });
    default:
      fail("the formula function ", formula::name(f), " is not for real numbers");
  }
}

// Unsigned arithmetic wraps without undefined behaviour.
template <typename T>
T negated(T x) {
  return static_cast<T>(0 - static_cast<uint64_t>(x));
}

template <typename T>
void apply_integer(Function f, Type type, const Block &a, Block &to, int count) {
  switch (f) {
    case Function::stopped:
      return each<T>(a, to, count, [](T x) { return x; });
    case Function::negate:
      return each<T>(a, to, count, negated<T>);
    case Function::absolute:
      return each<T>(a, to, count, [](T x) { return std::is_signed_v<T> && x < 0 ? negated(x) : x; });
    case Function::invert:
      if (type == Type::boolean) return each<T>(a, to, count, [](T x) { return static_cast<T>(x == 0); });
      return each<T>(a, to, count, [](T x) { return static_cast<T>(~x); });
    case Function::floor:
    case Function::ceiling:
    case Function::round:
    case Function::truncate:
      return each<T>(a, to, count, [](T x) { return x; });
    case Function::is_nan:
    case Function::is_infinite:
      return each<T>(a, to, count, [](T) { return int64_t{0}; });
    default:
      fail("the formula function ", formula::name(f), " is not for integers");
  }
}

template <typename T>
T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>)
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e > 0; e >>= 1) {
    if (e & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

// Division by zero gives zero: no signal may stop the program.
template <typename T>
T quotient(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (y == -1) return negated(x);
  return x / y;
}

template <typename T>
T remainder(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (y == -1) return 0;
  return x % y;
}

template <typename T>
T modulus(T x, T y) {
  const T r = remainder(x, y);
  if constexpr (std::is_signed_v<T>) return r != 0 && (r < 0) != (y < 0) ? r + y : r;
  return r;
}

template <typename T>
bool apply_shared(Function f, const Block &a, const Block &b, Block &to, int count) {
  switch (f) {
    case Function::maximum:
      return each<T>(a, b, to, count, maximum<T>), true;
    case Function::minimum:
      return each<T>(a, b, to, count, minimum<T>), true;
    case Function::less:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<int64_t>(x < y); }), true;
    case Function::less_equal:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<int64_t>(x <= y); }), true;
    case Function::equal:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<int64_t>(x == y); }), true;
    default:
      return false;
  }
}

template <typename T>
void apply_real(Function f, const Block &a, const Block &b, Block &to, int count) {
  if (apply_shared<T>(f, a, b, to, count)) return;
  switch (f) {
    case Function::add:
      return each<T>(a, b, to, count, [](T x, T y) { return x + y; });
    case Function::subtract:
      return each<T>(a, b, to, count, [](T x, T y) { return x - y; });
    case Function::multiply:
      return each<T>(a, b, to, count, [](T x, T y) { return x * y; });
    case Function::divide:
      return each<T>(a, b, to, count, [](T x, T y) { return x / y; });
    case Function::remainder:
      return each<T>(a, b, to, count, [](T x, T y) { return std::fmod(x, y); });
    case Function::modulo:
      return each<T>(a, b, to, count, [](T x, T y) {
        const T r = std::fmod(x, y);
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;
      });
    case Function::power:
      return each<T>(a, b, to, count, [](T x, T y) { return std::pow(x, y); });
    default:
      fail("the formula function ", formula::name(f), " is not for real numbers");
  }
}

template <typename T>
void apply_integer(Function f, const Block &a, const Block &b, Block &to, int count) {
  if (apply_shared<T>(f, a, b, to, count)) return;
  using U = uint64_t;
  switch (f) {
    case Function::add:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<T>(U(x) + U(y)); });
    case Function::subtract:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<T>(U(x) - U(y)); });
    case Function::multiply:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<T>(U(x) * U(y)); });
    case Function::divide:
      return each<T>(a, b, to, count, quotient<T>);
    case Function::remainder:
      return each<T>(a, b, to, count, remainder<T>);
    case Function::modulo:
      return each<T>(a, b, to, count, modulus<T>);
    case Function::quotient:  // x less its modulus cannot overflow: the modulus has the divisor's sign
      return each<T>(a, b, to, count, [](T x, T y) { return quotient(static_cast<T>(U(x) - U(modulus(x, y))), y); });
    case Function::power:
      return each<T>(a, b, to, count, integer_power<T>);
    case Function::both:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<T>(x & y); });
    case Function::either:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<T>(x | y); });
    case Function::differ:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<T>(x ^ y); });
    case Function::shift_left:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<T>(U(y) > 63 ? 0 : U(x) << U(y)); });
    case Function::shift_right:
      return each<T>(a, b, to, count, [](T x, T y) { return static_cast<T>(U(y) > 63 ? 0 : x >> U(y)); });
    default:
      fail("the formula function ", formula::name(f), " is not for integers");
  }
}

}  // namespace

void fill(Block &to, const formula::Expression::Node &constant, int count) {
  with_lane(lane_of(constant.type), [&](auto *lane) {
    using T = std::remove_pointer_t<decltype(lane)>;
    const T v = is_real(constant.type) ? static_cast<T>(constant.real) : static_cast<T>(constant.integer);
    std::fill_n(to.as<T>(), count, v);
  });
}

void repeat(Block &block, Lane lane) {
  with_lane(lane, [&](auto *l) {
    auto *v = block.as<std::remove_pointer_t<decltype(l)>>();
    std::fill_n(v, Block::size, v[0]);
  });
}

void apply(Function f, Type of, Type type, const Block &a, Block &to, int count) {
  with_lane(lane_of(of), [&](auto *lane) {
    using T = std::remove_pointer_t<decltype(lane)>;
    if constexpr (std::is_floating_point_v<T>)
      apply_real<T>(f, a, to, count);
    else
      apply_integer<T>(f, of, a, to, count);
  });
  if (type == of) wrap(type, to, count);
}

void apply(Function f, Type of, Type type, const Block &a, const Block &b, Block &to, int count) {
  with_lane(lane_of(of), [&](auto *lane) {
    using T = std::remove_pointer_t<decltype(lane)>;
    if constexpr (std::is_floating_point_v<T>)
      apply_real<T>(f, a, b, to, count);
    else
      apply_integer<T>(f, a, b, to, count);
  });
  if (type == of) wrap(type, to, count);
}

void choose(const Block &condition, const Block &then, const Block &otherwise, Block &to, Lane lane, int count) {
  const int64_t *c = condition.as<int64_t>();
  with_lane(lane, [&](auto *l) {
    using T = std::remove_pointer_t<decltype(l)>;
    const T *a = then.as<T>(), *b = otherwise.as<T>();
    T *y = to.as<T>();
    for (int k = 0; k < count; ++k) y[k] = c[k] ? a[k] : b[k];
  });
}

}  // namespace saltern
