// Functions of numbers that are no layers: operators with broadcasting, and what C's math library has.

#include <algorithm>

#include "algorithms/functions.h"
#include "algorithms/special.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"

namespace saltern::nn {

namespace {

using namespace formula;
using F = formula::Function;

// ---- Of two.

nn::Function::Body of_two(Variable (*f)(const Variable &, const Variable &)) {
  return [f](const Arguments &a) {
    const Operands o = promoted(a);
    return f(o.a, o.b);
  };
}

const nn::Function add("add", "input, other, *, alpha=1", [](const Arguments &a) {
  const Operands o = promoted(a);
  return a.real("alpha") == 1 ? o.a + o.b : o.a + o.b * a.real("alpha");
});
const nn::Function sub("sub", "input, other, *, alpha=1", [](const Arguments &a) {
  const Operands o = promoted(a);
  return a.real("alpha") == 1 ? o.a - o.b : o.a - o.b * a.real("alpha");
});
const nn::Function mul("mul", "input, other", of_two(multiply));
const nn::Function maximum_of("maximum", "input, other", of_two(maximum));
const nn::Function minimum_of("minimum", "input, other", of_two(minimum));
const nn::Function pow_of("pow", "input, exponent", [](const Arguments &a) {
  const Operands o = promoted(a, "input", "exponent");
  if (const auto *e = a["exponent"].as<int64_t>(); e && *e == 2) return o.a * o.a;
  return power(o.a, o.b);
});

// The quotient, rounded as asked.
const Operation rounded_down("rounded_down", [](const Value &x) { return map(F::floor, x); });
const Operation truncated("truncated", [](const Value &x) { return map(F::truncate, x); });
const nn::Function div_of("div", "input, other, *, rounding_mode=None", [](const Arguments &a) {
  const Operands o = promoted(a);
  const Variable q = as_real(o.a) / as_real(o.b);
  if (!a.has("rounding_mode")) return q;
  const bool down = a.word("rounding_mode", {"floor", "trunc"}) == "floor";
  return to_type(down ? rounded_down(q) : truncated(q), o.a.type());
});

const nn::Function floor_divide("floor_divide", "input, other", [](const Arguments &a) {
  return div_of.call({a["input"], a["other"]}, {{"rounding_mode", "floor"}});
});

Value mapped(F f, const Value &a, const Value &b) { return map(f, a, b); }

const OfTwo eq("eq", [](const Value &a, const Value &b) { return a == b; });
const OfTwo ne("ne", [](const Value &a, const Value &b) { return !(a == b); });
const OfTwo lt("lt", [](const Value &a, const Value &b) { return a < b; });
const OfTwo le("le", [](const Value &a, const Value &b) { return a <= b; });
const OfTwo gt("gt", [](const Value &a, const Value &b) { return b < a; });
const OfTwo ge("ge", [](const Value &a, const Value &b) { return b <= a; });
const OfTwo fmod_of("fmod", [](const Value &a, const Value &b) { return mapped(F::remainder, a, b); });
const OfTwo remainder_of("remainder", [](const Value &a, const Value &b) { return mapped(F::modulo, a, b); });

// Of truths, or of the bits of whole numbers.
const OfTwo bitwise_and("bitwise_and", [](const Value &a, const Value &b) { return mapped(F::both, a, b); });
const OfTwo bitwise_or("bitwise_or", [](const Value &a, const Value &b) { return mapped(F::either, a, b); });
const OfTwo bitwise_xor("bitwise_xor", [](const Value &a, const Value &b) { return mapped(F::differ, a, b); });
const nn::Function bitwise_not("bitwise_not", "input",
                               by_formula([](const Arguments &a) { return !a.value("input"); }));

// Of truths; numbers are true unless 0.
Value truth_of(const Value &v) { return v.type() == Type::boolean ? v : !(v == 0); }
const OfTwo logical_and("logical_and", [](const Value &a, const Value &b) { return truth_of(a) && truth_of(b); });
const OfTwo logical_or("logical_or", [](const Value &a, const Value &b) { return truth_of(a) || truth_of(b); });
const OfTwo logical_xor("logical_xor",
                        [](const Value &a, const Value &b) { return mapped(F::differ, truth_of(a), truth_of(b)); });
const nn::Function logical_not("logical_not", "input",
                               by_formula([](const Arguments &a) { return !truth_of(a.value("input")); }));

const Operation chosen("where_of",
                       [](const Value &c, const Value &a, const Value &b) { return where(truth_of(c), a, b); });
const nn::Function where_of("where", "condition, input, other", [](const Arguments &a) {
  const Operands o = promoted(a);
  return chosen(a.variable("condition"), o.a, o.b);
});
const nn::Function masked_fill("masked_fill", "input, mask, value", [](const Arguments &a) {
  const Operands o = promoted(a, "input", "value");
  return chosen(a.variable("mask"), o.b, o.a);
});
const nn::Function clamp("clamp", "input, min=None, max=None", [](const Arguments &a) {
  Variable x = a.variable("input");
  const auto bounded = [&](const char *name, Variable (*f)(const Variable &, const Variable &)) {
    if (!a.has(name)) return;
    const Variable bound = promoted(a, "input", name).b;
    const Type type = common(x.type(), bound.type());
    x = f(to_type(x, type), to_type(bound, type));
  };
  bounded("min", maximum);
  bounded("max", minimum);
  return x;
});
const nn::Function lerp("lerp", "input, end, weight", [](const Arguments &a) {
  const Variable x = a.variable("input");
  return x + a.variable("weight") * (a.variable("end") - x);
});

// ---- Of one. The first have library kernels.

struct Elementary {
  Elementary(const std::string &name, Variable (*f)(const Variable &), bool keeps_whole = false)
      : function(name, "input", [f, keeps_whole](const Arguments &a) {
          const Variable x = a.variable("input");
          return f(keeps_whole ? x : as_real(x));
        }) {}
  Elementary(const std::string &name, const std::function<Value(const Value &)> &of)
      : operation(std::make_unique<Operation>(
            name, [of](const Values &in, const Attributes &) -> Values { return {of(in.at(0))}; })),
        function(name, "input", [this](const Arguments &a) { return (*operation)(as_real(a.variable("input"))); }) {}
  // Whole numbers are what they are rounded to.
  Elementary(const std::string &name, F f, bool rounds = false)
      : operation(std::make_unique<Operation>(
            name, [f](const Values &in, const Attributes &) -> Values { return {map(f, in.at(0))}; })),
        function(name, "input", [this, rounds](const Arguments &a) {
          const Variable x = a.variable("input");
          return rounds && !is_real(x.type()) ? x : (*operation)(as_real(x));
        }) {}

  std::unique_ptr<Operation> operation;
  nn::Function function;
};

Variable negative(const Variable &x) { return -x; }
Variable same(const Variable &x) { return x; }

const Elementary elementary[] = {
    {"neg", negative, true},
    {"abs", absolute, true},
    {"square", square, true},
    {"positive", same, true},
    {"exp", saltern::exp},
    {"log", saltern::log},
    {"sqrt", saltern::sqrt},
    {"sin", sine},
    {"cos", cosine},
    {"erf", saltern::erf},
    {"reciprocal", reciprocal},
    {"tan", F::tangent},
    {"asin", F::arcsine},
    {"acos", F::arccosine},
    {"atan", F::arctangent},
    {"sinh", F::sinh},
    {"cosh", F::cosh},
    {"asinh", F::arcsinh},
    {"acosh", F::arccosh},
    {"atanh", F::arctanh},
    {"floor", F::floor, true},
    {"ceil", F::ceiling, true},
    {"round", F::round, true},
    {"trunc", F::truncate, true},
    {"isnan", F::is_nan},
    {"isinf", F::is_infinite},
    {"rsqrt", [](const Value &x) { return 1 / sqrt(x); }},
    {"erfc", algorithms::erfc},
    {"exp2", [](const Value &x) { return exp(x * 0.69314718055994531); }},
    {"log2", [](const Value &x) { return log(x) * 1.4426950408889634; }},
    {"log10", [](const Value &x) { return log(x) * 0.43429448190325183; }},
    {"log1p", algorithms::log_of_one_more},
    {"expm1", algorithms::power_less_one},
    {"frac", [](const Value &x) { return x - stop_gradient(map(F::truncate, x)); }},
    {"sinc",
     [](const Value &x) {
       const Value at = x * 3.14159265358979324;
       return where(x == 0, 1, sin(at) / where(x == 0, 1, at));
     }},
};

const Operation of_share("logit", [](const Value &x) { return log(x / (1 - x)); });
const nn::Function logit("logit", "input, eps=None", [](const Arguments &a) {
  const Variable x = as_real(a.variable("input"));
  if (!a.has("eps")) return of_share(x);
  const double least = a.real("eps"), most = 1 - least;
  const Argument below = call("lt", {x, least}), above = call("gt", {x, most});
  return of_share(variable_of(call("where", {below, least, call("where", {above, most, x})})));
});

}  // namespace

const void *elementwise() { return &add; }

}  // namespace saltern::nn
