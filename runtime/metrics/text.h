#pragma once
// Sentences, words and characters. Characters are those of UTF-8; what is upper case is known of ASCII's letters alone.

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

using Words = std::vector<std::string>;

// One sentence, or a list of them.
std::vector<std::string> sentences(const Arguments &in, const char *name = "preds");
// Of each of `count` sentences one reference, or a list of them; of one sentence a list is its references.
std::vector<Words> references(const Arguments &in, size_t count, bool list_is_of_one = true);
// 'preds' and one 'target' of each.
std::pair<Words, Words> sentence_pairs(const Arguments &in);

// At white space.
Words words(const std::string &text);
Words characters(const std::string &text);
std::string lower(std::string text);
std::string replaced(std::string text, const std::string &what, const std::string &by);
// Punctuation as western languages have it stands alone; points and commas stay in numbers.
std::string with_spaced_punctuation(const std::string &text);

// How often each sequence of n words comes, for n up to `order`; and how many there are.
struct Grams {
  std::vector<std::map<Words, double>> counts;
  Grams(const Words &all, size_t order);
  double total(size_t n) const;
  // Those that another has, too.
  double common(const Grams &other, size_t n) const;
};

// The least number of insertions, deletions and substitutions.
double edits(const Words &from, const Words &to, double substitution = 1);

}  // namespace saltern::metrics
