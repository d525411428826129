// Tensors with some elements written over, or added to, at places that indices and masks name.
//
// All places are numbers of elements: what selects from a tensor, selects from the numbers of its elements, too. They are
// known when a function is called, so that what ends at a place is found once; the rest is selecting, as are gradients.

#include <algorithm>
#include <limits>
#include <numeric>

#include "algorithms/pooling.h"
#include "algorithms/ranking.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/reduction.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"
#include "runtime/tensor/strided.h"

namespace saltern::nn {

namespace {

using Places = std::vector<int64_t>;

Tensor listed(const Places &all) { return Tensor::of<int64_t>({static_cast<int64_t>(all.size())}, all); }

// The numbers of x's elements, in its shape.
Tensor numbers_of(const Variable &x) {
  Places all(static_cast<size_t>(x.size()));
  std::iota(all.begin(), all.end(), 0);
  return Tensor::of<int64_t>(x.shape(), all);
}

const Tensor &known(const Arguments &a, const Variable &v) {
  if (v.value().is_outline()) fail(a.owner(), ": where elements are written depends on data, which a graph has not");
  return v.value();
}

// x with `from`, an element for each place; the last one of several.
Variable written(const Arguments &a, const Variable &x, const Variable &places, const Variable &from) {
  Places winner(static_cast<size_t>(x.size()), -1);
  std::vector<uint8_t> is_hit(winner.size(), 0);
  int64_t next = 0;
  for (int64_t p : known(a, places).integers()) winner[static_cast<size_t>(p)] = next++;
  if (next == 0) return x;
  for (size_t i = 0; i < winner.size(); ++i) {
    is_hit[i] = winner[i] >= 0;
    winner[i] = std::max<int64_t>(winner[i], 0);
  }
  const Variable hits = composed("ne", {Tensor::of<uint8_t>(x.shape(), is_hit), 0});
  const Variable news = composed("index_select", {reshape(to_type(from, x.type()), {-1}), 0, listed(winner)});
  return composed("where", {hits, reshape(news, x.shape()), x});
}

// x with these added, each at its place.
Variable added(const Variable &x, const Variable &places, const Variable &from) {
  const Variable flat =
      composed("scatter_add", {reshape(x, {-1}), 0, reshape(places, {-1}), reshape(to_type(from, x.type()), {-1})});
  return reshape(flat, x.shape());
}

// A tensor, or a number, as one of this shape.
Variable spread(const Arguments &a, const char *name, const Variable &like, const Shape &shape) {
  const Variable v = a[name].as<Variable>() ? a.variable(name) : scalar(a.real(name), like);
  return expand(v, shape);
}

// ---- Selecting.

const Function take("take", "input, index", [](const Arguments &a) {
  const Variable index = a.variable("index"), x = reshape(a.variable("input"), {-1});
  return reshape(composed("index_select", {x, 0, reshape(index, {-1})}), index.shape());
});
const Function take_along_dim("take_along_dim", "input, indices, dim=None", [](const Arguments &a) {
  const Variable x = a.variable("input"), index = a.variable("indices");
  if (!a.has("dim")) return composed("gather", {reshape(x, {-1}), 0, reshape(index, {-1})});
  const auto d = static_cast<size_t>(dimension(a.integer("dim"), x.rank(), a.owner()));
  if (index.shape().size() != x.shape().size()) a.refuse("indices", "a tensor of the input's rank");
  Shape of_x = x.shape(), of_index = index.shape();
  of_x[d] = of_index[d] = 1;
  Shape common = broadcast_shape(of_x, of_index, a.owner()), of_both = common;
  common[d] = x.shape()[d];
  of_both[d] = index.shape()[d];
  return composed("gather", {expand(x, common), static_cast<int64_t>(d), expand(index, of_both)});
});

// The numbers of the elements where a mask is true.
Places where_true(const Arguments &a, const Variable &mask) {
  Places all;
  int64_t number = 0;
  for (double e : known(a, mask).reals()) {
    if (e != 0) all.push_back(number);
    ++number;
  }
  return all;
}
const Function masked_select("masked_select", "input, mask", [](const Arguments &a) {
  const Variable x = a.variable("input"), mask = a.variable("mask");
  const Shape shape = broadcast_shape(x.shape(), mask.shape(), a.owner());
  const Places all = where_true(a, expand(mask, shape));
  return composed("index_select", {reshape(expand(x, shape), {-1}), 0, listed(all)});
});
const Function masked_scatter("masked_scatter", "input, mask, source", [](const Arguments &a) {
  const Variable x = a.variable("input"), mask = a.variable("mask"), from = reshape(a.variable("source"), {-1});
  const Shape shape = broadcast_shape(x.shape(), mask.shape(), a.owner());
  const Places all = where_true(a, expand(mask, shape));
  const auto count = static_cast<int64_t>(all.size());
  if (from.shape()[0] < count) a.refuse("source", "at least " + std::to_string(count) + " elements");
  return written(a, expand(x, shape), listed(all), slice(from, 0, 0, count));
});

// ---- Along a dimension, by the numbers of its elements.

// Places of index_select(input, dim, index), and source in their shape.
Variable rows_of(const Arguments &a, const Variable &x) {
  return composed("index_select", {numbers_of(x), a["dim"], a["index"]});
}
// A number has a dimension 0 to PyTorch.
Variable at_least_a_vector(const Variable &x) { return x.shape().empty() ? reshape(x, {1}) : x; }

using Written = Variable (*)(const Arguments &a, const Variable &x, const Variable &places);
Function::Body over_rows(Written f) {
  return [f](const Arguments &a) {
    const Variable x = at_least_a_vector(a.variable("input")), index = at_least_a_vector(a.variable("index"));
    const Arguments with = a.with("index", index);
    return reshape(f(with, x, rows_of(with, x)), a.variable("input").shape());
  };
}
Variable source_in(const Arguments &a, const Variable &places, const char *name) {
  const Variable from = at_least_a_vector(a.variable(name));
  if (from.shape() != places.shape()) a.refuse(name, "a tensor of " + to_string(places.shape()));
  return from;
}
const Function index_copy("index_copy", "input, dim, index, source",
                          over_rows([](const Arguments &a, const Variable &x, const Variable &places) {
                            return written(a, x, places, source_in(a, places, "source"));
                          }));
const Function index_fill("index_fill", "input, dim, index, value",
                          over_rows([](const Arguments &a, const Variable &x, const Variable &places) {
                            return written(a, x, places, spread(a, "value", x, places.shape()));
                          }));
const Function index_add("index_add", "input, dim, index, source, *, alpha=1",
                         over_rows([](const Arguments &a, const Variable &x, const Variable &places) {
                           const Variable from = source_in(a, places, "source");
                           return added(x, places, a.real("alpha") == 1 ? from : from * a.real("alpha"));
                         }));

// ---- By numbers of elements, and by indices of several dimensions.

const Function put("put", "input, index, source, accumulate=False", [](const Arguments &a) {
  const Variable x = a.variable("input"), places = take.call({numbers_of(x), a["index"]}).as<Variable>()[0];
  if (a.variable("source").size() != places.size()) a.refuse("source", "an element for each index");
  return a.flag("accumulate") ? added(x, places, a.variable("source")) : written(a, x, places, a.variable("source"));
});
const Function index_put("index_put", "input, indices, values, accumulate=False", [](const Arguments &a) {
  const Variable x = a.variable("input");
  std::vector<int64_t> dims;
  std::vector<Variable> indices;
  for (const Variable &i : a.variables("indices")) {
    if (i.type() != Type::boolean) {
      dims.push_back(static_cast<int64_t>(dims.size()));
      indices.push_back(i);
      continue;
    }
    // A mask names elements of as many dimensions as it has.
    const Places all = where_true(a, i);
    int64_t inner = i.size();
    for (int64_t extent : i.shape()) {
      inner /= std::max<int64_t>(extent, 1);
      Places along;
      for (int64_t p : all) along.push_back(p / std::max<int64_t>(inner, 1) % extent);
      dims.push_back(static_cast<int64_t>(dims.size()));
      indices.push_back(listed(along));
    }
  }
  const Variable places = composed("index", {numbers_of(x), dims, indices});
  const Variable from = spread(a, "values", x, places.shape());
  return a.flag("accumulate") ? added(x, places, from) : written(a, x, places, from);
});

// ---- Element by element along a dimension.

struct Scattered {
  Variable x, index, places, from;

  explicit Scattered(const Arguments &a, const char *source)
      : x(at_least_a_vector(a.variable("input"))), index(at_least_a_vector(a.variable("index"))) {
    places = index.size() == 0 ? index : composed("gather", {numbers_of(x), a["dim"], index});
    if (!a[source].as<Variable>()) {
      from = expand(scalar(a.real(source), x), index.shape());
      return;
    }
    from = at_least_a_vector(a.variable(source));
    for (size_t d = 0; d < index.shape().size(); ++d) {
      if (from.shape().size() != index.shape().size() || from.shape()[d] < index.shape()[d])
        a.refuse(source, "a tensor of the index's rank, no smaller");
      from = slice(from, static_cast<int64_t>(d), 0, index.shape()[d]);
    }
  }
};

// Products and extremes: each element looks through those of the source that may end at it.
const Function gathered_into(
    "scatter_reduced_along", "input, dim, index, src, reduce, include_self", by_formula([](const Arguments &a) {
      using namespace formula;
      using F = formula::Function;
      const Value x = a.value("input"), index = a.value("index"), from = a.value("src");
      const int d = static_cast<int>(a.integer("dim"));
      const std::string &how = a.word("reduce");
      const F all = how == "prod" ? F::product : how == "amax" ? F::greatest : F::least;
      const F both = how == "prod" ? F::multiply : how == "amax" ? F::maximum : F::minimum;
      const double least = algorithms::lowest(x.type());
      const Expression none =
          how == "prod"       ? constant(x.type(), 1)
          : how == "amax"     ? constant(x.type(), least)
          : is_real(x.type()) ? constant(x.type(), -least)
                              // The greatest whole number, which a double may not hold; of natural ones, it wraps.
                              : constant(x.type(), least == 0 ? 0 : -1) - constant(x.type(), least == 0 ? 1 : least);
      const auto over = [&](const Axes &at, F f, const Expression &miss, bool counts) {
        return reduce_open(f, {index.extent(d)}, [&](const Axes &s) {
          const Axes row = algorithms::with_index(at, d, s[0]);
          Expression hit = formula::cast(Type::i64, index.at(row)) == at[static_cast<size_t>(d)];
          for (int e = 0; e < x.rank(); ++e)
            if (e != d) hit = hit && at[static_cast<size_t>(e)] < index.extent(e);
          return formula::select(hit, counts ? constant(x.type(), 1) : from.at(row), miss);
        });
      };
      const Value found = compute("found", x.extents(), [&](const Axes &at) { return over(at, all, none, false); });
      const Value many =
          compute("many", x.extents(), [&](const Axes &at) { return over(at, F::sum, constant(x.type(), 0), true); });
      return where(many == 0, x, a.flag("include_self") ? map(both, x, found) : found);
    }));

Variable scatter_reduced(const Arguments &a, const Scattered &s, const std::string &how, bool include_self) {
  if (s.index.size() == 0) return s.x;
  const Variable ones = expand(scalar(1, s.x), s.from.shape());
  if (how == "sum" || how == "mean") {
    const Variable begin = include_self ? s.x : written(a, s.x, s.places, ones * 0.0);
    const Variable total = added(begin, s.places, s.from);
    if (how == "sum") return total;
    const Variable start = expand(scalar(1, s.x), s.x.shape());
    const Variable count = added(include_self ? start : written(a, start, s.places, ones * 0.0), s.places, ones);
    return composed("div", {total, count}, is_real(s.x.type()) ? Named() : Named{{"rounding_mode", "floor"}});
  }
  const int64_t d = dimension(a.integer("dim"), s.x.rank(), a.owner());
  return composed("scatter_reduced_along", {s.x, d, s.index, s.from, how, include_self});
}

const Function scatter("scatter", "input, dim, index, src=None, *, value=None, reduce=None", [](const Arguments &a) {
  const Scattered s(a, a.has("src") ? "src" : "value");
  const Shape shape = a.variable("input").shape();
  if (!a.has("reduce")) return reshape(written(a, s.x, s.places, s.from), shape);
  const bool adds = a.word("reduce", {"add", "multiply"}) == "add";
  return reshape(scatter_reduced(a, s, adds ? "sum" : "prod", true), shape);
});
const Function scatter_reduce("scatter_reduce", "input, dim, index, src, reduce, *, include_self=True",
                              [](const Arguments &a) {
                                const std::string &how = a.word("reduce", {"sum", "prod", "mean", "amax", "amin"});
                                return reshape(scatter_reduced(a, Scattered(a, "src"), how, a.flag("include_self")),
                                               a.variable("input").shape());
                              });
const Function index_reduce("index_reduce", "input, dim, index, source, reduce, *, include_self=True",
                            [](const Arguments &a) {
                              const Variable x = at_least_a_vector(a.variable("input")),
                                             from = at_least_a_vector(a.variable("source"));
                              const std::string &how = a.word("reduce", {"prod", "mean", "amax", "amin"});
                              const auto d = static_cast<size_t>(dimension(a.integer("dim"), x.rank(), a.owner()));
                              Shape row(x.shape().size(), 1);
                              row[d] = -1;
                              const Variable index = expand(reshape(a.variable("index"), row), from.shape());
                              return reshape(composed("scatter_reduce", {x, static_cast<int64_t>(d), index, from, how},
                                                      {{"include_self", a["include_self"]}}),
                                             a.variable("input").shape());
                            });

}  // namespace

const void *writing() { return &take; }

}  // namespace saltern::nn
