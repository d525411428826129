// Small layers with Keras' names: functions by name, other shapes, attention of one head, tables both ways, steps of any cell,
// and what signals are seen through.

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/attention.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

const LayerRow activation("Activation", "activation",
                          {"input",
                           [](Layer &self, const Arguments &in) {
                             return call(self.made_with().word("activation"), {in["input"]});
                           }},
                          [](Layer &self) {
                            const Arguments &a = self.made_with();
                            if (!find_function(a.word("activation"))) a.refuse("activation", "the name of a function");
                          });

const LayerRow reshape_row("Reshape", "target_shape",
                           {"input",
                            [](Layer &self, const Arguments &in) -> Argument {
                              const Variable x = in.variable("input");
                              Shape shape = self.made_with().integers("target_shape");
                              shape.insert(shape.begin(), x.shape().at(0));
                              return reshape(x, shape);
                            }},
                           nullptr);

// Numbers of mean 0 and variance 1 from such of these, along one dimension; or back.
const LayerRow normalization(
    "Normalization", "mean, variance, dim=1, invert=False",
    {"input",
     [](Layer &self, const Arguments &in) -> Argument {
       const Variable x = in.variable("input");
       const auto beside = [&](const char *name) {
         const Variable v = self.buffer(name);
         Shape shape(x.shape().size(), 1);
         const int d = dimension(self.made_with().integer("dim"), x.value().rank(), in.owner());
         if (!v.shape().empty()) shape[static_cast<size_t>(d)] = v.shape()[0];
         return reshape(v, shape);
       };
       const Variable middle = beside("mean"), spread = composed("clamp", {sqrt(beside("variance")), 1e-7});
       return self.made_with().flag("invert") ? x * spread + middle : (x - middle) / spread;
     }},
    [](Layer &self) {
      for (const char *name : {"mean", "variance"}) {
        const Argument &given = self.made_with()[name];
        const std::vector<double> listed = given.as<Variable>() ? std::vector<double>() : self.made_with().reals(name);
        self.buffer(
            name, given.as<Variable>()
                      ? self.made_with().variable(name).value().clone()
                      : to_type(Tensor::of<double>(
                                    listed.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(listed.size())}, listed),
                                Type::f32)
                            .value());
      }
    });

// ---- Attention of one head: products of queries and keys, or sums of tanh(q + k).

Variable one(const Layer &) { return constant_parameter({}, 1); }

const LayerRow attention_row(
    "Attention", "use_scale=False, score_mode='dot', dropout=0.0",
    {"query, key, value=None, attn_mask=None, is_causal=False",
     [](Layer &self, const Arguments &in) -> Argument {
       const Arguments &a = self.made_with();
       const Variable q = in.variable("query"), k = in.variable("key"),
                      v = in.variable(in.has("value") ? "value" : "key");
       const bool scaled = self.has_parameter("scale");
       Variable scores;
       if (a.word("score_mode") == "dot") {
         scores = matmul(q, transposed(k));
         if (scaled) scores = scores * self.parameter("scale");
       } else {
         Variable both = composed("unsqueeze", {q, -2}) + composed("unsqueeze", {k, -3});
         if (scaled) both = both * self.parameter("scale");
         scores = composed("sum", {tanh(both), -1}) * self.parameter("concat_score_weight");
       }
       if (in.has("attn_mask")) scores = scores + added_mask(in.variable("attn_mask"), false, scores.value().type());
       if (in.flag("is_causal")) {
         const Shape &s = scores.shape();
         scores = scores +
                  composed("triu", {Tensor::full({s[s.size() - 2], s.back()}, -INFINITY, scores.value().type()), 1});
       }
       return matmul(composed("dropout", {call("softmax", {scores, -1}), a["dropout"], self.training()}), v);
     }},
    [](Layer &self) {
      const bool concat = self.made_with().word("score_mode", {"dot", "concat"}) == "concat";
      self.parameter("scale", self.made_with().flag("use_scale") ? one(self) : Variable());
      self.parameter("concat_score_weight", concat ? one(self) : Variable());
    });

// ---- Rows of a table by their numbers, and with reverse=True how near vectors are to each row.

const LayerRow reversible(
    "ReversibleEmbedding", "num_embeddings, embedding_dim, tie_weights=True, logit_soft_cap=None",
    {"input, reverse=False",
     [](Layer &self, const Arguments &in) -> Argument {
       if (!in.flag("reverse")) return call("embedding", {in["input"], self.parameter("weight")});
       const bool tied = !self.has_parameter("reverse_weight");
       const Variable y =
           matmul(in.variable("input"), tied ? transposed(self.parameter("weight")) : self.parameter("reverse_weight"));
       if (!self.made_with().has("logit_soft_cap")) return y;
       const double cap = self.made_with().real("logit_soft_cap");
       return tanh(y / cap) * cap;
     }},
    [](Layer &self) {
      const Arguments &a = self.made_with();
      const int64_t count = a.integer("num_embeddings"), width = a.integer("embedding_dim");
      if (count < 1) a.refuse("num_embeddings", "1 or more");
      if (width < 1) a.refuse("embedding_dim", "1 or more");
      self.parameter("weight", uniform_parameter({count, width}, 0.05));
      self.parameter("reverse_weight", a.flag("tie_weights") ? Variable() : uniform_parameter({width, count}, 0.05));
    });

// ---- Keras' RNN, whose name is that of PyTorch's layer: any cell over time, (n, t, ...).

const LayerRow over_time(
    "CellOverTime", "cell, return_sequences=False, return_state=False, go_backwards=False",
    {"input, hx=None",
     [](Layer &self, const Arguments &in) -> Argument {
       const Arguments &a = self.made_with();
       const auto cell = self.find_part("cell");
       const std::vector<Variable> steps = variables_of(call("unbind", {in["input"], 1}));
       if (steps.empty()) in.refuse("input", "steps (n, t, ...), at least one");
       Argument state = in["hx"];
       Argument::List outputs;
       for (size_t i = 0; i < steps.size(); ++i) {
         const Argument y = cell->call({steps[a.flag("go_backwards") ? steps.size() - 1 - i : i], state});
         // Cells give their state; one that gives an output beside it gives that first.
         const auto *list = y.as<Argument::List>();
         const bool beside = list && !list->empty() && cell->row().name() == "StackedRNNCells";
         state = beside ? list->at(1) : y;
         outputs.push_back(beside ? list->at(0) : list ? list->at(0) : y);
       }
       const Argument y = a.flag("return_sequences") ? call("stack", {outputs, 1}) : outputs.back();
       return a.flag("return_state") ? Argument(Argument::List{y, state}) : y;
     }},
    [](Layer &self) {
      const auto *part = self.made_with()["cell"].as<Argument::Part>();
      if (!part || !std::dynamic_pointer_cast<Layer>(*part)) self.made_with().refuse("cell", "a layer of the table");
      self.part("cell", *part);
    });

// ---- Mel spectrograms (.., bands, frames) in decibels.

// Triangles that are straight on the mel scale, (frequencies, bands); nothing at frequency 0.
Tensor mel_triangles(int64_t bands, int64_t frequencies, double nyquist, double least, double most) {
  const auto mel = [](double hertz) { return 1127.0 * std::log(1 + hertz / 700.0); };
  const double low = mel(least), step = (mel(most) - low) / static_cast<double>(bands + 1);
  std::vector<double> all;
  for (int64_t i = 0; i < frequencies; ++i) {
    const double at = mel(nyquist * static_cast<double>(i) / static_cast<double>(frequencies - 1));
    for (int64_t b = 0; b < bands; ++b) {
      const double place = (at - low) / step - static_cast<double>(b + 1);
      all.push_back(i == 0 ? 0 : std::max(0.0, 1 - std::abs(place)));
    }
  }
  return Tensor::of<double>({frequencies, bands}, all);
}

const LayerRow mel_spectrogram(
    "MelSpectrogram",
    "fft_length=2048, sequence_stride=512, sequence_length=None, window='hann', sampling_rate=16000, num_mel_bins=128, "
    "min_freq=20.0, max_freq=None, power_to_db=True, top_db=80.0, mag_exp=2.0, min_power=1e-10, ref_power=1.0",
    {"input", [](Layer &self, const Arguments &in) -> Argument {
       const Arguments &a = self.made_with();
       const Variable x = in.variable("input");
       const Argument length = a.has("sequence_length") ? a["sequence_length"] : a["fft_length"];
       const Argument both = call("keras.stft", {x, length, a["sequence_stride"], a["fft_length"], a["window"]});
       const Variable re = variable_of(both.as<Argument::List>()->at(0)),
                      im = variable_of(both.as<Argument::List>()->at(1));
       const Variable size = composed("complex.abs", {call("complex.pairs", {re, im})});
       const Variable power = a.real("mag_exp") == 2 ? re * re + im * im : composed("pow", {size, a["mag_exp"]});
       const double nyquist = a.real("sampling_rate") / 2,
                    most = a.has("max_freq") ? a.real("max_freq") : std::floor(nyquist);
       const Tensor bands =
           mel_triangles(a.integer("num_mel_bins"), a.integer("fft_length") / 2 + 1, nyquist, a.real("min_freq"), most);
       Variable y = matmul(power, to_type(bands, power.value().type()));
       if (a.flag("power_to_db")) {
         const auto decibels = [](double p) { return 10 * std::log10(p); };
         y = log(composed("clamp", {y, a["min_power"]})) * (10 / M_LN10) -
             decibels(std::max(std::abs(a.real("ref_power")), a.real("min_power")));
         y = composed("maximum", {y, composed("amax", {y}) - a.real("top_db")});
       }
       return transposed(y);
     }});

}  // namespace

const void *keras_layers() { return &activation; }

}  // namespace saltern::nn
