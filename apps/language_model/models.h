#pragma once
// The models by name, and the file that one is kept in: its weights, its alphabet, and what it was made with.

#include "apps/language_model/gpt.h"
#include "apps/language_model/lstm.h"

namespace saltern {

struct LanguageModelRow {
  const char *kind, *title;
  int64_t layers;  // unless others are asked for
  std::unique_ptr<LanguageModel> (*make)(const LanguageOptions &);
};
const std::vector<LanguageModelRow> &models();

// Throw where there is no such kind.
const LanguageModelRow &model_row(const std::string &kind);
std::unique_ptr<LanguageModel> make_model(const LanguageOptions &options);

struct TrainedModel {
  LanguageOptions options;
  std::string alphabet;  // a token is a place in it
  std::unique_ptr<LanguageModel> net;

  // Throws where a character is not of the alphabet.
  std::vector<int64_t> tokens_of(const std::string &text) const;
};

void save_trained(const std::string &path, const LanguageOptions &options, const std::string &alphabet,
                  LanguageModel &net);
// In evaluation mode. Throws an Error that names the file.
TrainedModel load_trained(const std::string &path);

}  // namespace saltern
