#pragma once
// A small GPT: blocks of causal attention and a feed-forward net, each behind a norm and beside a way around it.
//
// Where characters stand is told by how far apart they are: each head has a number for each distance, which is added to its
// scores. So the keys and values of a character stay what they are wherever the text goes on, and the cache of them is a ring:
// character p is in slot p mod context, and what it writes over is out of sight.

#include <limits>

#include "apps/language_model/model.h"

namespace saltern {

// Attention of x (.., t, width) to what came before, by heads of width / heads numbers each.
class CausalAttention : public Module {
 public:
  // k and v: (heads, context, width / heads)
  struct Cache {
    Variable keys, values;
  };

  explicit CausalAttention(const LanguageOptions &o)
      : heads_(o.heads),
        each_(o.width / o.heads),
        context_(o.context),
        project_(nn::Linear(o.width, 3 * o.width)),
        out_(nn::Linear(o.width, o.width)),
        distance_(nn::Embedding(o.context, o.heads)) {
    distance_.parameter("weight").value().copy_from(Tensor::zeros({o.context, o.heads}));
  }

  // x (n, t, width), t at most the context
  Variable forward(const Variable &x) override {
    const int64_t n = x.extent(0), t = x.extent(1);
    const Variable all = transpose(reshape(project_(x), {n, t, 3, heads_, each_}), {2, 0, 3, 1, 4});
    const auto part = [&](int64_t i) { return reshape(slice(all, 0, i, 1), {n, heads_, t, each_}); };
    const Tensor behind = Tensor::zeros({t, t}, Type::i64), hidden = Tensor::zeros({t, t});
    for (int64_t to = 0; to < t; ++to)
      for (int64_t from = 0; from < t; ++from) {
        behind.at<int64_t>({to, from}) = std::max<int64_t>(to - from, 0);
        if (from > to) hidden.at<float>({to, from}) = -std::numeric_limits<float>::infinity();
      }
    const Variable bias = transpose(distance_(behind), {2, 0, 1}) + hidden;
    const Variable y = nn::scaled_dot_product_attention(part(0), part(1), part(2), bias);
    return out_(reshape(transpose(y, {0, 2, 1, 3}), {n, t, heads_ * each_}));
  }

  // x (1, width), of the character at `position`, i64 (1); the cache has it then.
  Variable step(const Variable &x, const Variable &position, Cache &cache) {
    const Variable all = reshape(project_(x), {3, heads_, 1, each_});
    const auto part = [&](int64_t i) { return reshape(slice(all, 0, i, 1), {heads_, 1, each_}); };
    const Tensor slots = Tensor::empty({context_}, Type::i64);
    for (int64_t i = 0; i < context_; ++i) slots.at<int64_t>({i}) = i;
    const Variable here = reshape(nn::remainder(position, context_) == Variable(slots), {context_, 1});
    cache.keys = nn::where(here, part(1), cache.keys);
    cache.values = nn::where(here, part(2), cache.values);
    const Variable behind = nn::remainder(position - Variable(slots), context_);
    const Variable is_there = Variable(slots) <= position;
    const Variable bias = nn::where(is_there, transpose(distance_(behind), {1, 0}),
                                    -static_cast<double>(std::numeric_limits<float>::infinity()));
    const Variable y =
        nn::scaled_dot_product_attention(part(0), cache.keys, cache.values, reshape(bias, {heads_, 1, context_}));
    return out_(reshape(y, {1, heads_ * each_}));
  }

  void visit(Visitor &v) override {
    v.child("project", project_);
    v.child("out", out_);
    v.child("distance", distance_);
  }

 private:
  int64_t heads_, each_, context_;
  nn::Layer project_, out_, distance_;
};

class GptBlock : public Module {
 public:
  explicit GptBlock(const LanguageOptions &o)
      : attention_(o),
        norm1_(nn::LayerNorm(o.width)),
        norm2_(nn::LayerNorm(o.width)),
        wide_(nn::Linear(o.width, 4 * o.width)),
        narrow_(nn::Linear(4 * o.width, o.width)),
        dropout_(nn::Dropout(o.dropout)) {}

  Variable forward(const Variable &x) override { return fed_forward(x + dropout_(attention_(norm1_(x)))); }
  Variable step(const Variable &x, const Variable &position, CausalAttention::Cache &cache) {
    return fed_forward(x + dropout_(attention_.step(norm1_(x), position, cache)));
  }

  void visit(Visitor &v) override {
    v.child("attention", attention_);
    v.child("norm1", norm1_);
    v.child("norm2", norm2_);
    v.child("wide", wide_);
    v.child("narrow", narrow_);
    v.child("dropout", dropout_);
  }

 private:
  Variable fed_forward(const Variable &x) { return x + dropout_(narrow_(gelu(wide_(norm2_(x))))); }

  CausalAttention attention_;
  nn::Layer norm1_, norm2_, wide_, narrow_, dropout_;
};

// It keeps the position, i64 (1), and the keys and values of each block.
class GptModel : public LanguageModel {
 public:
  explicit GptModel(const LanguageOptions &o)
      : options_(o),
        embedding_(nn::Embedding(o.characters, o.width)),
        norm_(nn::LayerNorm(o.width)),
        head_(nn::Linear(o.width, o.characters)) {
    if (o.width % o.heads != 0) fail("a width of ", o.width, " is not shared out evenly to ", o.heads, " heads");
    for (int64_t i = 0; i < o.layers; ++i) blocks_.emplace_back(o);
  }

  Variable forward(const Variable &tokens) override {
    if (tokens.extent(1) > options_.context)
      fail("a text of ", tokens.extent(1), " characters; the model sees ", options_.context);
    Variable x = embedding_(tokens);
    for (GptBlock &block : blocks_) x = block(x);
    return head_(norm_(x));
  }

  std::vector<std::pair<std::string, Tensor>> beginning() const override {
    const Shape shape = {options_.heads, options_.context, options_.width / options_.heads};
    std::vector<std::pair<std::string, Tensor>> all = {{"position", Tensor::zeros({1}, Type::i64)}};
    for (int64_t i = 0; i < options_.layers; ++i) {
      all.emplace_back("keys_" + std::to_string(i), Tensor::zeros(shape));
      all.emplace_back("values_" + std::to_string(i), Tensor::zeros(shape));
    }
    return all;
  }
  Stepped step(const Variable &token, const std::vector<Variable> &state) override {
    const Variable &position = state[0];
    Variable x = embedding_(token);
    std::vector<Variable> next = {position + Variable(Tensor::full({1}, 1, Type::i64))};
    for (size_t i = 0; i < blocks_.size(); ++i) {
      CausalAttention::Cache cache = {state[1 + 2 * i], state[2 + 2 * i]};
      x = blocks_[i].step(x, position, cache);
      next.push_back(cache.keys);
      next.push_back(cache.values);
    }
    return {reshape(head_(norm_(x)), {options_.characters}), next};
  }

  void visit(Visitor &v) override {
    v.child("embedding", embedding_);
    for (size_t i = 0; i < blocks_.size(); ++i) v.child("blocks." + std::to_string(i), blocks_[i]);
    v.child("norm", norm_);
    v.child("head", head_);
  }

 private:
  LanguageOptions options_;
  nn::Layer embedding_;
  std::vector<GptBlock> blocks_;
  nn::Layer norm_, head_;
};

}  // namespace saltern
