#include "runtime/nn/gamma_routines.h"

#include <algorithm>
#include <limits>

namespace saltern {

namespace {

// A number and its derivative with respect to the shape a.
struct Dual {
  double value, slope = 0;
};
Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
Dual operator/(Dual a, Dual b) {
  const double q = a.value / b.value;
  return {q, (a.slope - q * b.slope) / b.value};
}

// The derivative of log Gamma, of a > 0.
double digamma(double a) {
  double sum = 0;
  for (; a < 10; a += 1) sum -= 1 / a;
  const double t = 1 / (a * a);
  return sum + std::log(a) - 0.5 / a -
         t * (1.0 / 12 - t * (1.0 / 120 - t * (1.0 / 252 - t * (1.0 / 240 - t * (1.0 / 132 - t * 691.0 / 32760)))));
}

constexpr double precise = 1e-15;
constexpr int most_steps = 100000;

// The sum over n of x^n / (a (a + 1) .. (a + n)), for x < a + 1.
Dual series(Dual a, double x) {
  Dual term = Dual{1} / a, sum = term;
  for (int n = 1; n < most_steps; ++n) {
    term = term * (Dual{x} / (a + Dual{static_cast<double>(n)}));
    sum = sum + term;
    if (std::abs(term.value) < precise * sum.value && std::abs(term.slope) < precise * std::abs(sum.slope)) break;
  }
  return sum;
}

// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ..)), for x >= a + 1 (Lentz).
Dual fraction(Dual a, double x) {
  constexpr double tiny = 1e-300;
  Dual b = Dual{x + 1} - a, c = Dual{1 / tiny}, d = Dual{1} / b, all = d;
  for (int n = 1; n < most_steps; ++n) {
    const auto i = static_cast<double>(n);
    const Dual numerator = Dual{-i} * (Dual{i} - a);
    b = b + Dual{2};
    d = Dual{1} / (numerator * d + b);
    c = b + numerator / c;
    const Dual factor = c * d;
    all = all * factor;
    if (std::abs(factor.value - 1) < precise && std::abs(factor.slope) < precise) break;
  }
  return all;
}

}  // namespace

GammaProbability gamma_probability(double a, double x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (!(a > 0) || !(x >= 0)) return {nan, nan, nan};
  if (x == 0) return {0, 1, 0};
  if (std::isinf(x)) return {1, 0, 0};
  // x^a e^-x / Gamma(a), and its derivative by a.
  const double weight = std::exp(a * std::log(x) - x - std::lgamma(a));
  const Dual front{weight, weight * (std::log(x) - digamma(a))};
  if (x < a + 1) {
    const Dual below = front * series({a, 1}, x);
    return {below.value, 1 - below.value, below.slope};
  }
  const Dual above = front * fraction({a, 1}, x);
  return {1 - above.value, above.value, -above.slope};
}

// Where x is small, P is x^a / Gamma(a + 1), and the slope follows from that.
double gamma_slope(double a, double x) {
  if (!(x > 0)) return 0;
  if (x < 1e-8 * std::min(a, 1.0)) return x * (digamma(a + 1) - std::log(x)) / a;
  const double density = std::exp((a - 1) * std::log(x) - x - std::lgamma(a));
  // So far out that nothing is left of the density: the slope of the mean.
  return density > 0 ? -gamma_probability(a, x).by_shape / density : 1;
}

double draw_uniform(Random &random) { return (static_cast<double>(random.bits() >> 11) + 0.5) * 0x1p-53; }

double draw_normal(Random &random) {
  const double radius = std::sqrt(-2 * std::log(draw_uniform(random)));
  return radius * std::cos(6.283185307179586 * draw_uniform(random));
}

double draw_gamma(Random &random, double a) {
  if (!(a > 0) || std::isinf(a)) return a == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  if (a < 1) {
    const double larger = draw_gamma(random, a + 1);
    return larger * std::pow(draw_uniform(random), 1 / a);
  }
  const double d = a - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double n = draw_normal(random), root = 1 + c * n, u = draw_uniform(random);
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(u) < 0.5 * n * n + d - d * v + d * std::log(v)) return d * v;
  }
}

double draw_binomial(Random &random, int64_t n, double p) {
  if (!(p >= 0 && p <= 1) || n < 0) return std::numeric_limits<double>::quiet_NaN();
  int64_t count = 0;
  constexpr int64_t few = 16;
  while (n > few) {
    const int64_t i = 1 + n / 2;
    const double g = draw_gamma(random, static_cast<double>(i)), h = draw_gamma(random, static_cast<double>(n + 1 - i));
    const double middle = g / (g + h);
    if (middle >= p) {
      n = i - 1;
      p = p / middle;
    } else {
      count += i;
      n -= i;
      p = (p - middle) / (1 - middle);
    }
  }
  for (; n > 0; --n) count += draw_uniform(random) < p;
  return static_cast<double>(count);
}

double draw_poisson(Random &random, double rate) {
  if (!(rate >= 0) || std::isinf(rate)) return std::numeric_limits<double>::quiet_NaN();
  double count = 0;
  constexpr double few = 16;
  while (rate > few) {
    const double m = std::floor(rate * 7 / 8), at = draw_gamma(random, m);  // when the m-th comes
    if (at > rate) return count + draw_binomial(random, static_cast<int64_t>(m) - 1, rate / at);
    count += m;
    rate -= at;
  }
  for (double left = std::exp(-rate), product = draw_uniform(random); product > left; count += 1)
    product *= draw_uniform(random);
  return count;
}

}  // namespace saltern
