// What depends on the order of elements along a dimension: medians, quantiles, running maxima; and running logarithms.

#include <cmath>
#include <limits>

#include "algorithms/functions.h"
#include "algorithms/ranking.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using namespace formula;
using F = formula::Function;

// ---- The element of a rank, counted from the least; NaN are above all.

const nn::Function kthvalue("kthvalue", "input, k, dim=-1, keepdim=False",
                            by_formula(2, [](const Arguments &a) -> Values {
                              const Value x = a.value("input");
                              if (x.rank() == 0) return {x, constant_value(Type::i64, 0)};
                              const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
                              const int64_t k = a.integer("k");
                              if (k < 1 || k > x.extent(axis)->integer)
                                a.refuse("k", "from 1 to the extent of the dimension");
                              const algorithms::Ranked all = algorithms::top(x, axis, k, false);
                              const auto last = [&](const Value &v) {
                                const Value one = inlined(
                                    algorithms::with_index(v.extents(), axis, 1),
                                    [&](const Axes &at) { return v.at(algorithms::with_index(at, axis, k - 1)); });
                                return a.flag("keepdim") ? one : squeezed(one, {axis});
                              };
                              return {last(all.values), last(all.places)};
                            }));

// x with all its elements along one dimension, where none is named.
struct Along {
  Variable x;
  int64_t dim;
  bool all;

  explicit Along(const Arguments &a) : x(a.variable("input")), dim(0), all(!a.has("dim")) {
    if (all || x.shape().empty())
      x = reshape(x, {-1});
    else
      dim = dimension(a.integer("dim"), x.rank(), a.owner());
    if (extent() == 0) a.refuse("input", "elements to choose from");
  }
  int64_t extent() const { return x.shape()[static_cast<size_t>(dim)]; }
};

// The lower one of two in the middle; NaN where one is there.
Argument median_of(const Arguments &a, const Along &w) {
  const Argument middle = kthvalue.call({w.x, (w.extent() + 1) / 2, w.dim, a.flag("keepdim")});
  if (!is_real(w.x.type())) return middle;
  const Argument last = kthvalue.call({w.x, w.extent(), w.dim, a.flag("keepdim")});
  const auto &m = *middle.as<Argument::List>(), &l = *last.as<Argument::List>();
  const Argument is_nan = call("isnan", {l[0]});
  return Argument::List{call("where", {is_nan, l[0], m[0]}), call("where", {is_nan, l[1], m[1]})};
}
const nn::Function median("median", "input, dim=None, keepdim=False", [](const Arguments &a) -> Argument {
  const Argument both = median_of(a, Along(a));
  const auto &all = *both.as<Argument::List>();
  if (!a.has("dim")) return reshape(variable_of(all[0]), {});
  if (!a.variable("input").shape().empty()) return both;
  return Argument::List{reshape(variable_of(all[0]), {}), reshape(variable_of(all[1]), {})};
});

// Between the elements around the place q (n - 1), as told.
const nn::Function quantiles(
    "quantiles_along", "input, q, dim, interpolation, ignores_nan", by_formula([](const Arguments &a) {
      const Value x = a.value("input"), q = a.value("q");
      const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
      const Value sorted = algorithms::sorted(x, axis);
      const Value count = named("count", sum(where(map(F::is_nan, x), constant_value(x.type(), 0), 1), {axis}));
      const std::string &how = a.word("interpolation", {"linear", "lower", "higher", "nearest", "midpoint"});
      std::vector<Expression> extents = algorithms::with_index(x.extents(), axis, 1);
      extents.insert(extents.begin(), q.extent(0));
      return compute("quantiles", extents, [&](const Axes &at) {
        const Axes one(at.begin() + 1, at.end());
        const Expression many = count.at(one), all = cast(x.type(), x.extent(axis));
        const Expression place = cast(x.type(), q(at[0])) * (max(many, 1.0) - 1.0);
        const Expression low = how == "higher"    ? call(F::ceiling, place)
                               : how == "nearest" ? call(F::round, place)
                                                  : floor(place);
        const auto element = [&](const Expression &i) {
          return sorted.at(algorithms::with_index(one, axis, max(min(cast(Type::i64, i), x.extent(axis) - 1), 0)));
        };
        const Expression weight =
            how == "linear" ? place - floor(place) : constant(x.type(), how == "midpoint" ? 0.5 : 0);
        const Expression next = how == "midpoint" ? call(F::ceiling, place) : min(low + 1.0, max(many, 1.0) - 1.0);
        // (0 times the distance of an infinite neighbour would be no number.)
        const Expression value =
            select(weight == 0.0, element(low), element(low) + weight * (element(next) - element(low)));
        const Expression nothing = a.flag("ignores_nan") ? many == 0.0 : many < all;
        return select(nothing, constant(x.type(), std::numeric_limits<double>::quiet_NaN()), value);
      });
    }));
Variable quantile_of(const Arguments &a, bool ignores_nan) {
  const Along w(a);
  const Type type = w.x.type();
  const Variable q = a["q"].as<Variable>() ? to_type(a.variable("q"), type) : scalar(a.real("q"), type);
  if (!is_real(w.x.type())) a.refuse("input", "a tensor of real numbers");
  for (double share : q.value().reals())
    if (!(share >= 0 && share <= 1)) a.refuse("q", "shares between 0 and 1");
  Variable y = composed("quantiles_along", {w.x, reshape(q, {-1}), w.dim, a["interpolation"], ignores_nan});
  if (a.flag("keepdim") && w.all) {
    Shape ones(a.variable("input").shape().size(), 1);
    ones.insert(ones.begin(), y.shape()[0]);
    y = reshape(y, ones);
  } else if (!a.flag("keepdim") || a.variable("input").shape().empty()) {
    y = composed("squeeze", {y, w.dim + 1});
  }
  return q.shape().empty() ? composed("squeeze", {y, 0}) : y;
}
const char *const of_quantiles = "input, q, dim=None, keepdim=False, *, interpolation='linear'";
const nn::Function quantile("quantile", of_quantiles, [](const Arguments &a) { return quantile_of(a, false); });
const nn::Function nanquantile("nanquantile", of_quantiles, [](const Arguments &a) { return quantile_of(a, true); });

// The median of what is a number, and the first place where it is.
const nn::Function nanmedian("nanmedian", "input, dim=None, keepdim=False", [](const Arguments &a) -> Argument {
  const Along w(a);
  const Variable middle = variable_of(nanquantile.call({w.x, 0.5, w.dim, true}, {{"interpolation", "lower"}}));
  const bool is_number = w.all || a.variable("input").shape().empty();
  if (w.all) return reshape(middle, {});
  const Variable place =
      variable_of(call("argmax", {to_type(variable_of(call("eq", {w.x, middle})), Type::i64), w.dim, true}));
  Shape shape = middle.shape();
  if (!a.flag("keepdim")) shape.erase(shape.begin() + w.dim);
  if (is_number) shape = {};
  return Argument::List{reshape(middle, shape), reshape(place, shape)};
});

const nn::Function msort("msort", "input", [](const Arguments &a) {
  return call("sort", {a["input"], 0}).as<Argument::List>()->at(0);
});
const nn::Function aminmax("aminmax", "input, *, dim=None, keepdim=False", [](const Arguments &a) -> Argument {
  return Argument::List{call("amin", {a["input"], a["dim"], a["keepdim"]}),
                        call("amax", {a["input"], a["dim"], a["keepdim"]})};
});

// ---- Running ones. The last of equal ones counts, and a NaN stays.

ByFormula running_best(bool largest) {
  return by_formula(2, [largest](const Arguments &a) -> Values {
    const Value x = a.value("input");
    if (x.rank() == 0) return {x, constant_value(Type::i64, 0)};
    const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
    const auto d = static_cast<size_t>(axis);
    const Value none = constant_value(Type::i64, 0);
    const Value place = scan("running_place", x.extents(), axis, none, [&](const Axes &at, const Expression &before) {
      const Expression here = x.at(at), best = x.at(algorithms::with_index(at, axis, before));
      const Expression better = largest ? here >= best : here <= best;
      const Expression wins = is_real(x.type()) ? call(F::is_nan, here) || (better && !call(F::is_nan, best)) : better;
      return select(wins, cast(Type::i64, at[d]), before);
    });
    return {inlined(x.extents(), [&](const Axes &at) { return x.at(algorithms::with_index(at, axis, place.at(at))); }),
            place};
  });
}
const nn::Function cummax("cummax", "input, dim", running_best(true));
const nn::Function cummin("cummin", "input, dim", running_best(false));

// Less the greatest of all in between, so that nothing overflows; what is far below it is lost as it is in their sum.
const nn::Function logcumsumexp("logcumsumexp", "input, dim", by_formula([](const Arguments &a) {
                                  const Value x = a.value("input");
                                  if (x.rank() == 0) return x;
                                  const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
                                  const Value none = constant_value(x.type(), -std::numeric_limits<double>::infinity());
                                  return scan("logcumsumexp", x.extents(), axis, none,
                                              [&](const Axes &at, const Expression &before) {
                                                const Expression here = x.at(at), zero = constant(x.type(), 0),
                                                                 one = constant(x.type(), 1);
                                                // Both count alike, also where they are equal.
                                                const Expression ends = here == before && call(F::is_infinite, here);
                                                const Expression half = select(ends, zero, (here - before) * 0.5);
                                                const Expression mean = select(ends, here, (here + before) * 0.5);
                                                // Smooth in between, where abs() has a corner.
                                                const Expression inner = max(min(half, one), -one);
                                                const Expression near = log(exp(inner) + exp(-inner));
                                                const Expression far = abs(half) + log(exp(abs(half) * -2.0) + 1.0);
                                                const Expression sum = mean + select(abs(half) < 1.0, near, far);
                                                return select(call(F::is_infinite, before) && before < zero, here, sum);
                                              });
                                }));

// ---- Differences and sums of neighbours.

const nn::Function diff("diff", "input, n=1, dim=-1, prepend=None, append=None", [](const Arguments &a) {
  Variable x = a.variable("input");
  if (a.integer("n") == 0) return x;
  const int64_t d = dimension(a.integer("dim"), x.rank(), a.owner());
  if (a.has("prepend")) x = concat({a.variable("prepend"), x}, d);
  if (a.has("append")) x = concat({x, a.variable("append")}, d);
  for (int64_t n = 0; n < a.integer("n"); ++n) {
    const int64_t left = std::max<int64_t>(x.shape()[static_cast<size_t>(d)] - 1, 0);
    const bool some = x.shape()[static_cast<size_t>(d)] > 0;
    const Argument later = call("narrow", {x, d, some ? 1 : 0, left}), before = call("narrow", {x, d, 0, left});
    x = composed(x.type() == Type::boolean ? "logical_xor" : "sub", {later, before});
  }
  return x;
});

Variable trapezoids(const Arguments &a) {
  const Variable y = a.variable("y");
  const int64_t d = dimension(a.integer("dim"), y.rank(), a.owner());
  const int64_t left = std::max<int64_t>(y.shape()[static_cast<size_t>(d)] - 1, 0);
  const Variable both = slice(y, d, left > 0 ? 1 : 0, left) + slice(y, d, 0, left);
  if (!a.has("x")) return both * (a.real("dx") / 2);
  Variable width = composed("diff", {a["x"]});
  if (width.shape().size() == 1) {
    Shape shape(y.shape().size(), 1);
    shape[static_cast<size_t>(d)] = width.shape()[0];
    width = reshape(width, shape);
  } else {
    width = composed("diff", {a["x"], 1, d - y.rank()});
  }
  return both * width * 0.5;
}
const char *const of_trapezoids = "y, x=None, *, dx=1.0, dim=-1";
const nn::Function trapezoid("trapezoid", of_trapezoids, [](const Arguments &a) {
  return call("sum", {trapezoids(a), a["dim"]});
});
const nn::Function trapz("trapz", of_trapezoids, [](const Arguments &a) {
  return call("sum", {trapezoids(a), a["dim"]});
});
const nn::Function cumulative_trapezoid("cumulative_trapezoid", of_trapezoids, [](const Arguments &a) {
  return call("cumsum", {trapezoids(a), a["dim"]});
});

// ---- Sums without NaN, counts, moments.

const nn::Function nansum("nansum", "input, dim=None, keepdim=False, *, dtype=None", [](const Arguments &a) {
  return call("sum", {call("nan_to_num", {a["input"], 0.0, INFINITY, -INFINITY}), a["dim"], a["keepdim"]},
              {{"dtype", a["dtype"]}});
});
const nn::Function nanmean("nanmean", "input, dim=None, keepdim=False, *, dtype=None", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const Variable there = to_type(composed("logical_not", {call("isnan", {x})}), x.type());
  return call("div", {nansum.call({x, a["dim"], a["keepdim"]}, {{"dtype", a["dtype"]}}),
                      call("sum", {there, a["dim"], a["keepdim"]})});
});
const nn::Function count_nonzero("count_nonzero", "input, dim=None", [](const Arguments &a) {
  return call("sum", {to_type(composed("ne", {a["input"], 0}), Type::i64), a["dim"]});
});

nn::Function::Body with_mean(const char *of) {
  return [of](const Arguments &a) -> Argument {
    return Argument::List{
        call(of, {a["input"], a["dim"], a["unbiased"], a["keepdim"]}, {{"correction", a["correction"]}}),
        call("mean", {a["input"], a["dim"], a["keepdim"]})};
  };
}
const char *const of_moments = "input, dim=None, unbiased=None, keepdim=False, *, correction=1";
const nn::Function var_mean("var_mean", of_moments, with_mean("var"));
const nn::Function std_mean("std_mean", of_moments, with_mean("std"));

}  // namespace

const void *order() { return &kthvalue; }

}  // namespace saltern::nn
