// Keras' ops of numbers and of many numbers, where PyTorch has them not or otherwise, with Keras' arguments: rows
// `keras.NAME`. Beside them what PyTorch has under the same names.

#include <cmath>
#include <limits>
#include <numeric>

#include "algorithms/functions.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"
#include "runtime/tensor/strided.h"

namespace saltern::nn {

namespace {

using namespace formula;
using F = formula::Function;

constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- Of two, with PyTorch's names.

const OfTwo keras_of_two[] = {
    {"bitwise_left_shift", [](const Value &a, const Value &b) { return map(F::shift_left, a, b); }},
    {"bitwise_right_shift", [](const Value &a, const Value &b) { return map(F::shift_right, a, b); }},
    {"keras.divide_no_nan", [](const Value &x, const Value &y) { return where(y == 0, 0, x / where(y == 0, 1, y)); },
     "x1, x2", true},
};

// Whole numbers one by one, by a loop.
struct OfWholeNumbers {
  OfWholeNumbers(const std::string &name, int64_t (*of)(int64_t, int64_t))
      : function(name, "input, other", [of](const Arguments &a) -> Argument {
          const Operands o = promoted(a);
          const Type type = o.a.value().type();
          if (is_real(type)) a.refuse("input", "whole numbers");
          const Shape shape = broadcast_shape(o.a.shape(), o.b.shape(), a.owner());
          std::vector<int64_t> x = expand(o.a, shape).value().integers();
          const std::vector<int64_t> y = expand(o.b, shape).value().integers();
          for (size_t i = 0; i < x.size(); ++i) x[i] = of(x[i], y[i]);
          return to_type(Tensor::of<int64_t>(shape, x), type);
        }) {}
  nn::Function function;
};
const OfWholeNumbers of_whole_numbers[] = {{"gcd", [](int64_t a, int64_t b) { return std::gcd(a, b); }},
                                           {"lcm", [](int64_t a, int64_t b) { return std::lcm(a, b); }}};

const nn::Function nextafter("nextafter", "input, other", [](const Arguments &a) -> Argument {
  const Operands o = promoted(a);
  const Type type = o.a.value().type();
  if (type != Type::f32 && type != Type::f64) a.refuse("input", "numbers of f32 or f64");
  const Shape shape = broadcast_shape(o.a.shape(), o.b.shape(), a.owner());
  std::vector<double> x = expand(o.a, shape).value().reals();
  const std::vector<double> y = expand(o.b, shape).value().reals();
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = type == Type::f64 ? std::nextafter(x[i], y[i])
                             : std::nextafter(static_cast<float>(x[i]), static_cast<float>(y[i]));
  return to_type(Tensor::of<double>(shape, x), type);
});

// ---- Of one.

const OfOne keras_of_one[] = {
    {"keras.cbrt",
     [](const Value &x) {
       const Value root = exp(log(where(x == 0, 1, abs(x))) * (1.0 / 3));
       return where(x == 0, x, where(x < 0, -root, root));
     },
     "x"},
    {"keras.sparse_sigmoid", [](const Value &x) { return min(max((x + 1) * 0.5, 0), 1); }, "x"},
    {"keras.sparse_plus",
     [](const Value &x) { return where(x <= -1, 0, where(x < 1, (x + 1) * (x + 1) * 0.25, x)); }, "x"},
};
const nn::Function squareplus("keras.squareplus", "x, b=4", by_formula([](const Arguments &a) {
                                const Value x = a.value("x");
                                return (x + sqrt(x * x + a.real("b"))) * 0.5;
                              }));

const nn::Function round("keras.round", "x, decimals=0", [](const Arguments &a) {
  const double by = std::pow(10.0, static_cast<double>(a.integer("decimals")));
  const Variable x = a.variable("x");
  return a.integer("decimals") == 0 || !is_real(x.value().type())
             ? call("round", {x})
             : call("div", {call("round", {call("mul", {x, by})}), by});
});

// ---- Of many. What is no number stands aside.

Variable instead_of_nan(const Arguments &a, double number) {
  return composed("nan_to_num", {a["x"], number, infinity, -infinity});
}
Variable is_number(const Arguments &a) { return composed("logical_not", {call("isnan", {a["x"]})}); }
// NaN where there is nothing else.
Argument or_nan(const Arguments &a, const Variable &y) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return call("where", {call("any", {is_number(a), a["axis"], a["keepdims"]}), y, scalar(nan, y)});
}
Argument without_nan(const Arguments &a, const char *name, double number) {
  return or_nan(a, composed(name, {instead_of_nan(a, number), a["axis"], a["keepdims"]}));
}
Argument along(const Arguments &a, const char *name, const Variable &x) {
  return a.has("axis") ? call(name, {x, a["axis"]}) : call(name, {reshape(x, {-1}), 0});
}
Variable nan_variance(const Arguments &a) {
  const Variable x = a.variable("x"), there = to_type(is_number(a), x.value().type());
  const Variable apart = composed("sub", {x, call("nanmean", {x, a["axis"], true})});
  return composed("div", {call("nansum", {square(apart), a["axis"], a["keepdims"]}),
                          call("sum", {there, a["axis"], a["keepdims"]})});
}
// Over several axes, which are one then.
Argument quantile_of(const Arguments &a, const char *name, const Argument &share) {
  const Variable x = a.variable("x");
  const Argument how = a.signature().has("method") ? a["method"] : Argument("linear");
  const auto *list = a["axis"].as<Argument::List>();
  if (!list) return call(name, {as_real(x), share, a["axis"], a["keepdims"]}, {{"interpolation", how}});
  const std::vector<int64_t> axes = axes_of(a, x.value().rank(), "axis");
  Shape order, kept, shape = x.shape();
  for (int64_t d = 0; d < x.value().rank(); ++d)
    if (!std::binary_search(axes.begin(), axes.end(), d)) order.push_back(d);
  for (int64_t d : order) kept.push_back(x.shape()[static_cast<size_t>(d)]);
  for (int64_t d : axes) shape[static_cast<size_t>(d)] = 1;
  order.insert(order.end(), axes.begin(), axes.end());
  kept.push_back(-1);
  Variable y = composed(name, {reshape(transpose(as_real(x), order), kept), share, -1}, {{"interpolation", how}});
  if (!a.flag("keepdims")) return y;
  if (y.shape().size() == kept.size()) shape.insert(shape.begin(), y.shape()[0]);
  return reshape(y, shape);
}
Argument hundredths(const Arguments &a) {
  if (!a["q"].as<Variable>()) return a.real("q") / 100;
  return as_real(a.variable("q")) / 100.0;
}
const char *const over_axes = "x, axis=None, keepdims=False";
const char *const of_percents = "x, q, axis=None, method='linear', keepdims=False";

const nn::Function of_many[] = {
    {"keras.nanmax", over_axes, [](const Arguments &a) { return without_nan(a, "amax", -infinity); }},
    {"keras.nanmin", over_axes, [](const Arguments &a) { return without_nan(a, "amin", infinity); }},
    {"keras.nanargmax", over_axes,
     [](const Arguments &a) {
       return call("argmax", {instead_of_nan(a, -infinity), a["axis"], a["keepdims"]});
     }},
    {"keras.nanargmin", over_axes,
     [](const Arguments &a) {
       return call("argmin", {instead_of_nan(a, infinity), a["axis"], a["keepdims"]});
     }},
    {"keras.nanprod", over_axes,
     [](const Arguments &a) {
       return call("prod", {instead_of_nan(a, 1), a["axis"], a["keepdims"]});
     }},
    {"keras.nancumsum", "x, axis=None, dtype=None",
     [](const Arguments &a) { return along(a, "cumsum", instead_of_nan(a, 0)); }},
    {"keras.nancumprod", "x, axis=None, dtype=None",
     [](const Arguments &a) { return along(a, "cumprod", instead_of_nan(a, 1)); }},
    {"keras.nanvar", over_axes, [](const Arguments &a) { return nan_variance(a); }},
    {"keras.nanstd", over_axes, [](const Arguments &a) { return sqrt(nan_variance(a)); }},
    {"keras.median", over_axes, [](const Arguments &a) { return quantile_of(a, "quantile", 0.5); }},
    {"keras.nanmedian", over_axes, [](const Arguments &a) { return quantile_of(a, "nanquantile", 0.5); }},
    {"keras.percentile", of_percents, [](const Arguments &a) { return quantile_of(a, "quantile", hundredths(a)); }},
    {"keras.nanpercentile", of_percents,
     [](const Arguments &a) { return quantile_of(a, "nanquantile", hundredths(a)); }},
    {"keras.ptp", over_axes,
     [](const Arguments &a) {
       return call(
           "sub", {call("amax", {a["x"], a["axis"], a["keepdims"]}), call("amin", {a["x"], a["axis"], a["keepdims"]})});
     }},
    {"keras.average", "x, axis=None, weights=None",
     [](const Arguments &a) {
       const Variable x = as_real(a.variable("x"));
       if (!a.has("weights")) return call("mean", {x, a["axis"]});
       Variable w = to_type(a.variable("weights"), x.value().type());
       if (w.shape() != x.shape()) {
         if (w.shape().size() != 1 || !a["axis"].as<int64_t>()) a.refuse("weights", "one for each, or along the axis");
         Shape shape(x.shape().size(), 1);
         shape[static_cast<size_t>(dimension(a.integer("axis"), x.value().rank(), a.owner()))] = w.shape()[0];
         w = expand(reshape(w, shape), x.shape());
       }
       return call("div", {call("sum", {x * w, a["axis"]}), call("sum", {w, a["axis"]})});
     }},
    {"keras.digitize", "x, bins",
     [](const Arguments &a) {
       return call("bucketize", {a["x"], a["bins"]}, {{"right", true}, {"out_int32", true}});
     }},
    {"keras.histogram", "x, bins=10, range=None",
     [](const Arguments &a) -> Argument {
       const Variable x = as_real(a.variable("x"));
       std::vector<double> ends = a.has("range") ? a.reals("range", 2) : std::vector<double>();
       if (ends.empty())
         for (const char *end : {"amin", "amax"}) ends.push_back(composed(end, {x}).value().item());
       if (ends[0] == ends[1]) ends = {ends[0] - 0.5, ends[1] + 0.5};
       return Argument::List{call("histc", {x, a["bins"], ends[0], ends[1]}),
                             call("keras.linspace", {ends[0], ends[1], a.integer("bins") + 1})};
     }},
    // Of vectors: each place of the second along the first, or of all that lie over it.
    {"keras.correlate", "x1, x2, mode='valid'",
     [](const Arguments &a) -> Argument {
       Operands o = promoted(a, "x1", "x2");
       const std::string &mode = a.word("mode", {"valid", "same", "full"});
       const bool turned = o.a.shape().at(0) < o.b.shape().at(0);
       if (turned) std::swap(o.a, o.b);
       const int64_t n = o.a.shape()[0], m = o.b.shape()[0];
       const int64_t before = mode == "valid" ? 0 : mode == "full" ? m - 1 : turned ? (m - 1) / 2 : m / 2;
       const int64_t behind = mode == "valid" ? 0 : mode == "full" ? m - 1 : m - 1 - before;
       const Variable padded = composed("pad", {reshape(as_real(o.a), {1, 1, n}), {before, behind}});
       const Variable y = reshape(composed("conv1d", {padded, reshape(as_real(o.b), {1, 1, m})}), {-1});
       return turned ? call("flip", {y, 0}) : Argument(y);
     }},
    // Of any ranks: the last of the first with the last but one of the second.
    {"keras.dot", "x1, x2",
     [](const Arguments &a) -> Argument {
       const Variable x = a.variable("x1"), y = a.variable("x2");
       if (x.shape().empty() || y.shape().empty()) return call("mul", {x, y});
       const int64_t to = y.shape().size() == 1 ? 0 : static_cast<int64_t>(y.shape().size()) - 2;
       return call("tensordot", {x, y, {{static_cast<int64_t>(x.shape().size()) - 1}, {to}}});
     }},
};

}  // namespace

const void *keras_numbers() { return keras_of_two; }

}  // namespace saltern::nn
