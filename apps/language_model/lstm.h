#pragma once
// Layers of LSTM over characters. It keeps h and c, (layers, 1, width) each.

#include "apps/language_model/model.h"

namespace saltern {

class LstmModel : public LanguageModel {
 public:
  explicit LstmModel(const LanguageOptions &o)
      : options_(o),
        embedding_(nn::Embedding(o.characters, o.width)),
        lstm_(nn::LSTM(o.width, o.width, o.layers, nn::NamedArgument{"batch_first", true},
                       nn::NamedArgument{"dropout", o.dropout})),
        dropout_(nn::Dropout(o.dropout)),
        head_(nn::Linear(o.width, o.characters)) {}

  Variable forward(const Variable &tokens) override { return head_(dropout_(lstm_(embedding_(tokens)))); }

  std::vector<std::pair<std::string, Tensor>> beginning() const override {
    const Shape shape = {options_.layers, 1, options_.width};
    return {{"h", Tensor::zeros(shape)}, {"c", Tensor::zeros(shape)}};
  }
  Stepped step(const Variable &token, const std::vector<Variable> &state) override {
    const std::vector<Variable> y = lstm_.all(reshape(embedding_(token), {1, 1, options_.width}), {state[0], state[1]});
    return {reshape(head_(y[0]), {options_.characters}), {y[1], y[2]}};
  }

  void visit(Visitor &v) override {
    v.child("embedding", embedding_);
    v.child("lstm", lstm_);
    v.child("dropout", dropout_);
    v.child("head", head_);
  }

 private:
  LanguageOptions options_;
  nn::Layer embedding_, lstm_, dropout_, head_;
};

}  // namespace saltern
