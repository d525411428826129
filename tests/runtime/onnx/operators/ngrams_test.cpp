// TfIdfVectorizer: by a table on the host, and as a formula that seeks every n-gram everywhere.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/errors.h"
#include "tests/run_operator.h"

namespace saltern {
namespace {

using Numbers = std::vector<int64_t>;

struct Gram {
  Numbers items;
  int64_t place;
  double weight;
};

// In the order of their lengths.
Attributes attributes_of(const std::vector<Gram> &grams, const std::string &mode, int64_t least, int64_t most,
                         int64_t skips) {
  Numbers pool, places, starts(3, 0);
  std::vector<double> weights;
  for (const Gram &g : grams) {
    for (size_t n = g.items.size(); n < starts.size(); ++n) starts[n] += static_cast<int64_t>(g.items.size());
    pool.insert(pool.end(), g.items.begin(), g.items.end());
    places.push_back(g.place);
    weights.push_back(g.weight);
  }
  return {{"mode", mode},           {"min_gram_length", least}, {"max_gram_length", most}, {"max_skip_count", skips},
          {"ngram_counts", starts}, {"ngram_indexes", places},  {"pool_int64s", pool},     {"weights", weights}};
}

// Each n-gram by itself, wherever it fits.
double naive(const Numbers &row, const Gram &g, int64_t skips) {
  double count = 0;
  const auto length = static_cast<int64_t>(g.items.size());
  for (int64_t step = 1; step <= (length == 1 ? 1 : skips + 1); ++step)
    for (int64_t first = 0; first + (length - 1) * step < static_cast<int64_t>(row.size()); ++first) {
      bool same = true;
      for (int64_t i = 0; i < length; ++i)
        same &= row[static_cast<size_t>(first + i * step)] == g.items[static_cast<size_t>(i)];
      count += same;
    }
  return count;
}

TEST(TfIdfVectorizer, CountsAsNaiveLoopsDo) {
  // Two share a place, a place is nobody's.
  const std::vector<Gram> grams = {{{1}, 4, 0.5},  {{3}, 0, 2},       {{1, 2}, 1, 3},   {{2, 2}, 5, 0.25},
                                   {{0, 3}, 1, 3}, {{1, 2, 3}, 6, 1}, {{2, 0, 2}, 3, 7}};
  std::mt19937 random(5);
  for (const std::string mode : {"TF", "IDF", "TFIDF"})
    for (const Shape &shape : {Shape{30}, Shape{3, 17}, Shape{2, 2}, Shape{4, 1}, Shape{2, 0}, Shape{0, 4}})
      for (const int64_t skips : {0, 1, 5})
        for (const auto &[least, most] : {std::pair<int64_t, int64_t>{1, 3}, {2, 2}, {1, 2}}) {
          Numbers all(static_cast<size_t>(elements(shape)));
          for (int64_t &v : all) v = random() % 4;
          const int64_t rows = shape.size() == 2 ? shape[0] : 1, size = shape.back();
          std::vector<double> want(static_cast<size_t>(rows * 7), 0);
          for (int64_t r = 0; r < rows; ++r)
            for (const Gram &g : grams) {
              const auto length = static_cast<int64_t>(g.items.size());
              if (length < least || length > most) continue;
              const auto begin = all.begin() + r * size;
              want[static_cast<size_t>(r * 7 + g.place)] += naive(Numbers(begin, begin + size), g, skips);
            }
          for (const Gram &g : grams)
            for (int64_t r = 0; r < rows; ++r) {
              double &w = want[static_cast<size_t>(r * 7 + g.place)];
              if (mode == "IDF") w = std::fmin(w, 1);
            }
          std::vector<double> weights(7, 1);
          if (mode != "TF")
            for (const Gram &g : grams) weights[static_cast<size_t>(g.place)] = g.weight;
          for (size_t i = 0; i < want.size(); ++i) want[i] *= weights[i % 7];
          const OperatorCall call = {
              "TfIdfVectorizer", {Tensor::of<int64_t>(shape, all)}, attributes_of(grams, mode, least, most, skips)};
          for (const HostValue &made : {call.on_host()[0], call.lowered()[0]}) {
            EXPECT_EQ(made.tensor().shape(), shape.size() == 2 ? (Shape{rows, 7}) : (Shape{7}));
            EXPECT_EQ(made.tensor().reals(), want) << mode << " " << to_string(shape) << " " << skips << " " << most;
          }
        }
}

TEST(TfIdfVectorizer, CountsTexts) {
  using Texts = std::vector<std::string>;
  const Attributes a = {{"mode", "TF"},
                        {"min_gram_length", int64_t{1}},
                        {"max_gram_length", int64_t{2}},
                        {"max_skip_count", int64_t{0}},
                        {"ngram_counts", Numbers{0, 1}},
                        {"ngram_indexes", Numbers{1, 0}},
                        {"pool_strings", Texts{"a", "a", "b"}}};
  const Tensor x = Tensor::of<std::string>({5}, {"a", "b", "a", "a", "b"});
  EXPECT_EQ((OperatorCall{"TfIdfVectorizer", {x}, a}.on_host()[0].tensor().reals()), (std::vector<double>{2, 3}));
}

TEST(TfIdfVectorizer, RefusesWhatIsNoPool) {
  const Tensor x = Tensor::of<int64_t>({2}, {1, 2});
  const auto call = [&](const Attributes &a) { return OperatorCall{"TfIdfVectorizer", {x}, a}; };
  const std::vector<Gram> grams = {{{1}, 0, 1}, {{1, 2}, 1, 1}};
  for (const Attributes &bad : {attributes_of(grams, "BM25", 1, 2, 0), attributes_of(grams, "TF", 1, 2, -1),
                                attributes_of({{{1}, -1, 1}}, "TF", 1, 2, 0)}) {
    EXPECT_THROW(call(bad).on_host(), Error);
    EXPECT_THROW(call(bad).lowered(), Error);
  }
}

}  // namespace
}  // namespace saltern
