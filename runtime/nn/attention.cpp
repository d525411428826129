// Attention: the function, and the layer with several heads.

#include "runtime/nn/attention.h"

#include <cmath>
#include <limits>

#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/softmax.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

Variable added_mask(const Variable &mask, bool true_is_left_out, Type type) {
  if (mask.type() != Type::boolean) return to_type(mask, type);
  const Variable hidden = scalar(-std::numeric_limits<double>::infinity(), type), shown = scalar(0, type);
  return variable_of(call("where", {mask, true_is_left_out ? hidden : shown, true_is_left_out ? shown : hidden}));
}

namespace {

// Hides what comes later.
Variable causal_mask(int64_t rows, int64_t columns, Type type) {
  return variable_of(call("triu", {Tensor::full({rows, columns}, -std::numeric_limits<double>::infinity(), type), 1}));
}

// x(.., heads, t, e), each head several times.
Variable repeated_heads(const Variable &x, int64_t times) {
  Shape shape = x.shape();
  const auto heads = shape.end() - 3;
  const int64_t count = *heads;
  shape.insert(shape.end() - 2, 1);
  Shape wide = shape;
  *(wide.end() - 3) = times;
  Shape whole = x.shape();
  *(whole.end() - 3) = count * times;
  return reshape(expand(reshape(x, shape), wide), whole);
}

struct Attended {
  Variable y, weights;
};

// softmax(q k^T scale + mask) v
Attended attended(const Variable &q, const Variable &k, const Variable &v, const Variable &mask, double scale,
                  double dropout) {
  Variable scores = matmul(q * scale, transposed(k));
  if (mask.defined()) scores = scores + mask;
  const Variable weights = softmax(scores, -1);
  const Variable kept = dropout > 0 ? variable_of(call("dropout", {weights, dropout, true})) : weights;
  return {matmul(kept, v), kept};
}

const Function scaled_dot_product_attention(
    "scaled_dot_product_attention",
    "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False",
    [](const Arguments &a) {
      const Variable q = a.variable("query");
      Variable k = a.variable("key"), v = a.variable("value");
      for (const char *name : {"query", "key", "value"})
        if (a.variable(name).shape().size() < 2) a.refuse(name, "(..., t, e)");
      const Type type = q.type();
      if (a.flag("enable_gqa")) {
        const auto times = [&](const Variable &x) { return *(q.shape().end() - 3) / *(x.shape().end() - 3); };
        k = repeated_heads(k, times(k));
        v = repeated_heads(v, times(v));
      }
      Variable mask;
      if (a.has("attn_mask")) mask = added_mask(a.variable("attn_mask"), false, type);
      if (a.flag("is_causal")) {
        if (mask.defined()) a.refuse("attn_mask", "None beside is_causal=True");
        mask = causal_mask(*(q.shape().end() - 2), *(k.shape().end() - 2), type);
      }
      const double scale = a.has("scale") ? a.real("scale") : 1 / std::sqrt(static_cast<double>(q.shape().back()));
      return attended(q, k, v, mask, scale, a.real("dropout_p")).y;
    });

// ---- Several heads.

void make_heads(Layer &self) {
  const Arguments &a = self.made_with();
  const int64_t width = a.integer("embed_dim"), heads = a.integer("num_heads");
  if (width < 1) a.refuse("embed_dim", "at least 1");
  if (heads < 1 || width % heads != 0) a.refuse("num_heads", "a divisor of embed_dim");
  const int64_t keys = a.has("kdim") ? a.integer("kdim") : width, values = a.has("vdim") ? a.integer("vdim") : width;
  const auto weight = [](int64_t out, int64_t in) {
    return uniform_parameter({out, in}, std::sqrt(6.0 / static_cast<double>(out + in)));
  };
  const bool same = keys == width && values == width;
  self.parameter("in_proj_weight", same ? weight(3 * width, width) : Variable());
  self.parameter("q_proj_weight", same ? Variable() : weight(width, width));
  self.parameter("k_proj_weight", same ? Variable() : weight(width, keys));
  self.parameter("v_proj_weight", same ? Variable() : weight(width, values));
  self.parameter("in_proj_bias", a.flag("bias") ? constant_parameter({3 * width}, 0) : Variable());
  const double deviation = std::sqrt(2.0 / static_cast<double>(1 + width));
  self.parameter("bias_k", a.flag("add_bias_kv") ? normal_parameter({1, 1, width}, deviation) : Variable());
  self.parameter("bias_v", a.flag("add_bias_kv") ? normal_parameter({1, 1, width}, deviation) : Variable());
  Layer &out = self.part("out_proj", "Linear", {width, width}, {{"bias", a["bias"]}});
  if (a.flag("bias")) out.parameter("bias") = constant_parameter({width}, 0);
}

class Heads {
 public:
  Heads(Layer &self, const Arguments &in) : self_(self), made_(self.made_with()), in_(in) {
    width_ = made_.integer("embed_dim");
    heads_ = made_.integer("num_heads");
    query_ = sequences("query");
    key_ = sequences("key");
    value_ = sequences("value");
    if (key_.shape()[0] != value_.shape()[0] || key_.shape()[1] != value_.shape()[1])
      in.refuse("value", "as many steps and samples as 'key' has");
    if (key_.shape()[1] != query_.shape()[1]) in.refuse("key", "as many samples as 'query' has");
  }

  Argument result() {
    const int64_t steps = query_.shape()[0], batch = query_.shape()[1];
    const Variable q = projected(query_, "q_proj_weight", 0);
    Variable k = projected(key_, "k_proj_weight", 1), v = projected(value_, "v_proj_weight", 2);
    int64_t more = 0;
    if (self_.has_parameter("bias_k")) {
      k = concat({k, expand(self_.parameter("bias_k"), {1, batch, width_})}, 0);
      v = concat({v, expand(self_.parameter("bias_v"), {1, batch, width_})}, 0);
      ++more;
    }
    Variable keys = by_heads(k), values = by_heads(v);
    if (made_.flag("add_zero_attn")) {
      const Variable zeros = Tensor::zeros({batch, heads_, 1, width_ / heads_}, k.type());
      keys = concat({keys, zeros}, 2);
      values = concat({values, zeros}, 2);
      ++more;
    }
    const double scale = 1 / std::sqrt(static_cast<double>(width_ / heads_));
    const double dropout = self_.training() ? made_.real("dropout") : 0;
    const Attended a = attended(by_heads(q), keys, values, mask(batch, steps, more), scale, dropout);
    const Variable together = reshape(transpose(a.y, {2, 0, 1, 3}), {steps, batch, width_});
    return Argument::List{as_given((*self_.find_part("out_proj"))(together)), weights(a.weights)};
  }

 private:
  // (t, n, e)
  Variable sequences(const char *name) {
    const Variable x = in_.variable(name);
    const size_t rank = x.shape().size();
    if (rank != 2 && rank != 3) in_.refuse(name, "sequences, (t, n, e), or one, (t, e)");
    if (std::string(name) == "query") is_batched_ = rank == 3;
    if (is_batched_ != (rank == 3)) in_.refuse(name, "a tensor of the rank of 'query'");
    if (!is_batched_) return reshape(x, {x.shape()[0], 1, x.shape()[1]});
    return made_.flag("batch_first") ? transpose(x, {1, 0, 2}) : x;
  }

  Variable as_given(const Variable &y) const {
    if (!is_batched_) return reshape(y, {y.shape()[0], y.shape()[2]});
    return made_.flag("batch_first") ? transpose(y, {1, 0, 2}) : y;
  }

  Variable projected(const Variable &x, const char *own, int64_t which) {
    const Variable weight = self_.has_parameter("in_proj_weight")
                                ? slice(self_.parameter("in_proj_weight"), 0, which * width_, width_)
                                : self_.parameter(own);
    if (x.shape().back() != weight.shape()[1])
      in_.refuse(which == 0   ? "query"
                 : which == 1 ? "key"
                              : "value",
                 "vectors of " + std::to_string(weight.shape()[1]));
    const Variable bias = self_.has_parameter("in_proj_bias")
                              ? slice(self_.parameter("in_proj_bias"), 0, which * width_, width_)
                              : Variable();
    return variable_of(call("linear", {x, weight, bias}));
  }

  // (t, n, e) -> (n, heads, t, e / heads)
  Variable by_heads(const Variable &x) const {
    return transpose(reshape(x, {x.shape()[0], x.shape()[1], heads_, width_ / heads_}), {1, 2, 0, 3});
  }

  // What is added to scores: both masks, with room for the further keys, which nothing hides.
  Variable mask(int64_t batch, int64_t steps, int64_t more) const {
    const Type type = query_.type();
    const int64_t keys = key_.shape()[0];
    Variable all;
    const auto add = [&](const Variable &given, const Shape &shape) {
      Variable m = reshape(added_mask(given, true, type), shape);
      if (more > 0) {
        Shape room = shape;
        room.back() = more;
        m = concat({m, Tensor::zeros(room, type)}, -1);
      }
      all = all.defined() ? all + m : m;
    };
    if (in_.has("attn_mask")) {
      const Variable given = in_.variable("attn_mask");
      if (given.shape() == Shape{steps, keys})
        add(given, {1, 1, steps, keys});
      else if (given.shape() == Shape{batch * heads_, steps, keys})
        add(given, {batch, heads_, steps, keys});
      else
        in_.refuse("attn_mask", to_string({steps, keys}) + " or " + to_string({batch * heads_, steps, keys}));
    }
    if (in_.has("key_padding_mask")) {
      const Variable given = in_.variable("key_padding_mask");
      const Shape expected = is_batched_ ? Shape{batch, keys} : Shape{keys};
      if (given.shape() != expected) in_.refuse("key_padding_mask", "a mask of " + to_string(expected));
      add(given, {batch, 1, 1, keys});
    }
    return all;
  }

  Argument weights(const Variable &w) const {
    if (!in_.flag("need_weights")) return {};
    const Shape &s = w.shape();  // (n, heads, t, s)
    const bool one = in_.flag("average_attn_weights");
    const Variable shown = one ? reshape(mean(w, {1}), {s[0], s[2], s[3]}) : w;
    if (is_batched_) return shown;
    return reshape(shown, Shape(shown.shape().begin() + 1, shown.shape().end()));
  }

  Layer &self_;
  const Arguments &made_, &in_;
  Variable query_, key_, value_;
  bool is_batched_ = true;
  int64_t width_ = 0, heads_ = 0;
};

const LayerRow multihead_attention(
    "MultiheadAttention",
    "embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None, "
    "batch_first=False",
    {"query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, "
     "is_causal=False",
     [](Layer &self, const Arguments &in) { return Heads(self, in).result(); }},
    make_heads);

// The same with tensors in the place of a layer's parameters.
const Function multi_head_attention_forward(
    "multi_head_attention_forward",
    "query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, "
    "dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, "
    "attn_mask=None, "
    "use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, "
    "static_v=None, average_attn_weights=True, is_causal=False",
    [](const Arguments &a) {
      for (const char *name : {"static_k", "static_v"})
        if (a.has(name)) a.refuse(name, "None");
      const Argument width = a["embed_dim_to_check"];
      Layer heads(multihead_attention, multihead_attention.made_with().bind(
                                           a.owner(), {width, a["num_heads"]},
                                           {{"dropout", a["dropout_p"]}, {"add_zero_attn", a["add_zero_attn"]}}));
      const bool separate = a.flag("use_separate_proj_weight");
      heads.parameter("in_proj_weight", separate ? Variable() : a.variable_if_given("in_proj_weight"));
      for (const char *name : {"q_proj_weight", "k_proj_weight", "v_proj_weight"})
        heads.parameter(name, separate ? a.variable(name) : Variable());
      for (const char *name : {"in_proj_bias", "bias_k", "bias_v"}) heads.parameter(name, a.variable_if_given(name));
      const LayerRow &linear = *find_layer("Linear");
      const auto out = std::make_shared<Layer>(linear, linear.made_with().bind(a.owner(), {width, width}));
      out->parameter("weight", a.variable("out_proj_weight"));
      out->parameter("bias", a.variable_if_given("out_proj_bias"));
      heads.part("out_proj", out);
      heads.train(a.flag("training"));
      Named options;
      for (const char *name : {"key_padding_mask", "need_weights", "attn_mask", "average_attn_weights", "is_causal"})
        options[name] = a[name];
      return heads.call({a["query"], a["key"], a["value"]}, options);
    });

}  // namespace

const void *attention() { return &multihead_attention; }

}  // namespace saltern::nn
