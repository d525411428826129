// Layers that are made of others, with torchvision's names. Which ones is said by their names, or, from Python, by their
// classes.

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

// ---- Parts that are called "0", "1", ..., one after another.

const Forward one_after_another = {"input", [](Layer &self, const Arguments &in) -> Argument {
                                     Variable x = in.variable("input");
                                     for (int i = 0; const auto part = self.find_part(std::to_string(i)); ++i)
                                       x = inside(std::to_string(i), *part, x);
                                     return x;
                                   }};

class Chain {
 public:
  explicit Chain(Layer &self) : self_(self) {}

  void add(const std::string &layer, const std::vector<Argument> &positional, Named named = {}) {
    const LayerRow *row = find_layer(layer);
    if (row && !row->made_with().has("inplace")) named.erase("inplace");
    self_.part(std::to_string(count_++), layer, positional, named);
  }

 private:
  Layer &self_;
  int count_ = 0;
};

// 'inplace', where it is given.
Named in_place(const Arguments &a) { return a.has("inplace") ? Named{{"inplace", a["inplace"]}} : Named(); }

const LayerRow mlp("MLP",
                   "in_channels, hidden_channels, norm_layer=None, activation_layer='ReLU', inplace=None, bias=True, "
                   "dropout=0.0",
                   one_after_another, [](Layer &self) {
                     const Arguments &a = self.made_with();
                     Chain chain(self);
                     int64_t from = a.integer("in_channels");
                     const std::vector<int64_t> widths = a.integers("hidden_channels");
                     if (widths.empty()) a.refuse("hidden_channels", "a list of at least one width");
                     for (size_t i = 0; i < widths.size(); ++i) {
                       chain.add("Linear", {from, widths[i], a["bias"]});
                       if (i + 1 < widths.size()) {
                         if (a.has("norm_layer")) chain.add(a.word("norm_layer"), {widths[i]});
                         if (a.has("activation_layer")) chain.add(a.word("activation_layer"), {}, in_place(a));
                       }
                       chain.add("Dropout", {a["dropout"]}, in_place(a));
                       from = widths[i];
                     }
                   });

// A convolution with a norm and an activation behind it; padded so that a stride of 1 keeps the image's size.
struct ConvNormActivation {
  explicit ConvNormActivation(int axes)
      : row(with_axes("Conv", axes) + "NormActivation",
            "in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer='" +
                with_axes("BatchNorm", axes) + "', activation_layer='ReLU', dilation=1, inplace=True, bias=None",
            one_after_another, [axes](Layer &self) {
              const Arguments &a = self.made_with();
              Argument padding = a["padding"];
              if (padding.is_none()) {
                Shape sizes = a.integers("kernel_size", static_cast<size_t>(axes));
                const Shape dilations = a.integers("dilation", sizes.size());
                for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = (sizes[d] - 1) / 2 * dilations[d];
                padding = sizes;
              }
              Chain chain(self);
              chain.add(with_axes("Conv", axes),
                        {a["in_channels"], a["out_channels"], a["kernel_size"], a["stride"], padding, a["dilation"],
                         a["groups"], a.has("bias") ? a["bias"] : Argument(!a.has("norm_layer"))});
              if (a.has("norm_layer")) chain.add(a.word("norm_layer"), {a["out_channels"]});
              if (a.has("activation_layer")) chain.add(a.word("activation_layer"), {}, in_place(a));
            }) {}
  LayerRow row;
};
const ConvNormActivation conv2d_norm(2), conv3d_norm(3);

// x scaled by channel, by what two layers make of the means of channels.
const LayerRow squeeze_excitation(
    "SqueezeExcitation", "input_channels, squeeze_channels, activation='ReLU', scale_activation='Sigmoid'",
    {"input",
     [](Layer &self, const Arguments &in) -> Argument {
       const Variable x = in.variable("input");
       Variable scale = x;
       for (const char *part : {"avgpool", "fc1", "activation", "fc2", "scale_activation"})
         scale = inside(part, self.part(part), scale);
       return x * scale;
     }},
    [](Layer &self) {
      const Arguments &a = self.made_with();
      const Argument inputs = a["input_channels"], squeezed = a["squeeze_channels"];
      self.part("avgpool", "AdaptiveAvgPool2d", {1});
      self.part("fc1", "Conv2d", {inputs, squeezed, 1});
      self.part("fc2", "Conv2d", {squeezed, inputs, 1});
      self.part("activation", a.word("activation"), {});
      self.part("scale_activation", a.word("scale_activation"), {});
    });

// ---- Of no parts.

// A norm by what was measured elsewhere: nothing in it is trained.
const LayerRow frozen_batch_norm("FrozenBatchNorm2d", "num_features, eps=1e-05",
                                 {"input",
                                  [](Layer &self, const Arguments &in) {
                                    return call("batch_norm",
                                                {in["input"], self.buffer("running_mean"), self.buffer("running_var"),
                                                 self.buffer("weight"), self.buffer("bias"), false, 0.0,
                                                 self.made_with()["eps"]});
                                  }},
                                 [](Layer &self) {
                                   const Shape shape = {self.made_with().integer("num_features")};
                                   for (const char *name : {"weight", "bias", "running_mean", "running_var"}) {
                                     const bool ones =
                                         std::string(name) == "weight" || std::string(name) == "running_var";
                                     self.buffer(name, Tensor::full(shape, ones ? 1 : 0));
                                   }
                                 });

const LayerRow permute("Permute", "dims", calls("permute"));

}  // namespace

const void *blocks() { return &mlp; }

}  // namespace saltern::nn
