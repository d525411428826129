// TfIdfVectorizer: how often runs of numbers or texts that a pool lists occur in each row.

#include <algorithm>
#include <limits>
#include <map>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/text_numbers.h"

namespace saltern {

namespace {

using formula::Function;

using Items = std::vector<int64_t>;
using Pool = std::map<Items, int64_t>;  // the number of each n-gram, counted over the whole pool

struct Lengths {
  int64_t least, most, skips;
};

// `starts` says where the n-grams of 1, 2, ... items begin.
Pool pool_of(const Items &items, const std::vector<int64_t> &starts) {
  Pool pool;
  int64_t number = 0;
  for (size_t n = 0; n < starts.size(); ++n) {
    const int64_t end = n + 1 < starts.size() ? starts[n + 1] : static_cast<int64_t>(items.size());
    const auto length = static_cast<int64_t>(n) + 1;
    if (starts[n] < 0 || end < starts[n] || end > static_cast<int64_t>(items.size()) || (end - starts[n]) % length != 0)
      fail("its ngram_counts do not fit a pool of ", items.size());
    for (int64_t at = starts[n]; at < end; at += length)
      pool.emplace(Items(items.begin() + at, items.begin() + at + length), number++);
  }
  return pool;
}

void count_row(const int64_t *row, int64_t size, const Pool &pool, const Lengths &lengths,
               const std::vector<int64_t> &places, int64_t *counts) {
  for (int64_t skip = 0; skip <= lengths.skips; ++skip)
    for (int64_t first = 0; first < size; ++first) {
      Items run;
      for (int64_t at = first; at < size && static_cast<int64_t>(run.size()) < lengths.most; at += skip + 1) {
        run.push_back(row[at]);
        const auto length = static_cast<int64_t>(run.size());
        // A single item skips nothing: it counts once.
        if (length < lengths.least || (length == 1 && skip > 0)) continue;
        const auto found = pool.find(run);
        if (found != pool.end()) ++counts[places.at(static_cast<size_t>(found->second))];
      }
    }
}

// What the node makes of a matrix of items.
struct Counting {
  int64_t rows, size, width;
  Lengths lengths;
  Shape shape;                  // of the result
  bool once;                    // whether an n-gram is there, not how often
  std::vector<int64_t> places;  // of the pool's n-grams in the result
  Tensor weights;               // of places
};

Counting counting_of(const Attributes &a, const Shape &x) {
  if (x.size() > 2) fail("its input has the shape ", to_string(x), "; expected [C] or [N, C]");
  const std::string mode = one_of({"TF", "IDF", "TFIDF"}, "mode", a.word("mode"));
  const std::vector<int64_t> &places = a.integers("ngram_indexes");
  const auto [first, last] = std::minmax_element(places.begin(), places.end());
  if (places.empty() || *first < 0 || *last >= std::numeric_limits<int32_t>::max())
    fail("its ngram_indexes are no places");
  Counting c = {x.size() == 2 ? x[0] : 1,
                x.empty() ? 1 : x.back(),
                *last + 1,
                {a.integer("min_gram_length"), a.integer("max_gram_length"), a.integer("max_skip_count")},
                {},
                mode == "IDF",
                places,
                Tensor::zeros({*last + 1}, Type::f64)};
  c.shape = x.size() == 2 ? Shape{c.rows, c.width} : Shape{c.width};
  if (c.lengths.skips < 0) fail("its max_skip_count is ", c.lengths.skips);
  c.lengths.skips = std::min(c.lengths.skips, c.size);  // longer ones leave the row
  // Weights are those of the pool's n-grams; a place has the weight of its n-gram.
  double *weights = c.weights.data<double>();
  std::fill_n(weights, c.width, 1);
  if (mode != "TF" && a.has("weights")) {
    const std::vector<double> &given = a.reals("weights");
    if (given.size() != places.size()) fail(given.size(), " weights for ", places.size(), " n-grams");
    for (size_t i = 0; i < places.size(); ++i) weights[places[i]] = given[i];
  }
  return c;
}

// x is of i64, row-major.
Tensor counted(const Tensor &x, const Items &items, const Attributes &a) {
  const Counting c = counting_of(a, x.shape());
  const Pool pool = pool_of(items, a.integers("ngram_counts"));
  const Tensor y = Tensor::empty(c.shape);
  std::vector<int64_t> counts(static_cast<size_t>(c.width));
  for (int64_t row = 0; row < c.rows; ++row) {
    std::fill(counts.begin(), counts.end(), 0);
    count_row(x.data<int64_t>() + row * c.size, c.size, pool, c.lengths, c.places, counts.data());
    for (int64_t i = 0; i < c.width; ++i) {
      const int64_t found = counts[static_cast<size_t>(i)], count = c.once ? std::min<int64_t>(found, 1) : found;
      y.data<float>()[row * c.width + i] = static_cast<float>(static_cast<double>(count) * c.weights.data<double>()[i]);
    }
  }
  return y;
}

std::vector<HostValue> count_ngrams(const HostCall &c) {
  const Attributes &a = c.attributes();
  const Tensor &x = c.tensor(0);
  if (x.type() != Type::text)
    return {counted(Tensor::of<int64_t>(x.shape(), x.integers()), a.integers("pool_int64s"), a)};
  TextNumbers numbers;
  const Items pool = numbers.of(list_of(a.words("pool_strings"))).integers();
  return {counted(numbers.of(x), pool, a)};
}

// The n-grams that count for each place, in a table: items(place, k, i) and their lengths, which are 0 where there is
// no k-th.
struct Table {
  int64_t deepest = 0, longest = 0;
  Tensor items, lengths;
};

constexpr int64_t most_items = 64;  // of an n-gram: each is a term of the formula

Table table_of(const Counting &c, const Pool &pool) {
  Table t;
  std::map<int64_t, std::vector<const Items *>> all;  // by place
  for (const auto &[gram, number] : pool) {
    const auto length = static_cast<int64_t>(gram.size());
    if (length < c.lengths.least || length > c.lengths.most) continue;
    auto &here = all[c.places.at(static_cast<size_t>(number))];
    here.push_back(&gram);
    t.deepest = std::max(t.deepest, static_cast<int64_t>(here.size()));
    t.longest = std::max(t.longest, length);
  }
  if (t.longest > most_items) unsupported("n-grams of ", t.longest, " items; a formula has ", most_items, " at most");
  t.items = Tensor::zeros({c.width, t.deepest, t.longest}, Type::i64);
  t.lengths = Tensor::zeros({c.width, t.deepest}, Type::i64);
  for (const auto &[place, grams] : all)
    for (size_t k = 0; k < grams.size(); ++k) {
      const int64_t row = place * t.deepest + static_cast<int64_t>(k);
      t.lengths.data<int64_t>()[row] = static_cast<int64_t>(grams[k]->size());
      std::copy(grams[k]->begin(), grams[k]->end(), t.items.data<int64_t>() + row * t.longest);
    }
  return t;
}

// As a formula every n-gram is sought everywhere; the host looks up what it finds.
void sought_ngrams(Lowering &n) {
  const Operand &x = n.input(0);
  const Counting c = counting_of(n.attributes(), x.shape);
  const Table t = table_of(c, pool_of(n.attributes().integers("pool_int64s"), n.attributes().integers("ngram_counts")));
  if (t.deepest == 0 || c.size == 0) return n.give(0, filled(n, Type::f32, c.shape, 0));
  const Value rows = n.reshaped(x, {c.rows, c.size}), items = n.constant(t.items), lengths = n.constant(t.lengths),
              weights = n.constant(c.weights);
  const auto is_there = [&](const Axes &at, const Axes &step) {
    const Expression &k = step[0], &skip = step[1], &first = step[2], length = lengths(at[1], k);
    // A single item skips nothing: it counts once.
    Expression all = length > 0 && first + (length - 1) * (skip + 1) < c.size && (skip == 0 || length > 1);
    for (int64_t i = 0; i < t.longest; ++i) {
      const Expression item = cast(Type::i64, rows(at[0], min(first + (skip + 1) * i, c.size - 1)));
      all = all && (length <= i || item == items(at[1], k, Expression(i)));
    }
    return all;
  };
  const Value y = formula::compute("ngrams", extents({c.rows, c.width}), [&](const Axes &at) {
    const Expression count =
        formula::reduce(c.once ? Function::greatest : Function::sum, {t.deepest, c.lengths.skips + 1, c.size},
                        [&](const Axes &step) { return cast(Type::i64, is_there(at, step)); });
    return cast(Type::f32, cast(Type::f64, count) * weights(at[1]));
  });
  n.give(0, n.reshaped(n.computed(y), c.shape));
}

}  // namespace

const OperatorList ngram_operators = {{"TfIdfVectorizer", sought_ngrams, count_ngrams, "", true}};

}  // namespace saltern
