#pragma once
// Models of what comes next in a text, in two forms that compute the same numbers:
//
//   forward  tokens i64 (n, t) -> scores (n, t, characters): of what follows each token, given it and those before. For training.
//   step     token i64 (1), and what the model keeps of those before -> scores (characters), and what it keeps from then on.
//            For generating: it costs the same however long the text is.
//
// What is kept is a list of tensors of fixed shapes, all zero before the first token. So a step is a net like others, which
// is saved, written as ONNX and compiled: inputs are the token and the state, outputs the scores and the next state.

#include "runtime/nn/all.h"

namespace saltern {

struct LanguageModel : Module {
  struct Stepped {
    Variable scores;
    std::vector<Variable> state;
  };

  // What is kept, by name, before the first token.
  virtual std::vector<std::pair<std::string, Tensor>> beginning() const = 0;
  virtual Stepped step(const Variable &token, const std::vector<Variable> &state) = 0;
};

struct LanguageOptions {
  std::string kind = "gpt";  // a row of models() (models.h)
  int64_t characters = 0;    // of the alphabet
  int64_t width = 128, layers = 2;
  int64_t heads = 4, context = 64;  // of a GPT: it sees the last so many characters
  double dropout = 0.2;
};

}  // namespace saltern
