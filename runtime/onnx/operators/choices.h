#pragma once
// Words that attributes may have, of which an operator knows some.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "runtime/error.h"

namespace saltern {

// The word itself, which is one of these; throws what it is called, what it is, and what it may be.
inline std::string one_of(const std::vector<std::string> &words, const char *what, const std::string &given) {
  if (std::find(words.begin(), words.end(), given) != words.end()) return given;
  std::string all;
  for (size_t i = 0; i < words.size(); ++i) all += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  fail(what, " is '", given, "'; expected ", all);
}

// What a table has for a word.
template <typename Row>
const Row &one_of(const std::map<std::string, Row> &table, const char *what, const std::string &given) {
  std::vector<std::string> words;
  for (const auto &[word, row] : table) words.push_back(word);
  return table.at(one_of(words, what, given));
}

}  // namespace saltern
