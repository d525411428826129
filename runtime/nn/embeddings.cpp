// Rows of a table, by their numbers.

#include <algorithm>
#include <limits>

#include "algorithms/distances.h"
#include "runtime/autograd/formula_operation.h"
#include "runtime/autograd/sparse.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/losses.h"

namespace saltern::nn {

namespace {

using namespace formula;

int64_t rows_of(const Arguments &a) {
  if (a.variable("weight").shape().size() != 2) a.refuse("weight", "a table (rows, numbers)");
  return a.variable("weight").shape()[0];
}

// The row without a gradient; -1 where there is none.
int64_t padding(const Arguments &a, int64_t rows) {
  if (!a.has("padding_idx")) return -1;
  const int64_t given = a.integer("padding_idx");
  if (given < -rows || given >= rows) a.refuse("padding_idx", "one of " + std::to_string(rows) + " rows");
  return given < 0 ? given + rows : given;
}

// Rows that are asked for become no longer than `most`, in the table itself, as PyTorch has it.
const Operation shortened("shortened_rows", [](const Values &in, const Attributes &a) -> Values {
  const Value &w = in.at(0), &places = in.at(1);
  const Value length = algorithms::norm(w, {1}, a.real("norm_type"));
  const Value used = compute("used", {w.extent(0), 1}, [&](const Axes &at) {
    return sum({places.extent(0)}, [&](const Axes &i) { return cast(Type::i64, places(i[0]) == at[0]); });
  });
  const double most = a.real("max_norm");
  return {where(used > 0 && length > most, w * (most / (length + 1e-7)), w)};
});

Variable flat_indices(const Variable &places) { return reshape(places, {places.size()}); }

void shorten(const Arguments &a) {
  if (!a.has("max_norm")) return;
  const NoGradient guard;
  const Variable w = a.variable("weight");
  const Variable next = apply_one(shortened, {w, flat_indices(a.variable("input"))},
                                  {{"max_norm", a.real("max_norm")}, {"norm_type", a.real("norm_type")}});
  w.value().copy_from(next.value());
  w.value().written();
}

// A row's numbers, whose gradient may be none, or a share: one over how often the row is asked for.
struct Row {
  const Value &table, &places;  // places(i), all of them
  int64_t padding;
  bool by_frequency;

  Expression at(const Expression &place, const Expression &number) const {
    const Expression row = table(place, number), fixed = call(formula::Function::stopped, row);
    Expression read = row;
    if (by_frequency) {
      const Expression often =
          sum({places.extent(0)}, [&](const Axes &i) { return cast(table.type(), places(i[0]) == place); });
      read = fixed + (row - fixed) / often;
    }
    return padding < 0 ? read : select(place == padding, fixed, read);
  }
};

const std::string of_tables = "padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False";

// (places(i), table) -> (i, numbers)
const Operation rows_at("rows_at", [](const Values &in, const Attributes &a) -> Values {
  const Value places = cast(Type::i64, in.at(0));
  const Row row = {in.at(1), places, a.integer("padding"), a.integer("by_frequency") != 0};
  return {compute("rows", {places.extent(0), in[1].extent(1)},
                  [&](Expression i, Expression e) { return row.at(places(i), e); })};
});

// The same, whose gradient is of the rows that were read, unless that is recorded in its turn.
bool is_sparse(const Arguments &a) {
  const Variable w = a.variable("weight");
  if (!a.flag("sparse")) return false;
  if (a.flag("scale_grad_by_freq")) a.refuse("scale_grad_by_freq", "False where 'sparse' is True");
  return recording_mode() == RecordingMode::where_needed && w.requires_gradient() && w.is_leaf();
}
const Operation sparse_rows_at(
    "embedding.rows",
    [](const std::vector<Tensor> &in, const Attributes &a) { return computed_by_formula(rows_at, in, a); },
    rows_at.algorithm,
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      if (recording_mode() != RecordingMode::off) return derived_gradient(sparse_rows_at, t, dy);
      std::vector<RowShare> shares;
      int64_t from = 0;
      for (const int64_t place : t.input(0).value().integers()) {
        if (place != t.attributes().integer("padding")) shares.push_back({place, from});
        ++from;
      }
      return {Variable(), sparse_gradient(t.shape(1), shares, dy[0].value())};
    });

const Function embedding("embedding", "input, weight, " + of_tables, [](const Arguments &a) {
  const int64_t rows = rows_of(a), without = padding(a, rows);
  expect_indices(a, "input", rows);
  shorten(a);
  const Variable places = a.variable("input"), w = a.variable("weight");
  const Variable y = apply_one(is_sparse(a) ? sparse_rows_at : rows_at, {flat_indices(places), w},
                               {{"padding", without}, {"by_frequency", int64_t{a.flag("scale_grad_by_freq")}}});
  Shape shape = places.shape();
  shape.push_back(w.shape()[1]);
  return reshape(y, shape);
});

// Normal numbers, or a table that is given; 0 in the row without a gradient.
void make_table(Layer &self) {
  const Arguments &a = self.made_with();
  const Shape shape = {a.integer("num_embeddings"), a.integer("embedding_dim")};
  if (shape[0] < 1 || shape[1] < 0) a.refuse("num_embeddings", "at least one row");
  const int64_t without = padding(a, shape[0]);
  const bool freezes = a.signature().has("_freeze") && a.flag("_freeze");
  if (const Variable given = a.variable_if_given("_weight"); given.defined()) {
    if (given.shape() != shape) a.refuse("_weight", "a table " + to_string(shape));
    return self.parameter("weight", Variable(given.value(), !freezes));
  }
  const Tensor table = normal_parameter(shape).value();
  if (without >= 0)
    for (int64_t e = 0; e < shape[1]; ++e) table.at<float>({without, e}) = 0;
  self.parameter("weight", Variable(table, !freezes));
}

const LayerRow embedding_layer("Embedding",
                               "num_embeddings, embedding_dim, " + of_tables + ", _weight=None, _freeze=False",
                               calls("embedding"), make_table);

// ---- Bags: the sum, mean or maximum of rows. Bag b has the places from starts(b) on and before ends(b).

const Operation bags("bags", [](const Values &in, const Attributes &a) -> Values {
  const Value places = cast(Type::i64, in.at(0)), &w = in.at(1), &starts = in.at(2), &ends = in.at(3);
  const int64_t without = a.integer("padding");
  const Row row = {w, places, -1, a.integer("by_frequency") != 0};
  const Expression longest = a.integer("longest"), last = places.extent(0) - 1;
  const auto place = [&](const Expression &b, const Expression &i) { return places(min(starts(b) + i, last)); };
  const auto counts = [&](const Expression &b, const Expression &i) {
    const Expression inside = starts(b) + i < ends(b);
    return without < 0 ? inside : inside && !(place(b, i) == without);
  };
  const Value count = compute("count", {starts.extent(0)}, [&](const Axes &b) {
    return sum({longest}, [&](const Axes &i) { return cast(w.type(), counts(b[0], i[0])); });
  });
  const std::string &mode = a.word("mode");
  const bool greatest_of = mode == "max";
  const Value all = compute("bags", {starts.extent(0), w.extent(1)}, [&](Expression b, Expression e) {
    const auto f = greatest_of ? formula::Function::greatest : formula::Function::sum;
    return reduce_open(f, {longest}, [&](const Axes &i) {
      const Expression number = row.at(place(b, i[0]), e);
      const Expression scaled = in.size() > 4 ? number * in[4](min(starts(b) + i[0], last)) : number;
      const double none = greatest_of ? -std::numeric_limits<double>::infinity() : 0;
      return select(counts(b, i[0]), scaled, constant(w.type(), none));
    });
  });
  return {inlined(all.extents(), [&](const Axes &at) {
    const Expression zero = constant(w.type(), 0), n = count(at[0]);
    if (greatest_of) return select(n > 0, all.at(at), zero);
    return mode == "mean" ? all.at(at) / max(n, constant(w.type(), 1)) : all.at(at);
  })};
});

// A row has the gradient of each bag that it is in.
const Operation sparse_bags(
    "embedding.bags",
    [](const std::vector<Tensor> &in, const Attributes &a) { return computed_by_formula(bags, in, a); }, bags.algorithm,
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      if (recording_mode() != RecordingMode::off || t.needs(4)) return derived_gradient(sparse_bags, t, dy);
      const auto numbers = [&](size_t i) { return t.input(i).value().integers(); };
      const std::vector<int64_t> places = numbers(0), starts = numbers(2), ends = numbers(3);
      const std::vector<double> factors = t.input_count() > 4 ? t.input(4).value().reals() : std::vector<double>();
      const int64_t without = t.attributes().integer("padding");
      std::vector<RowShare> shares;
      for (size_t b = 0; b < starts.size(); ++b) {
        const auto begin = places.begin() + starts[b], end = places.begin() + ends[b];
        const auto count = static_cast<double>(end - begin - std::count(begin, end, without));
        for (auto i = static_cast<size_t>(starts[b]); i < static_cast<size_t>(ends[b]); ++i)
          if (places[i] != without)
            shares.push_back({places[i], static_cast<int64_t>(b),
                              t.attributes().word("mode") == "mean" ? 1 / count
                              : factors.empty()                     ? 1
                                                                    : factors[i]});
      }
      std::vector<Variable> d(t.input_count());
      d[1] = sparse_gradient(t.shape(1), shares, dy[0].value());
      return d;
    });

// Where each bag begins and ends among all places: rows of a matrix, or by offsets.
struct Ranges {
  std::vector<int64_t> starts, ends;
};

Ranges ranges_of(const Arguments &a) {
  const Variable places = a.variable("input");
  const int64_t count = places.size();
  Ranges r;
  if (places.shape().size() == 2) {
    if (a.has("offsets")) a.refuse("offsets", "None, as each row of 'input' is a bag");
    for (int64_t b = 0; b < places.shape()[0]; ++b) {
      r.starts.push_back(b * places.shape()[1]);
      r.ends.push_back((b + 1) * places.shape()[1]);
    }
    return r;
  }
  if (places.shape().size() != 1) a.refuse("input", "indices (N), with offsets, or bags (B, N)");
  if (!a.has("offsets")) a.refuse("offsets", "where bags begin, as 'input' has one dimension");
  r.starts = a.variable("offsets").value().integers();
  r.ends.assign(r.starts.begin() + (r.starts.empty() ? 0 : 1), r.starts.end());
  if (a.flag("include_last_offset")) {
    if (r.starts.empty()) a.refuse("offsets", "at least the last one");
    r.starts.pop_back();
  } else if (!r.starts.empty()) {
    r.ends.push_back(count);
  }
  if (!r.starts.empty() && r.starts[0] != 0) a.refuse("offsets", "0 as the first");
  for (size_t b = 0; b < r.starts.size(); ++b)
    if (r.starts[b] > r.ends[b] || r.ends[b] > count)
      a.refuse("offsets", "increasing numbers of at most " + std::to_string(count));
  return r;
}

const Function embedding_bag(
    "embedding_bag",
    "input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode='mean', sparse=False, "
    "per_sample_weights=None, include_last_offset=False, padding_idx=None",
    [](const Arguments &a) {
      const int64_t rows = rows_of(a);
      expect_indices(a, "input", rows);
      const std::string mode = a.word("mode", {"sum", "mean", "max"});
      const Variable weights = a.variable_if_given("per_sample_weights");
      if (weights.defined() && mode != "sum") a.refuse("per_sample_weights", "None, unless 'mode' is 'sum'");
      if (weights.defined() && weights.shape() != a.variable("input").shape())
        a.refuse("per_sample_weights", "a tensor of the shape of 'input'");
      const Ranges r = ranges_of(a);
      shorten(a);
      int64_t longest = 1;
      for (size_t b = 0; b < r.starts.size(); ++b) longest = std::max(longest, r.ends[b] - r.starts[b]);
      const auto tensor = [](const std::vector<int64_t> &v) {
        return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, v);
      };
      Variable places = flat_indices(a.variable("input"));
      if (places.size() == 0) places = Tensor::zeros({1}, Type::i64);
      std::vector<Variable> in = {places, a.variable("weight"), tensor(r.starts), tensor(r.ends)};
      if (weights.defined()) in.push_back(flat_indices(weights));
      if (a.flag("sparse") && mode == "max") a.refuse("mode", "'sum' or 'mean' where 'sparse' is True");
      return apply_one(is_sparse(a) ? sparse_bags : bags, in,
                       {{"mode", mode},
                        {"longest", longest},
                        {"padding", padding(a, rows)},
                        {"by_frequency", int64_t{a.flag("scale_grad_by_freq")}}});
    });
const LayerRow embedding_bag_layer(
    "EmbeddingBag",
    "num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode='mean', sparse=False, "
    "_weight=None, include_last_offset=False, padding_idx=None",
    calls("embedding_bag", "input, offsets=None, per_sample_weights=None"), make_table);

// 1 at the place that each index names.
const Operation one_hot_of("one_hot_of", [](const Values &in, const Attributes &a) -> Values {
  std::vector<Expression> extents = in.at(0).extents();
  extents.emplace_back(a.integer("classes"));
  return {inlined(extents, [&](Axes at) {
    const Expression c = at.back();
    at.pop_back();
    return cast(Type::i64, cast(Type::i64, in[0].at(at)) == c);
  })};
});
const Function one_hot("one_hot", "input, num_classes=-1", [](const Arguments &a) {
  const Variable x = a.variable("input");
  int64_t classes = a.integer("num_classes");
  if (classes < 0) {
    if (x.size() == 0) a.refuse("num_classes", "a number, where there are no indices");
    for (int64_t i : x.value().integers()) classes = std::max(classes, i + 1);
  }
  expect_indices(a, "input", classes);
  return apply_one(one_hot_of, {x}, {{"classes", classes}});
});

}  // namespace

const void *embeddings() { return &embedding; }

}  // namespace saltern::nn
