// Transformers: the layers of encoder and decoder, both of several layers, and the whole.

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/nn/attention.h"
#include "runtime/nn/families.h"

namespace saltern::nn {

namespace {

Variable result_of(Layer &part, const std::vector<Argument> &positional, const Named &named = {}) {
  const Argument y = part.call(positional, named);
  const auto *several = y.as<Argument::List>();
  return variable_of(several ? several->at(0) : y);
}

// ---- What layers of both kinds have.

const char *const of_a_layer =
    "d_model, nhead, dim_feedforward=2048, dropout=0.1, activation='relu', layer_norm_eps=1e-05, batch_first=False, "
    "norm_first=False, bias=True";

void make_layer(Layer &self, const std::vector<std::string> &attentions) {
  const Arguments &a = self.made_with();
  for (const std::string &name : attentions)
    self.part(name, "MultiheadAttention", {a["d_model"], a["nhead"]},
              {{"dropout", a["dropout"]}, {"bias", a["bias"]}, {"batch_first", a["batch_first"]}});
  self.part("linear1", "Linear", {a["d_model"], a["dim_feedforward"]}, {{"bias", a["bias"]}});
  self.part("dropout", "Dropout", {a["dropout"]});
  self.part("linear2", "Linear", {a["dim_feedforward"], a["d_model"]}, {{"bias", a["bias"]}});
  for (size_t i = 1; i <= attentions.size() + 1; ++i) {
    self.part("norm" + std::to_string(i), "LayerNorm", {a["d_model"]},
              {{"eps", a["layer_norm_eps"]}, {"bias", a["bias"]}});
    self.part("dropout" + std::to_string(i), "Dropout", {a["dropout"]});
  }
}

// x plus what a block makes of it, normalised before or behind.
class Blocks {
 public:
  Blocks(Layer &self, Variable x) : self_(self), x_(std::move(x)) {}

  template <typename Block>
  void add(const Block &block) {
    const std::string number = std::to_string(++count_);
    Layer &norm = *self_.find_part("norm" + number), &dropout = *self_.find_part("dropout" + number);
    const bool first = self_.made_with().flag("norm_first");
    const Variable y = x_ + dropout(block(first ? norm(x_) : x_));
    x_ = first ? y : norm(y);
  }
  void add_attention(const char *name, const Variable &keys, const Named &named) {
    add([&](const Variable &x) {
      Named all = named;
      all["need_weights"] = false;
      const Variable from = keys.defined() ? keys : x;
      return result_of(*self_.find_part(name), {x, from, from}, all);
    });
  }
  void add_feed_forward() {
    add([&](const Variable &x) {
      const Variable wide = variable_of(call(self_.made_with().word("activation"), {(*self_.find_part("linear1"))(x)}));
      return (*self_.find_part("linear2"))((*self_.find_part("dropout"))(wide));
    });
  }
  const Variable &result() const { return x_; }

 private:
  Layer &self_;
  Variable x_;
  int count_ = 0;
};

const LayerRow encoder_layer("TransformerEncoderLayer", of_a_layer,
                             {"src, src_mask=None, src_key_padding_mask=None, is_causal=False",
                              [](Layer &self, const Arguments &in) -> Argument {
                                Blocks b(self, in.variable("src"));
                                b.add_attention(
                                    "self_attn", {},
                                    {{"attn_mask", in["src_mask"]}, {"key_padding_mask", in["src_key_padding_mask"]}});
                                b.add_feed_forward();
                                return b.result();
                              }},
                             [](Layer &self) { make_layer(self, {"self_attn"}); });

const LayerRow decoder_layer(
    "TransformerDecoderLayer", of_a_layer,
    {"tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, "
     "tgt_is_causal=False, memory_is_causal=False",
     [](Layer &self, const Arguments &in) -> Argument {
       Blocks b(self, in.variable("tgt"));
       b.add_attention("self_attn", {},
                       {{"attn_mask", in["tgt_mask"]}, {"key_padding_mask", in["tgt_key_padding_mask"]}});
       b.add_attention("multihead_attn", in.variable("memory"),
                       {{"attn_mask", in["memory_mask"]}, {"key_padding_mask", in["memory_key_padding_mask"]}});
       b.add_feed_forward();
       return b.result();
     }},
    [](Layer &self) {
      make_layer(self, {"self_attn", "multihead_attn"});
    });

// ---- Several layers, each a copy of one.

std::string layer_name(int64_t i) { return "layers." + std::to_string(i); }

void make_stack(Layer &self, const char *one) {
  const Arguments &a = self.made_with();
  const auto *given = a[one].as<Argument::Part>();
  const auto layer = given ? std::dynamic_pointer_cast<Layer>(*given) : nullptr;
  if (!layer) a.refuse(one, "a layer");
  for (int64_t i = 0; i < a.integer("num_layers"); ++i) self.part(layer_name(i), layer->cloned());
  if (a.has("norm")) self.part("norm", *a["norm"].as<Argument::Part>());
}

Argument stack_of(Layer &self, Variable x, const std::vector<Argument> &others, const Named &named) {
  for (int64_t i = 0; i < self.made_with().integer("num_layers"); ++i) {
    std::vector<Argument> positional = {x};
    positional.insert(positional.end(), others.begin(), others.end());
    x = result_of(*self.find_part(layer_name(i)), positional, named);
  }
  if (const auto norm = self.find_part("norm")) x = (*norm)(x);
  return x;
}

const LayerRow encoder("TransformerEncoder",
                       "encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True",
                       {"src, mask=None, src_key_padding_mask=None, is_causal=None",
                        [](Layer &self, const Arguments &in) {
                          return stack_of(
                              self, in.variable("src"), {},
                              {{"src_mask", in["mask"]}, {"src_key_padding_mask", in["src_key_padding_mask"]}});
                        }},
                       [](Layer &self) { make_stack(self, "encoder_layer"); });

const LayerRow decoder(
    "TransformerDecoder", "decoder_layer, num_layers, norm=None",
    {"tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, "
     "memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False",
     [](Layer &self, const Arguments &in) {
       Named named;
       for (const char *name : {"tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask"})
         named[name] = in[name];
       return stack_of(self, in.variable("tgt"), {in["memory"]}, named);
     }},
    [](Layer &self) { make_stack(self, "decoder_layer"); });

// ---- The whole.

void make_side(Layer &self, const std::string &name, const char *layer, const char *stack, const char *count) {
  const Arguments &a = self.made_with();
  Named options;
  for (const Parameter &p : find_layer(layer)->made_with().parameters()) options[p.name] = a[p.name];
  const auto one = std::make_shared<Layer>(make(layer, {}, options));
  const auto norm =
      std::make_shared<Layer>(make("LayerNorm", {a["d_model"]}, {{"eps", a["layer_norm_eps"]}, {"bias", a["bias"]}}));
  Layer &all = self.part(name, stack, {Argument::Part(one), a[count], Argument::Part(norm)});
  // As wide as what goes in and comes out.
  for (const auto &[parameter, p] : all.named_parameters()) {
    const Shape &s = p.shape();
    if (s.size() < 2) continue;
    const double bound = std::sqrt(6.0 / static_cast<double>(s[0] + s[1]));
    p.value().copy_from(uniform_parameter(s, bound).value());
  }
}

const LayerRow transformer(
    "Transformer",
    "d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, "
    "activation='relu', custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05, batch_first=False, "
    "norm_first=False, bias=True",
    {"src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, "
     "tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None, "
     "memory_is_causal=False",
     [](Layer &self, const Arguments &in) -> Argument {
       const Variable memory =
           result_of(*self.find_part("encoder"), {in["src"]},
                     {{"mask", in["src_mask"]}, {"src_key_padding_mask", in["src_key_padding_mask"]}});
       Named named;
       for (const char *name : {"tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask"})
         named[name] = in[name];
       return self.find_part("decoder")->call({in["tgt"], memory}, named);
     }},
    [](Layer &self) {
      const Arguments &a = self.made_with();
      for (const char *name : {"custom_encoder", "custom_decoder"})
        if (a.has(name)) a.refuse(name, "None: make a module of encoder and decoder instead");
      make_side(self, "encoder", "TransformerEncoderLayer", "TransformerEncoder", "num_encoder_layers");
      make_side(self, "decoder", "TransformerDecoderLayer", "TransformerDecoder", "num_decoder_layers");
    });

}  // namespace

const void *transformers() { return &encoder_layer; }

}  // namespace saltern::nn
