// TfIdfVectorizer: how often runs of numbers or texts that a pool lists occur in each row.

#include <algorithm>
#include <map>

#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

template <typename Item>
using Pool = std::map<std::vector<Item>, int64_t>;  // the number of each n-gram, counted over the whole pool

struct Lengths {
  int64_t least, most, skips;
};

// `starts` says where the n-grams of 1, 2, ... items begin.
template <typename Item>
Pool<Item> pool_of(const std::vector<Item> &items, const std::vector<int64_t> &starts) {
  Pool<Item> pool;
  int64_t number = 0;
  for (size_t n = 0; n < starts.size(); ++n) {
    const int64_t end = n + 1 < starts.size() ? starts[n + 1] : static_cast<int64_t>(items.size());
    const auto length = static_cast<int64_t>(n) + 1;
    if (starts[n] < 0 || end < starts[n] || end > static_cast<int64_t>(items.size()) || (end - starts[n]) % length != 0)
      fail("its ngram_counts do not fit a pool of ", items.size());
    for (int64_t at = starts[n]; at < end; at += length)
      pool.emplace(std::vector<Item>(items.begin() + at, items.begin() + at + length), number++);
  }
  return pool;
}

template <typename Item>
void count_row(const Item *row, int64_t size, const Pool<Item> &pool, const Lengths &lengths,
               const std::vector<int64_t> &places, int64_t *counts) {
  for (int64_t skip = 0; skip <= std::min(lengths.skips, size); ++skip)  // longer ones leave the row
    for (int64_t first = 0; first < size; ++first) {
      std::vector<Item> run;
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

template <typename Item>
std::vector<int64_t> count_all(const Tensor &x, const std::vector<Item> &items, const Attributes &a, int64_t rows,
                               int64_t width) {
  const Pool<Item> pool = pool_of(items, a.integers("ngram_counts"));
  const Lengths lengths = {a.integer("min_gram_length"), a.integer("max_gram_length"), a.integer("max_skip_count")};
  std::vector<int64_t> counts(static_cast<size_t>(rows * width), 0);
  const int64_t size = rows == 0 ? 0 : x.size() / rows;
  for (int64_t row = 0; row < rows; ++row)
    count_row(x.data<Item>() + row * size, size, pool, lengths, a.integers("ngram_indexes"),
              counts.data() + row * width);
  return counts;
}

std::vector<HostValue> count_ngrams(const HostCall &c) {
  const Attributes &a = c.attributes();
  const Tensor x = c.tensor(0).in_layout(Layout::row_major);
  if (x.rank() > 2) fail("its input has the shape ", to_string(x.shape()), "; expected [C] or [N, C]");
  const std::string mode = a.word("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") fail("its mode is '", mode, "'; expected TF, IDF or TFIDF");
  const std::vector<int64_t> &places = a.integers("ngram_indexes");
  if (places.empty() || *std::min_element(places.begin(), places.end()) < 0) fail("its ngram_indexes are no places");
  const int64_t width = *std::max_element(places.begin(), places.end()) + 1, rows = x.rank() == 2 ? x.extent(0) : 1;
  std::vector<int64_t> counts;
  if (x.type() == Type::text) {
    counts = count_all<std::string>(x, a.words("pool_strings"), a, rows, width);
  } else {
    const Tensor numbers = Tensor::of<int64_t>(x.shape(), x.integers());
    counts = count_all<int64_t>(numbers, a.integers("pool_int64s"), a, rows, width);
  }
  // Weights are those of the pool's n-grams; a place has the weight of its n-gram.
  std::vector<double> weights(static_cast<size_t>(width), 1);
  if (mode != "TF" && a.has("weights")) {
    const std::vector<double> &given = a.reals("weights");
    if (given.size() != places.size()) fail(given.size(), " weights for ", places.size(), " n-grams");
    for (size_t i = 0; i < places.size(); ++i) weights[static_cast<size_t>(places[i])] = given[i];
  }
  const Tensor y = Tensor::empty(x.rank() == 2 ? Shape{rows, width} : Shape{width});
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t count = mode == "IDF" ? std::min<int64_t>(counts[i], 1) : counts[i];
    y.data<float>()[i] = static_cast<float>(static_cast<double>(count) * weights[i % static_cast<size_t>(width)]);
  }
  return {y};
}

}  // namespace

const OperatorList &ngram_operators() {
  static const OperatorList list = {{"TfIdfVectorizer", nullptr, count_ngrams}};
  return list;
}

}  // namespace saltern
