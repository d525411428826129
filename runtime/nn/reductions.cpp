// Reductions over dimensions, running ones, and order along one.

#include <cmath>

#include "algorithms/ranking.h"
#include "algorithms/reductions.h"
#include "dsl/derivative.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using namespace formula;
using F = formula::Function;

const char *const over_dimensions = "input, dim=None, keepdim=False, *, dtype=None";

Variable typed(const Arguments &a) {
  const Variable x = a.variable("input");
  return a.has("dtype") ? to_type(x, type_named(a.word("dtype"))) : x;
}

Variable without(const Variable &y, const std::vector<int64_t> &axes, bool keep) {
  Shape shape = y.shape();
  if (keep) return y;
  for (auto it = axes.rbegin(); it != axes.rend(); ++it) shape.erase(shape.begin() + *it);
  return reshape(y, shape);
}

const nn::Function sum_of("sum", over_dimensions, [](const Arguments &a) {
  Variable x = typed(a);
  if (!is_real(x.type()) && !a.has("dtype")) x = to_type(x, Type::i64);
  const std::vector<int64_t> axes = axes_of(a, x.rank());
  return axes.empty() ? x : without(sum(x, axes), axes, a.flag("keepdim"));
});
const nn::Function mean_of("mean", over_dimensions, [](const Arguments &a) {
  const Variable x = typed(a);
  if (!is_real(x.type())) a.refuse("input", "a tensor of real numbers, or a dtype");
  const std::vector<int64_t> axes = axes_of(a, x.rank());
  return axes.empty() ? x : without(mean(x, axes), axes, a.flag("keepdim"));
});

// The mean of squares about the mean, by one fewer than there are or by as many as `correction` says.
Variable variance(const Arguments &a) {
  const Variable x = a.variable("input");
  const std::vector<int64_t> axes = axes_of(a, x.rank());
  int64_t count = 1;
  for (int64_t d : axes) count *= x.shape()[static_cast<size_t>(d)];
  const bool by_all = a.has("unbiased") && !a.flag("unbiased");
  const double divisor = static_cast<double>(count) - (by_all ? 0 : a.has("correction") ? a.real("correction") : 1);
  return without(sum(square(x - mean(x, axes)), axes, 1 / divisor), axes, a.flag("keepdim"));
}
const char *const of_deviations = "input, dim=None, unbiased=None, keepdim=False, *, correction=1";
const nn::Function var_of("var", of_deviations, variance);
const nn::Function std_of("std", of_deviations, [](const Arguments &a) { return sqrt(variance(a)); });

// ---- By formulas.

// In another type, where one is asked for; whole numbers, as PyTorch has it, in the widest.
nn::Function::Body in_its_type(const char *name) {
  return [name](const Arguments &a) -> Argument {
    const Variable x = a.variable("input");
    if (!a.has("dtype") && (is_real(x.type()) || x.type() == Type::i64)) return {};
    std::vector<Argument> values = a.values();
    values.pop_back();
    values[0] = to_type(x, a.has("dtype") ? type_named(a.word("dtype")) : Type::i64);
    return call(name, values);
  };
}

struct Reducer {
  Reducer(const char *name, const std::function<Value(const Value &x, const std::vector<int> &axes)> &of,
          bool has_type = false)
      : function(name, has_type ? over_dimensions : "input, dim=None, keepdim=False",
                 by_formula([of](const Arguments &a) {
                   const Value x = a.value("input");
                   const std::vector<int> axes = dimensions_of(a, x.rank());
                   const Value y = of(x, axes);
                   return a.flag("keepdim") ? y : squeezed(y, axes);
                 }),
                 has_type ? in_its_type(name) : nullptr) {}
  nn::Function function;
};

Value truth_of(const Value &v) { return cast(Type::i32, v.type() == Type::boolean ? v : !(v == 0)); }
// Of no axes, the element itself.
Value reduced_if_any(F f, const Value &x, const std::vector<int> &axes) {
  return axes.empty() ? x : reduced(f, x, axes);
}

// The gradient goes to all that are best, in equal parts.
Value best(F f, const Value &x, const std::vector<int> &axes) {
  if (axes.empty()) return x;
  for (const int d : axes)
    if (is_number(x.extent(d), 0)) fail("there are no elements to choose from along dimension ", d);
  const Value y = named("best", reduced(f, x, axes));
  if (!is_real(x.type())) return y;
  return with_gradient(y, {{x}, [x, y, axes](const Value &dy) {
                             const Value is_best = where(x == y, constant_value(x.type(), 1), 0);
                             return Values{is_best * (dy / named("bests", sum(is_best, axes)))};
                           }});
}

const Reducer reducers[] = {
    {"amax", [](const Value &x, const std::vector<int> &axes) { return best(F::greatest, x, axes); }},
    {"amin", [](const Value &x, const std::vector<int> &axes) { return best(F::least, x, axes); }},
    {"prod", [](const Value &x, const std::vector<int> &axes) { return reduced_if_any(F::product, x, axes); }, true},
    {"logsumexp",
     [](const Value &x, const std::vector<int> &axes) { return axes.empty() ? x : algorithms::log_sum_exp(x, axes); }},
    {"all",
     [](const Value &x, const std::vector<int> &axes) { return !(reduced_if_any(F::least, truth_of(x), axes) == 0); }},
    {"any",
     [](const Value &x, const std::vector<int> &axes) { return reduced_if_any(F::greatest, truth_of(x), axes) == 1; }},
};

const nn::Function norm("norm", "input, p=2.0, dim=None, keepdim=False", by_formula([](const Arguments &a) {
                          const Value x = a.value("input");
                          const std::vector<int> axes = dimensions_of(a, x.rank());
                          const double p = a["p"].as<std::string>() ? 2 : a.real("p");
                          if (axes.empty()) return p == 0 ? where(x == 0, x, 1) : abs(x);
                          const Value y = p == 0          ? sum(where(x == 0, x * 0, 1), axes)
                                          : p == 1        ? algorithms::l1_norm(x, axes)
                                          : p == 2        ? algorithms::l2_norm(x, axes)
                                          : std::isinf(p) ? best(p > 0 ? F::greatest : F::least, abs(x), axes)
                                                          : power(sum(power(abs(x), p), axes), 1 / p);
                          return a.flag("keepdim") ? y : squeezed(y, axes);
                        }));

// ---- The best along one dimension, and its place.

// A number is the only one along its dimension 0.
Values number_and_place(const Value &x, const Arguments &a) {
  dimension(a.integer("dim"), 1, a.owner());
  return {x, constant_value(Type::i64, 0)};
}

const nn::Function best_along("best_along", "input, dim, keepdim, largest",
                              by_formula(2, [](const Arguments &a) -> Values {
                                const Value x = a.value("input");
                                if (x.rank() == 0) return number_and_place(x, a);
                                const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
                                if (is_number(x.extent(axis), 0)) a.refuse("input", "elements to choose from");
                                const F f = a.flag("largest") ? F::first_greatest : F::first_least;
                                const Value place = cast(Type::i64, reduced(f, x, {axis}));
                                const Value y = inlined(place.extents(), [&](const Axes &at) {
                                  return x.at(algorithms::with_index(at, axis, place.at(at)));
                                });
                                if (a.flag("keepdim")) return {y, place};
                                return {squeezed(y, {axis}), squeezed(place, {axis})};
                              }));

Argument best_of(const Arguments &a, bool largest) {
  const std::string all = largest ? "amax" : "amin";
  if (a["dim"].as<Variable>()) return call(largest ? "maximum" : "minimum", {a["input"], a["dim"]});
  return a.has("dim") ? best_along.call({a["input"], a["dim"], a["keepdim"], largest}) : call(all, {a["input"]});
}
const nn::Function max_of("max", "input, dim=None, keepdim=False", [](const Arguments &a) { return best_of(a, true); });
const nn::Function min_of("min", "input, dim=None, keepdim=False",
                          [](const Arguments &a) { return best_of(a, false); });

Argument place_of_best(const Arguments &a, bool largest) {
  const Variable x = a.variable("input");
  const Argument both = a.has("dim") ? best_along.call({x, a["dim"], a["keepdim"], largest})
                                     : best_along.call({reshape(x, {-1}), 0, false, largest});
  return both.as<Argument::List>()->at(1);
}
const nn::Function argmax("argmax", "input, dim=None, keepdim=False",
                          [](const Arguments &a) { return place_of_best(a, true); });
const nn::Function argmin("argmin", "input, dim=None, keepdim=False",
                          [](const Arguments &a) { return place_of_best(a, false); });

// ---- Running ones, and order.

ByFormula running(F f) {
  return by_formula([f](const Arguments &a) {
    const Value x = a.value("input");
    if (x.rank() == 0) return number_and_place(x, a)[0];
    return algorithms::running(f, x, dimension(a.integer("dim"), x.rank(), a.owner()));
  });
}
const nn::Function cumsum("cumsum", "input, dim, *, dtype=None", running(F::sum), in_its_type("cumsum"));
const nn::Function cumprod("cumprod", "input, dim, *, dtype=None", running(F::product), in_its_type("cumprod"));

const nn::Function topk("topk", "input, k, dim=-1, largest=True, sorted=True",
                        by_formula(2, [](const Arguments &a) -> Values {
                          const Value x = a.value("input");
                          if (x.rank() == 0) return number_and_place(x, a);
                          const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
                          const int64_t k = a.integer("k");
                          if (k < 0 || k > x.extent(axis)->integer)
                            a.refuse("k", "at most the extent of the dimension");
                          const algorithms::Ranked r = algorithms::top(x, axis, k, a.flag("largest"));
                          return {r.values, r.places};
                        }));
const nn::Function sort("sort", "input, dim=-1, descending=False, stable=False",
                        by_formula(2, [](const Arguments &a) -> Values {
                          const Value x = a.value("input");
                          if (x.rank() == 0) return number_and_place(x, a);
                          const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
                          const algorithms::Ranked r = algorithms::top(x, axis, x.extent(axis), a.flag("descending"));
                          return {r.values, r.places};
                        }));
const nn::Function argsort("argsort", "input, dim=-1, descending=False, stable=False", [](const Arguments &a) {
  return sort.call({a["input"], a["dim"], a["descending"]}).as<Argument::List>()->at(1);
});

}  // namespace

const void *reductions() { return &sum_of; }

}  // namespace saltern::nn
