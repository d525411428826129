#pragma once
// Special functions, with the derivatives that they are known by.
//
// Those of the gamma function and the inverse of erf are computed in f64 whatever the type: digits of large terms cancel.

#include <cmath>

#include "algorithms/functions.h"

namespace saltern::algorithms {

using namespace formula;

namespace special {

constexpr double pi = 3.14159265358979323846;
constexpr int steps = 10, terms = 7;
// B(2k) / (2k)!, of which Stirling's series is made, from k = 1 on.
constexpr double bernoulli[terms] = {
    1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0};
inline double factorial(int n) { return std::tgamma(n + 1.0); }

inline Value whole_power(const Value &x, int n) {
  Value y = x;
  for (int i = 1; i < n; ++i) y = y * x;
  return y;
}

// What Stirling's series of the n-th derivative has at z, z >= 10, of terms that are powers.
inline Value stirling(int n, const Value &z) {
  Value y = bernoulli[0] * factorial(n + 1) / whole_power(z, n + 2);
  for (int k = 2; k <= terms; ++k) y = y + bernoulli[k - 1] * factorial(2 * k + n - 1) / whole_power(z, 2 * k + n);
  return y;
}

// In f64, and back.
template <typename F>
Value exactly(const Value &x, const F &f) {
  return cast(x.type(), f(cast(Type::f64, x)));
}

// pi times the distance to the nearest whole number, whose sine is exact at poles.
inline Value phase(const Value &x) { return (x - map(Function::round, x)) * pi; }

inline Value positive_lgamma(const Value &x) {
  const Value z = x + steps;
  Value product = x;
  for (int k = 1; k < steps; ++k) product = product * (x + k);
  Value series = 1.0 / 12 / z;
  for (int k = 2; k <= terms; ++k)
    series = series + bernoulli[k - 1] * factorial(2 * k - 2) / whole_power(z, 2 * k - 1);
  constexpr double half_log_of_2_pi = 0.91893853320467274;
  // (at - 0.5) log(at) - at + .., without a difference of infinite numbers.
  const auto leading = [&](const Value &at) { return (at - 0.5) * (log(at) - 1) + (half_log_of_2_pi - 0.5); };
  return where(x < 1e6, leading(z) + series - log(product), leading(x) + 1.0 / 12 / x);
}

inline Value positive_polygamma(int n, const Value &x) {
  const Value z = x + steps;
  Value sum = 1 / whole_power(x, n + 1);
  for (int k = 1; k < steps; ++k) sum = sum + 1 / whole_power(x + k, n + 1);
  if (n == 0) return log(z) - 0.5 / z - stirling(0, z) - sum;
  const Value series = factorial(n - 1) / whole_power(z, n) + factorial(n) / 2 / whole_power(z, n + 1) + stirling(n, z);
  return (series + sum * factorial(n)) * (n % 2 == 0 ? -1.0 : 1.0);
}

// The n-th derivative of the cotangent, a polynomial of it: each is that of the one before, times -(1 + c^2).
inline Value cotangent_derivative(int n, const Value &c) {
  std::vector<double> p = {0, 1};
  for (int i = 0; i < n; ++i) {
    std::vector<double> next(p.size() + 1, 0);
    for (size_t k = 1; k < p.size(); ++k) {
      next[k - 1] -= static_cast<double>(k) * p[k];
      next[k + 1] -= static_cast<double>(k) * p[k];
    }
    p = next;
  }
  Value y = p.back() * c;
  for (size_t k = p.size() - 1; k-- > 1;) y = (y + p[k]) * c;
  return y + p[0];
}

}  // namespace special

// The n-th derivative of digamma, which is that of log |Gamma|; below 0.5 by reflection.
inline Value polygamma(int n, const Value &x) {
  const Value y = special::exactly(x, [n](const Value &t) {
    const Value is_left = t < 0.5, right = special::positive_polygamma(n, where(is_left, 1 - t, t));
    const Value cotangent = cos(special::phase(t)) / sin(special::phase(t));
    const Value turned = special::cotangent_derivative(n, cotangent) * std::pow(special::pi, n + 1);
    return where(is_left, (n % 2 == 0 ? right : -right) - turned, right);
  });
  return with_gradient(y, {{x}, [n, x](const Value &dy) { return Values{dy * polygamma(n + 1, x)}; }});
}
inline Value digamma(const Value &x) { return polygamma(0, x); }

// log |Gamma(x)|
inline Value lgamma(const Value &x) {
  const Value y = special::exactly(x, [](const Value &t) {
    const Value is_left = t < 0.5, right = special::positive_lgamma(where(is_left, 1 - t, t));
    return where(is_left, std::log(special::pi) - log(abs(sin(special::phase(t)))) - right, right);
  });
  return with_gradient(y, {{x}, [x](const Value &dy) { return Values{dy * digamma(x)}; }});
}

// e^(x^2) erfc(x): by the continued fraction of erfc where that has few digits left.
inline Value scaled_erfc(const Value &x) {
  const Value far = max(x, 2), near = min(x, 2);
  Value fraction = far;
  for (int n = 50; n > 0; --n) fraction = far + n * 0.5 / fraction;
  return where(x < 2, exp(near * near) * (1 - erf(near)), 1 / (fraction * std::sqrt(special::pi)));
}

// 1 - erf(x), with all its digits where erf is nearly 1.
inline Value erfc(const Value &x) {
  constexpr double slope = 1.1283791670955126;  // 2 / sqrt(pi)
  const Value y = special::exactly(x, [](const Value &t) {
    const Value far = max(t, 2);
    return where(t < 2, 1 - erf(t), exp(-far * far) * scaled_erfc(far));
  });
  return with_gradient(y, {{x}, [x](const Value &dy) { return Values{dy * exp(-x * x) * -slope}; }});
}

// The probability that a normal variable is at most x, and its log.
inline Value normal_probability(const Value &x) { return erfc(-x * std::sqrt(0.5)) * 0.5; }
inline Value log_normal_probability(const Value &x) {
  const Value below = min(x, -1) * std::sqrt(0.5), above = max(x, -1) * std::sqrt(0.5);
  return where(x < -1, log(scaled_erfc(-below) * 0.5) - below * below, log_of_one_more(erfc(above) * -0.5));
}

// x with erf(x) = y: Winitzki's approximation, and three steps of Halley's from there.
inline Value erfinv(const Value &y) {
  constexpr double slope = 1.1283791670955126;  // 2 / sqrt(pi)
  const Value x = special::exactly(y, [](const Value &t) {
    constexpr double a = 0.147;
    const Value inside = where(abs(t) < 1, t, 0), l = log(1 - inside * inside), h = l * 0.5 + 2 / (special::pi * a);
    Value at = sqrt(max(sqrt(h * h - l / a) - h, 0));
    at = where(t < 0, -at, at);
    for (int step = 0; step < 3; ++step) {
      const Value u = (erf(at) - inside) * exp(at * at) / slope;
      at = at - u / (at * u + 1);
    }
    const Value outside = where(abs(t) == 1, t / where(abs(t) == 1, 0, 1), (t - t) / where(abs(t) > 1, 0, 1));
    return where(abs(t) < 1, at, outside);
  });
  return with_gradient(x, {{y}, [x](const Value &dx) { return Values{dx * exp(x * x) / slope}; }});
}

// x that a normal variable is at most with probability p: in the left tail by Newton's steps on its log, since 2 p - 1 has
// no digits of p there.
inline Value normal_quantile(const Value &p) {
  const Value x = special::exactly(p, [](const Value &t) {
    const Value is_tail = t > 0 && t < 0.01, l = log(where(is_tail, t, 0.01));
    Value at = -sqrt(l * -2);
    for (int step = 0; step < 6; ++step)
      at = at - (log_normal_probability(at) - l) * scaled_erfc(-at * std::sqrt(0.5)) * std::sqrt(special::pi / 2);
    return where(is_tail, at, erfinv(where(is_tail, 0.5, t) * 2 - 1) * std::sqrt(2.0));
  });
  return with_gradient(
      x, {{p}, [x](const Value &dx) { return Values{dx * exp(x * x * 0.5) * std::sqrt(2 * special::pi)}; }});
}

// x log(y), and 0 where x is, whatever y.
inline Value xlogy(const Value &x, const Value &y) {
  const Value is_zero = x == 0;
  return where(is_zero, 0, x * log(where(is_zero, 1, y)));
}

// The angle of the point (x, y), between -pi and pi; C's atan2 but for the signs of zeros. Its gradient at 0 is 0.
inline Value angle(const Value &y, const Value &x) {
  const auto is_infinite = [](const Value &v) { return map(Function::is_infinite, v); };
  // Of two infinite numbers only the signs count.
  const Value both = is_infinite(x) && is_infinite(y), is_up = x == 0;
  const auto side = [&](const Value &v) { return where(both, where(v < 0, constant_value(v.type(), -1), 1), v); };
  const Value a = map(Function::arctangent, side(y) / where(is_up, 1, side(x)));
  const Value half = where(y < 0, constant_value(x.type(), -special::pi), special::pi),
              at_axis = where(y == 0, 0, half * 0.5);
  return with_gradient(where(is_up, at_axis, where(x < 0, a + half, a)),
                       {{y, x}, [y, x](const Value &d) {
                          const Value squares = x * x + y * y, is_zero = squares == 0;
                          const Value by = where(is_zero, 0, d / where(is_zero, 1, squares));
                          return Values{by * x, -(by * y)};
                        }});
}

}  // namespace saltern::algorithms
