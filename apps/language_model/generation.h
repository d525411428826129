#pragma once
// A text, one character at a time, by steps of a language model.

#include "apps/language_model/models.h"

namespace saltern {

struct Sampling {
  double temperature = 0.8;  // 0: always the likeliest
  int64_t top = 0;           // of the likeliest so many; 0: of all
  uint64_t seed = 1;         // the same seed gives the same text
};

// A token, as likely as its score says: softmax(scores / temperature).
int64_t chosen(const std::vector<float> &scores, const Sampling &sampling, Random &random);

struct Generated {
  std::vector<int64_t> tokens;             // the prompt, and what was chosen behind it
  std::vector<std::vector<float>> scores;  // of what follows each token but the last
};

// The model reads the prompt, which has at least one token, and writes `length` behind it, which may be none.
Generated generate(LanguageModel &net, const std::vector<int64_t> &prompt, int64_t length, const Sampling &sampling);

}  // namespace saltern
