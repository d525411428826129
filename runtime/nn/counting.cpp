// Counts and sets: places among sorted numbers, histograms, what is not zero, what is there once.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"

namespace saltern::nn {

namespace {

// ---- Places among sorted numbers: how many are less, or not above.

const Function places_among("places_among", "sorted_sequence, input, right", by_formula([](const Arguments &a) {
                              using namespace formula;
                              const Value sorted = a.value("sorted_sequence"), x = a.value("input");
                              const bool right = a.flag("right"), is_one = sorted.rank() == 1;
                              return compute("places", x.extents(), [&](const Axes &at) {
                                return sum({sorted.extent(-1)}, [&](const Axes &s) {
                                  Axes from = at;
                                  if (is_one) from = {s[0]};
                                  if (!is_one) from.back() = s[0];
                                  const Expression e = sorted.at(from), v = x.at(at);
                                  return cast(Type::i64, right ? !(v < e) : !(v <= e));  // what is no number comes last
                                });
                              });
                            }));
Variable placed(const Arguments &a, const Variable &sorted, const Variable &x, bool right) {
  const Type type = common(sorted.type(), x.type());
  const Variable y = composed("places_among", {to_type(sorted, type), to_type(x, type), right});
  return a.flag("out_int32") ? to_type(y, Type::i32) : y;
}
Variable as_tensor(const Arguments &a, const char *name, const Variable &like) {
  return a[name].as<Variable>() ? a.variable(name) : scalar(a.real(name), like);
}
const Function searchsorted(
    "searchsorted", "sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None",
    [](const Arguments &a) {
      Variable sorted = a.variable("sorted_sequence");
      const Variable x = as_tensor(a, "input", sorted);
      if (a.has("sorter")) sorted = composed("gather", {sorted, -1, a["sorter"]});
      const bool right = a.has("side") ? a.word("side", {"left", "right"}) == "right" : a.flag("right");
      const Shape &s = sorted.shape(), &t = x.shape();
      if (s.empty() || (s.size() > 1 && (t.size() != s.size() || !std::equal(s.begin(), s.end() - 1, t.begin()))))
        a.refuse("sorted_sequence", "a vector, or rows as 'input' has");
      return placed(a, sorted, x, right);
    });
const Function bucketize("bucketize", "input, boundaries, *, out_int32=False, right=False", [](const Arguments &a) {
  const Variable bounds = a.variable("boundaries");
  if (bounds.shape().size() != 1) a.refuse("boundaries", "a vector");
  return placed(a, bounds, as_tensor(a, "input", bounds), a.flag("right"));
});

const Function isin("isin", "elements, test_elements, *, assume_unique=False, invert=False", [](const Arguments &a) {
  const bool is_tensor = a["elements"].as<Variable>() != nullptr;
  const Variable like = a.variable(is_tensor ? "elements" : "test_elements");
  const Variable x = as_tensor(a, "elements", like), all = reshape(as_tensor(a, "test_elements", like), {-1});
  Shape apart = x.shape();
  apart.push_back(1);
  const Variable there = composed("any", {call("eq", {reshape(x, apart), all}), -1});
  return a.flag("invert") ? composed("logical_not", {there}) : there;
});

// ---- Results that data decides the sizes of.

const Tensor &known(const Arguments &a, const char *name) {
  const Variable v = a.variable(name);
  if (v.value().is_outline()) fail(a.owner(), ": the result's size depends on data, which a graph has not");
  return v.value();
}
Tensor listed(const std::vector<int64_t> &all, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(all.size())};
  return Tensor::of<int64_t>(shape, all);
}

// Rows of indices.
Tensor places_not_zero(const Arguments &a) {
  const Tensor &x = known(a, "input");
  const std::vector<double> all = x.reals();
  std::vector<int64_t> rows;
  int64_t count = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == 0) continue;
    ++count;
    int64_t rest = static_cast<int64_t>(i);
    std::vector<int64_t> row(static_cast<size_t>(x.rank()));
    for (size_t d = row.size(); d-- > 0; rest /= x.shape()[d]) row[d] = rest % x.shape()[d];
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return listed(rows, {count, x.rank()});
}
const Function nonzero("nonzero", "input, *, as_tuple=False", [](const Arguments &a) -> Argument {
  const Variable x = a.variable("input");
  if (a.flag("as_tuple") && x.shape().empty())  // as PyTorch has it
    return call("nonzero", {reshape(x, {1})}, {{"as_tuple", true}});
  const Tensor rows = places_not_zero(a);
  return a.flag("as_tuple") ? call("unbind", {rows, 1}) : Argument(rows);
});
const Function argwhere("argwhere", "input", [](const Arguments &a) { return places_not_zero(a); });

Argument one_or_all(const Argument::List &all) { return all.size() == 1 ? all[0] : Argument(all); }

// What is no number comes last.
bool is_before(double a, double b) { return a < b || (a == a && b != b); }
bool is_before(int64_t a, int64_t b) { return a < b; }

// Slices along a dimension, or elements, each once, in order or as they come; which one each is, and how often.
template <typename Number>
Argument unique_among(const Arguments &a, bool consecutive, const Variable &x, int64_t d,
                      const std::vector<Number> &numbers) {
  const Variable given = a.variable("input");
  const bool flat = !a.has("dim");
  const int64_t count = x.shape()[static_cast<size_t>(d)];
  const size_t width = count == 0 ? 0 : numbers.size() / static_cast<size_t>(count);
  const auto row = [&](int64_t i) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(width) * i;
    return std::vector<Number>(begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  const auto comes_before = [&](int64_t i, int64_t j) {
    const std::vector<Number> one = row(i), other = row(j);
    return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end(),
                                        [](Number p, Number q) { return is_before(p, q); });
  };
  std::vector<int64_t> order(static_cast<size_t>(count)), first, which(order.size()), counts;
  std::iota(order.begin(), order.end(), 0);
  if (!consecutive) std::stable_sort(order.begin(), order.end(), comes_before);
  for (size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || row(order[k]) != row(order[k - 1])) {
      first.push_back(order[k]);
      counts.push_back(0);
    }
    ++counts.back();
    which[static_cast<size_t>(order[k])] = static_cast<int64_t>(first.size()) - 1;
  }
  Argument::List results = {call("index_select", {x, d, listed(first)})};
  if (a.flag("return_inverse")) results.push_back(reshape(listed(which), flat ? given.shape() : Shape{count}));
  if (a.flag("return_counts")) results.push_back(listed(counts));
  return one_or_all(results);
}
Argument unique_of(const Arguments &a, bool consecutive) {
  known(a, "input");
  const Variable given = a.variable("input"), x = a.has("dim") ? given : reshape(given, {-1});
  const int64_t d = a.has("dim") ? dimension(a.integer("dim"), x.rank(), a.owner()) : 0;
  const Tensor turned = composed("movedim", {x, d, 0}).value();
  return is_real(x.type()) ? unique_among(a, consecutive, x, d, turned.reals())
                           : unique_among(a, consecutive, x, d, turned.integers());
}
const Function unique("unique", "input, sorted=True, return_inverse=False, return_counts=False, dim=None",
                      [](const Arguments &a) { return unique_of(a, false); });
const Function unique_consecutive("unique_consecutive", "input, return_inverse=False, return_counts=False, dim=None",
                                  [](const Arguments &a) { return unique_of(a, true); });

// ---- Histograms.

const Function bincount("bincount", "input, weights=None, minlength=0", [](const Arguments &a) {
  const Tensor &x = known(a, "input");
  if (x.rank() != 1 || is_real(x.type())) a.refuse("input", "a vector of whole numbers");
  int64_t count = a.integer("minlength");
  for (int64_t i : x.integers()) {
    if (i < 0) a.refuse("input", "numbers of at least 0");
    count = std::max(count, i + 1);
  }
  const Variable weights = a.has("weights") ? a.variable("weights") : Variable(Tensor::full(x.shape(), 1, Type::i64));
  if (weights.shape() != x.shape()) a.refuse("weights", "one for each element");
  return composed("index_add", {Tensor::zeros({count}, weights.type()), 0, x, weights});
});

// So many bins between two bounds, which are those of the elements where they are equal; the last bin has its end.
const Function histc("histc", "input, bins=100, min=0, max=0", [](const Arguments &a) {
  const Tensor &x = known(a, "input");
  const std::vector<double> all = x.reals();
  const int64_t bins = a.integer("bins");
  if (bins < 1) a.refuse("bins", "1 or more");
  double low = a.real("min"), high = a.real("max");
  if (low == high && !all.empty()) {
    low = *std::min_element(all.begin(), all.end());
    high = *std::max_element(all.begin(), all.end());
  }
  if (low == high) low -= 1, high += 1;
  if (!(low < high) || !std::isfinite(high - low)) a.refuse("max", "finite, and not below 'min'");
  std::vector<double> counts(static_cast<size_t>(bins), 0);
  for (double v : all)
    if (v >= low && v <= high) {
      const auto bin = static_cast<int64_t>((v - low) / (high - low) * static_cast<double>(bins));
      ++counts[static_cast<size_t>(std::min(bin, bins - 1))];
    }
  return to_type(Tensor::of<double>({bins}, counts), x.type());
});

// The commonest along a dimension, the least of several, and its last place.
const Function mode("mode", "input, dim=-1, keepdim=False", [](const Arguments &a) -> Argument {
  const Variable given = a.variable("input"), x = given.shape().empty() ? reshape(given, {1}) : given;
  known(a, "input");
  const int64_t d = dimension(a.integer("dim"), x.rank(), a.owner());
  const int64_t extent = x.shape()[static_cast<size_t>(d)];
  if (extent == 0) a.refuse("input", "elements to choose from");
  const std::vector<double> all = composed("movedim", {x, d, -1}).value().reals();
  std::vector<int64_t> places;
  for (size_t begin = 0; begin < all.size(); begin += static_cast<size_t>(extent)) {
    std::map<double, int64_t> counts;
    for (int64_t i = 0; i < extent; ++i) ++counts[all[begin + static_cast<size_t>(i)]];
    const auto best = std::max_element(counts.begin(), counts.end(),
                                       [](const auto &p, const auto &q) { return p.second < q.second; });
    for (int64_t i = extent; i-- > 0;)
      if (all[begin + static_cast<size_t>(i)] == best->first) {
        places.push_back(i);
        break;
      }
  }
  Shape shape = x.shape();
  shape[static_cast<size_t>(d)] = 1;
  const Variable place = listed(places, shape), value = composed("gather", {x, d, place});
  const bool keeps = a.flag("keepdim") && !given.shape().empty();
  if (keeps) return Argument::List{value, place};
  shape.erase(shape.begin() + d);
  return Argument::List{reshape(value, shape), reshape(place, shape)};
});

// ---- Of rows of observations.

const Function cov("cov", "input, *, correction=1, fweights=None, aweights=None", [](const Arguments &a) {
  const Variable given = as_real(a.variable("input"));
  if (given.shape().size() > 2) a.refuse("input", "rows of observations, (variables, n)");
  const Variable x = given.shape().size() < 2 ? reshape(given, {1, -1}) : given;
  Variable w = expand(scalar(1, x), {x.shape()[1]});
  if (a.has("fweights")) w = w * to_type(a.variable("fweights"), x.type());
  Variable total = composed("sum", {w}), less = total * 0.0 + a.real("correction");
  if (a.has("aweights")) {
    const Variable by = to_type(a.variable("aweights"), x.type());
    w = w * by;
    less = composed("sum", {w * by}) * a.real("correction");
    total = composed("sum", {w});
    less = less / total;
  }
  const Variable d = x - composed("sum", {x * w, 1, true}) / total;
  const Variable norm = composed("clamp", {total - less, 0});
  const Variable y = matmul(d * w, composed("t", {d})) / norm;
  return y.size() == 1 ? reshape(y, {}) : y;
});
const Function corrcoef("corrcoef", "input", [](const Arguments &a) {
  const Variable c = composed("cov", {a["input"]});
  if (c.shape().empty()) return c / c;
  const Variable deviation = sqrt(composed("diagonal", {c}));
  return composed("clamp", {c / reshape(deviation, {-1, 1}) / deviation, -1, 1});
});

const Function combinations("combinations", "input, r=2, with_replacement=False", [](const Arguments &a) {
  const Variable x = a.variable("input");
  if (x.shape().size() != 1) a.refuse("input", "a vector");
  const int64_t r = a.integer("r"), count = x.shape()[0];
  const bool again = a.flag("with_replacement");
  if (r < 0) a.refuse("r", "0 or more");
  if (r == 0) return Variable(Tensor::zeros({0}, x.type()));
  std::vector<int64_t> all, chosen(static_cast<size_t>(r));
  const std::function<void(size_t, int64_t)> choose = [&](size_t place, int64_t from) {
    if (place == chosen.size()) {
      all.insert(all.end(), chosen.begin(), chosen.end());
      return;
    }
    for (int64_t i = from; i < count; ++i) {
      chosen[place] = i;
      choose(place + 1, again ? i : i + 1);
    }
  };
  choose(0, 0);
  return reshape(composed("index_select", {x, 0, listed(all)}), {static_cast<int64_t>(all.size()) / r, r});
});

}  // namespace

const void *counting() { return &searchsorted; }

}  // namespace saltern::nn
