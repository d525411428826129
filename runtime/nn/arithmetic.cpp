// Further functions of numbers, of two and of one: lengths, logarithms of sums, signs, what is not finite.

#include <cmath>
#include <limits>

#include "algorithms/functions.h"
#include "runtime/layers/binary.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"

namespace saltern::nn {

namespace {

using namespace formula;
using F = formula::Function;

constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- Of two.

Value is_below_zero(const Value &x) { return x < 0 || (x == 0 && 1 / x < 0); }

// log(e^a + e^b); equal infinities cannot be taken away from each other.
Value log_of_sum(const Value &a, const Value &b) {
  const Value same = a == b && map(F::is_infinite, a), d = where(same, 0, b - a);
  return where(same, a, a + algorithms::softplus(d));
}
const std::string both = "input, other";
const OfTwo of_two[] = {
    {"hypot", [](const Value &a, const Value &b) { return sqrt(a * a + b * b); }, both, true},
    {"copysign", [](const Value &a, const Value &b) { return where(is_below_zero(b), -abs(a), abs(a)); }, both, true},
    {"logaddexp", log_of_sum, both, true},
    {"logaddexp2", [](const Value &a, const Value &b) { return log_of_sum(a * M_LN2, b * M_LN2) * (1 / M_LN2); }, both,
     true},
    {"fmax",
     [](const Value &a, const Value &b) { return where(map(F::is_nan, a), b, where(map(F::is_nan, b), a, max(a, b))); },
     both, true},
    {"fmin",
     [](const Value &a, const Value &b) { return where(map(F::is_nan, a), b, where(map(F::is_nan, b), a, min(a, b))); },
     both, true},
    {"heaviside",
     [](const Value &x, const Value &v) {
       return where(x == 0, stop_gradient(v),
                    where(map(F::is_nan, x), x, where(x < 0, constant_value(v.type(), 0), 1)));
     },
     "input, values"},
    {"rsub_of", [](const Value &a, const Value &b) { return b - a; }},
};
const nn::Function rsub("rsub", "input, other, *, alpha=1", [](const Arguments &a) {
  return call("rsub_of", {call("mul", {a["input"], a["alpha"]}), a["other"]});
});
const nn::Function true_divide("true_divide", "input, other", [](const Arguments &a) {
  return call("div", {a["input"], a["other"]});
});
const nn::Function ldexp_of("ldexp", "input, other", [](const Arguments &a) {
  return call("mul", {as_real(a.variable("input")), call("exp2", {a["other"]})});
});
const nn::Function float_power("float_power", "input, exponent", [](const Arguments &a) {
  const auto wide = [&](const char *name) -> Argument {
    return a[name].as<Variable>() ? Argument(to_type(a.variable(name), Type::f64)) : Argument(a.real(name));
  };
  return call("pow", {wide("input"), wide("exponent")});
});
const nn::Function clamp_min("clamp_min", "input, min", [](const Arguments &a) {
  return call("clamp", {a["input"], a["min"]});
});
const nn::Function clamp_max("clamp_max", "input, max", [](const Arguments &a) {
  return call("clamp", {a["input"], Argument(), a["max"]});
});

// ---- Of three.

const nn::Function addcmul("addcmul", "input, tensor1, tensor2, *, value=1", [](const Arguments &a) {
  return call("add", {a["input"], call("mul", {call("mul", {a["tensor1"], a["tensor2"]}), a["value"]})});
});
const nn::Function addcdiv("addcdiv", "input, tensor1, tensor2, *, value=1", [](const Arguments &a) {
  return call("add", {a["input"], call("mul", {call("div", {a["tensor1"], a["tensor2"]}), a["value"]})});
});

// ---- Near each other.

const nn::Function isclose("isclose", "input, other, rtol=1e-05, atol=1e-08, equal_nan=False",
                           by_formula([](const Arguments &a) {
                             const Value x = a.value("input"), y = a.value("other");
                             if (!is_real(x.type())) return x == y;
                             const Value is_finite = !(map(F::is_infinite, y) || map(F::is_infinite, x));
                             const Value near = abs(x - y) <= abs(y) * a.real("rtol") + a.real("atol");
                             const Value close = (x == y) || (is_finite && near);
                             return a.flag("equal_nan") ? close || (map(F::is_nan, x) && map(F::is_nan, y)) : close;
                           }));
const nn::Function allclose("allclose", "input, other, rtol=1e-05, atol=1e-08, equal_nan=False",
                            [](const Arguments &a) {
                              const Variable all = composed("all", {isclose.call(a.values())});
                              return all.value().item() != 0;
                            });
const nn::Function equal("equal", "input, other", [](const Arguments &a) {
  if (a.variable("input").shape() != a.variable("other").shape()) return false;
  return composed("all", {call("eq", {a["input"], a["other"]})}).value().item() != 0;
});

// ---- Of one.

// Whole numbers stay whole. Truths and natural numbers are never below 0; NaN stays.
Value sign_of(const Value &x) {
  if (x.type() == Type::boolean) return x;
  const Value positive = where(x > 0, 1, x * 0);
  return facts(x.type()).kind == TypeFacts::Kind::natural ? positive : where(x < 0, -1, positive);
}

const OfOne further_of_one[] = {
    {"sign", sign_of, "input", false},
    {"sgn", sign_of, "input", false},
    {"deg2rad", [](const Value &x) { return x * (M_PI / 180); }},
    {"rad2deg", [](const Value &x) { return x * (180 / M_PI); }},
    {"signbit", is_below_zero},
    {"isfinite", [](const Value &x) { return !(map(F::is_nan, x) || map(F::is_infinite, x)); }},
    {"isposinf", [](const Value &x) { return x == infinity; }},
    {"isneginf", [](const Value &x) { return x == -infinity; }},
    {"isreal", [](const Value &x) { return x == x || !(x == x); }, "input", false},
};

double largest(Type type) {
  return type == Type::f64    ? std::numeric_limits<double>::max()
         : type == Type::f16  ? 65504
         : type == Type::bf16 ? 0x1.fep127
                              : static_cast<double>(std::numeric_limits<float>::max());
}
const nn::Function nan_to_num("nan_to_num", "input, nan=None, posinf=None, neginf=None",
                              by_formula([](const Arguments &a) {
                                const Value x = a.value("input");
                                if (!is_real(x.type())) return x;
                                const auto or_else = [&](const char *name, double number) {
                                  return a.has(name) ? a.real(name) : number;
                                };
                                const Value finite =
                                    where(x == infinity, or_else("posinf", largest(x.type())),
                                          where(x == -infinity, or_else("neginf", -largest(x.type())), x));
                                return where(map(F::is_nan, x), or_else("nan", 0), finite);
                              }));

const nn::Function contiguous("contiguous", "input", [](const Arguments &a) { return a["input"]; });
const nn::Function clone("clone", "input",
                         by_formula([](const Arguments &a) { return named("clone", a.value("input")); }));

}  // namespace

const void *arithmetic() { return of_two; }

}  // namespace saltern::nn
