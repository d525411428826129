// The functions of torch.special that nothing else here has: of the normal distribution, Bessel's, and orthogonal polynomials.

#include <cmath>
#include <limits>

#include "algorithms/special.h"
#include "runtime/layers/binary.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"

namespace saltern::nn {

namespace {

using namespace formula;
using algorithms::special::exactly;

constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- By formulas, in f64 where digits cancel.

Value entropy(const Value &x) {
  const Value at = where(x > 0, x, 1);
  return where(x > 0, -(x * log(at)), where(x == 0, 0, where(x < 0, -infinity, x)));
}

// e^-|x| I(x) of order 0 or 1: the power series, all of whose terms have one sign, or the series of large x.
Value scaled_bessel(int order, const Value &x) {
  const Value size = abs(x), near = min(size, 15), far = max(size, 15), q = near * near * 0.25;
  Value series = 1, large = 1;
  for (int k = 60; k > 0; --k) series = 1 + q * series / (k * (k + order));
  for (int k = 25; k > 0; --k)
    large = 1 - large * (4.0 * order * order - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k) / far;
  const Value small = series * exp(-near);
  if (order == 0) return where(size < 15, small, large / sqrt(far * (2 * M_PI)));
  return where(size < 15, small * min(max(x, -15), 15) * 0.5, where(x < 0, -large, large) / sqrt(far * (2 * M_PI)));
}

Value bessel_i0(const Value &x) { return scaled_bessel(0, x) * exp(abs(x)); }

std::function<Value(const Value &)> in_f64(Value (*f)(const Value &)) {
  return [f](const Value &x) { return exactly(x, f); };
}
const OfOne special_of_one[] = {
    {"special.erfcx", in_f64(algorithms::scaled_erfc)},
    {"special.log_ndtr", in_f64(algorithms::log_normal_probability)},
    {"special.entr", in_f64(entropy)},
    {"special.ndtr", algorithms::normal_probability},
    {"special.ndtri", algorithms::normal_quantile},
    {"special.i0e", in_f64([](const Value &x) { return scaled_bessel(0, x); })},
    {"special.i1e", in_f64([](const Value &x) { return scaled_bessel(1, x); })},
    {"special.i0", in_f64(bessel_i0)},
    {"special.i1", in_f64([](const Value &x) { return scaled_bessel(1, x) * exp(abs(x)); })},
    {"i0", in_f64(bessel_i0)},
};

// x log(1 + y), which is 0 where x is, but for what is no number.
const Operation unless_zero("special.unless_zero",
                            [](const Value &x, const Value &of) { return where(x == 0 && of == of, 0, x * of); });
const nn::Function xlog1py("special.xlog1py", "input, other", [](const Arguments &a) {
  const Operands o = promoted(a);
  return unless_zero(as_real(o.a), composed("log1p", {o.b}));
});

// log of the gamma function of p dimensions.
const nn::Function mvlgamma("mvlgamma", "input, p", [](const Arguments &a) {
  const Variable x = as_real(a.variable("input"));
  const int64_t p = a.integer("p");
  if (p < 1) a.refuse("p", "1 or more");
  Variable all = composed("lgamma", {x}) + static_cast<double>(p * (p - 1)) / 4 * std::log(M_PI);
  for (int64_t j = 1; j < p; ++j) all = all + composed("lgamma", {x - 0.5 * static_cast<double>(j)});
  return all;
});
const nn::Function igamma("igamma", "input, other", [](const Arguments &a) { return call("gammainc", a.values()); });
const nn::Function igammac("igammac", "input, other", [](const Arguments &a) { return call("gammaincc", a.values()); });

// ---- Orthogonal polynomials of degree n, which may be a tensor, by their recurrences; like PyTorch's, without gradients.

struct Polynomial {
  struct Next {
    double by_x, constant, before;  // p' = (by_x x + constant) p - before p''
  };
  Polynomial(const std::string &name, double (*first)(double x), Next (*next)(double k), bool shifted = false)
      : function("special." + name, "input, n", [=](const Arguments &a) -> Argument {
          const Operands o = promoted(a, "input", "n");
          const Variable x = as_real(o.a), n = to_type(o.b, x.type()), sum = x + n;
          const std::vector<double> xs = expand(x, sum.shape()).value().reals(),
                                    ns = expand(n, sum.shape()).value().reals();
          std::vector<double> ys;
          for (size_t i = 0; i < xs.size(); ++i) {
            const double at = shifted ? 2 * xs[i] - 1 : xs[i];
            const double degree = std::trunc(ns[i]);
            double before = 1, y = first(at);
            for (double k = 2; k <= degree; ++k) {
              const Next p = next(k);
              const double more = (p.by_x * at + p.constant) * y - p.before * before;
              before = y;
              y = more;
            }
            ys.push_back(degree < 0 ? 0 : degree < 1 ? 1 : y);
          }
          return to_type(Tensor::of<double>(sum.shape(), ys), x.type());
        }) {}
  nn::Function function;
};
Polynomial::Next of_chebyshev(double) { return {2, 0, 1}; }
double chebyshev_t(double x) { return x; }
double chebyshev_u(double x) { return 2 * x; }
double chebyshev_v(double x) { return 2 * x - 1; }
double chebyshev_w(double x) { return 2 * x + 1; }
const Polynomial polynomials[] = {
    {"chebyshev_polynomial_t", chebyshev_t, of_chebyshev},
    {"chebyshev_polynomial_u", chebyshev_u, of_chebyshev},
    {"chebyshev_polynomial_v", chebyshev_v, of_chebyshev},
    {"chebyshev_polynomial_w", chebyshev_w, of_chebyshev},
    {"shifted_chebyshev_polynomial_t", chebyshev_t, of_chebyshev, true},
    {"shifted_chebyshev_polynomial_u", chebyshev_u, of_chebyshev, true},
    {"shifted_chebyshev_polynomial_v", chebyshev_v, of_chebyshev, true},
    {"shifted_chebyshev_polynomial_w", chebyshev_w, of_chebyshev, true},
    {"hermite_polynomial_h", chebyshev_u,
     [](double k) {
       return Polynomial::Next{2, 0, 2 * (k - 1)};
     }},
    {"hermite_polynomial_he", chebyshev_t,
     [](double k) {
       return Polynomial::Next{1, 0, k - 1};
     }},
    {"laguerre_polynomial_l", [](double x) { return 1 - x; },
     [](double k) {
       return Polynomial::Next{-1 / k, (2 * k - 1) / k, (k - 1) / k};
     }},
    {"legendre_polynomial_p", chebyshev_t,
     [](double k) {
       return Polynomial::Next{(2 * k - 1) / k, 0, (k - 1) / k};
     }},
};

}  // namespace

const void *special_family() { return special_of_one; }

}  // namespace saltern::nn
