// Convolutions along one, two or three axes, and transposed ones, with their layers.

#include "algorithms/convolution.h"

#include <cmath>

#include "algorithms/normalisation.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/conv2d.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/window.h"
#include "runtime/nn/images.h"
#include "runtime/nn/lazy.h"
#include "runtime/operations.h"

namespace saltern::nn {

namespace {

using namespace formula;

Value with_bias(const Value &y, const Values &in) { return in.size() > 2 ? y + algorithms::by_channel(in[2], y) : y; }

std::vector<Variable> those_given(const Variable &a, const Variable &b, const Variable &maybe) {
  return maybe.defined() ? std::vector{a, b, maybe} : std::vector{a, b};
}

// x (N, C, ...), w (O, C / groups, ...), b (O), which may be left out; attributes: those of windows, and groups
const Operation convolution("convolution", [](const Values &in, const Attributes &a) -> Values {
  return {with_bias(algorithms::convolution(in.at(0), in.at(1), slides_of(a), a.integer("groups")), in)};
});
// x (N, O, ...), w (O, C / groups, ...), b (C); attributes: also the extents of the result
const Operation transposed("transposed_convolution", [](const Values &in, const Attributes &a) -> Values {
  return {with_bias(
      algorithms::transposed_convolution(in.at(0), in.at(1), slides_of(a), extents(a, "shape"), a.integer("groups")),
      in)};
});

// ---- What both are given.

struct GivenImages {
  Images x;
  Variable weight, bias;
  int64_t groups;
  Windows windows;

  GivenImages(const Arguments &a, int axes)
      : x(a, "input", axes),
        weight(a.variable("weight")),
        bias(a.variable_if_given("bias")),
        groups(a.integer("groups")) {
    const auto count = static_cast<size_t>(axes);
    if (weight.shape().size() != count + 2)
      a.refuse("weight", "a tensor of " + std::to_string(axes + 2) + " dimensions");
    const Type type = x.batch().type();
    if (weight.type() != type || (bias.defined() && bias.type() != type))
      a.refuse("input", std::string(facts(weight.type()).name) + ", as the weights and the bias have to be");
    windows.kernel = {weight.shape().begin() + 2, weight.shape().end()};
    for (int64_t k : windows.kernel)
      if (k < 1) a.refuse("weight", "a kernel of 1 or more each way");
    windows.strides = integers_from(a, "stride", count, 1);
    windows.dilations = integers_from(a, "dilation", count, 1);
    if (groups < 1 || weight.shape()[0] % groups != 0)
      a.refuse("groups", "a divisor of " + std::to_string(weight.shape()[0]));
  }

  void expect(const Arguments &a, int64_t channels, int64_t outputs) const {
    if (x.shape()[1] != channels) a.refuse("input", std::to_string(channels) + " channels");
    if (bias.defined() && bias.shape() != Shape{outputs}) a.refuse("bias", std::to_string(outputs) + " numbers");
  }
};

// Paddings by number, or by a word: 'same' puts the odd one behind.
void set_padding(const Arguments &a, Windows &w) {
  const auto *word = a["padding"].as<std::string>();
  if (!word) {
    w.before = w.after = integers_from(a, "padding", w.axes(), 0);
    return;
  }
  const bool same = a.word("padding", {"same", "valid"}) == "same";
  for (size_t d = 0; d < w.axes(); ++d) {
    if (same && w.strides[d] != 1) a.refuse("padding", "another than 'same' where there is a stride");
    const int64_t all = same ? w.reach(d) - 1 : 0;
    w.before.push_back(all / 2);
    w.after.push_back(all - all / 2);
  }
}

Argument convolve(const Arguments &a, int axes) {
  GivenImages g(a, axes);
  Windows &w = g.windows;
  g.expect(a, g.weight.shape()[1] * g.groups, g.weight.shape()[0]);
  set_padding(a, w);
  w.fit(a, g.x.extents(), false);
  const Variable &x = g.x.batch();
  if (!has_kernels({x, g.weight, g.bias}, w.axes()))
    return g.x.as_given(
        apply_one(convolution, those_given(x, g.weight, g.bias), w.attributes().with("groups", g.groups)));
  const Variable y =
      apply_one(operations::conv2d, those_given(image_to_keep(with_two_axes(x)), with_two_axes(g.weight), g.bias),
                w.attributes_of_two_axes().with("groups", g.groups));
  return g.x.as_given(with_axes_of(w, y));
}

// The windows slide over the result, and their positions are the elements of x.
Argument transpose_convolve(const Arguments &a, int axes) {
  GivenImages g(a, axes);
  Windows &w = g.windows;
  const int64_t outputs = g.weight.shape()[1] * g.groups;
  g.expect(a, g.weight.shape()[0], outputs);
  w.before = w.after = integers_from(a, "padding", w.axes(), 0);
  const Shape more = integers_from(a, "output_padding", w.axes(), 0);
  const Variable &x = g.x.batch();
  Shape shape = {x.shape()[0], outputs};
  bool fits = has_kernels({x, g.weight}, w.axes());  // these count positions by themselves
  for (size_t d = 0; d < w.axes(); ++d) {
    if (more[d] >= std::max(w.strides[d], w.dilations[d]))
      a.refuse("output_padding", "less than the stride or the dilation");
    shape.push_back((x.shape()[d + 2] - 1) * w.strides[d] - 2 * w.before[d] + w.reach(d) + more[d]);
    if (shape.back() < 1) a.refuse("padding", "one that leaves something of the result, " + to_string(shape));
    fits &= more[d] < w.strides[d];
  }
  if (!fits) {
    w.positions = g.x.extents();
    return g.x.as_given(apply_one(transposed, those_given(x, g.weight, g.bias),
                                  w.attributes().with("groups", g.groups).with("shape", shape)));
  }
  Shape image = shape;
  if (axes == 1) image.insert(image.begin() + 2, 1);
  const Variable y =
      with_axes_of(w, apply_one(operations::conv2d_gradient_x, {with_two_axes(g.weight), with_two_axes(x)},
                                w.attributes_of_two_axes().with("groups", g.groups).with("shape", image)));
  Shape across(w.axes() + 2, 1);
  across[1] = outputs;
  return g.x.as_given(g.bias.defined() ? y + reshape(g.bias, across) : y);
}

// ---- Layers.

// PyTorch's default: uniform in +-1/sqrt(fan_in). Weights of two axes lie as the kernels read them.
LayerRow::Make maker(int axes, bool transposed) {
  return [=](Layer &self) {
    const Arguments &a = self.made_with();
    const int64_t channels = a.integer("in_channels"), outputs = a.integer("out_channels"),
                  groups = a.integer("groups");
    if (channels < 1 || outputs < 1) a.refuse(channels < 1 ? "in_channels" : "out_channels", "1 or more");
    if (groups < 1 || channels % groups != 0 || outputs % groups != 0)
      a.refuse("groups", "a divisor of " + std::to_string(channels) + " and " + std::to_string(outputs) + " channels");
    Shape weight = transposed ? Shape{channels, outputs / groups} : Shape{outputs, channels / groups};
    for (int64_t k : integers_from(a, "kernel_size", static_cast<size_t>(axes), 1)) weight.push_back(k);
    const double bound = 1 / std::sqrt(static_cast<double>(elements(Shape(weight.begin() + 1, weight.end()))));
    self.parameter("weight", uniform_parameter(weight, bound, axes == 2 ? Layout::channels_last : Layout::row_major));
    self.parameter("bias", a.flag("bias") ? uniform_parameter({outputs}, bound) : Variable());
  };
}

// Other modes than zeros put the edges around x first.
Forward convolving(int axes) {
  return {"input", [axes](Layer &self, const Arguments &in) {
            const Arguments &a = self.made_with();
            const std::string &mode = a.word("padding_mode", {"zeros", "reflect", "replicate", "circular"});
            Argument x = in["input"], padding = a["padding"];
            if (mode != "zeros") {
              const auto count = static_cast<size_t>(axes);
              Windows w = {
                  a.integers("kernel_size", count), a.integers("stride", count), a.integers("dilation", count), {}, {}};
              set_padding(a, w);
              Shape edges;
              for (size_t d = count; d-- > 0;) edges.insert(edges.end(), {w.before[d], w.after[d]});
              x = call("pad", {x, edges, mode});
              padding = 0;
            }
            return call(with_axes("conv", axes), {x, self.parameter("weight"), self.parameter("bias"), a["stride"],
                                                  padding, a["dilation"], a["groups"]});
          }};
}

// An output size is one of those that an output padding can give.
Argument padding_for(const Arguments &in, const Arguments &a, int axes) {
  if (!in.has("output_size")) return a["output_padding"];
  const auto count = static_cast<size_t>(axes);
  const Shape x = Images(in, "input", axes).extents();
  Shape wanted = in.integers("output_size");
  if (wanted.size() == count + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (wanted.size() != count) in.refuse("output_size", std::to_string(count) + " integers");
  const Shape kernel = a.integers("kernel_size", count), strides = a.integers("stride", count),
              padding = a.integers("padding", count), dilations = a.integers("dilation", count);
  for (size_t d = 0; d < count; ++d) {
    const int64_t least = (x[d] - 1) * strides[d] - 2 * padding[d] + dilations[d] * (kernel[d] - 1) + 1;
    if (wanted[d] < least || wanted[d] >= least + strides[d])
      in.refuse("output_size", "between " + std::to_string(least) + " and " + std::to_string(least + strides[d] - 1) +
                                   " along axis " + std::to_string(d));
    wanted[d] -= least;
  }
  return wanted;
}

Forward transposing(int axes) {
  return {"input, output_size=None", [axes](Layer &self, const Arguments &in) {
            const Arguments &a = self.made_with();
            a.word("padding_mode", {"zeros"});
            return call(with_axes("conv_transpose", axes),
                        {in["input"], self.parameter("weight"), self.parameter("bias"), a["stride"], a["padding"],
                         padding_for(in, a, axes), a["groups"], a["dilation"]});
          }};
}

const char *const channels = "in_channels";
const std::string options =
    "out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode='zeros'";
const std::string transposed_options =
    "out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, "
    "padding_mode='zeros'";

struct Convolutions {
  Convolutions(int axes)
      : function(with_axes("conv", axes), "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
                 [axes](const Arguments &a) { return convolve(a, axes); }),
        layer(with_axes("Conv", axes), channels, options, static_cast<size_t>(axes) + 2, convolving(axes),
              maker(axes, false)),
        transposed_function(with_axes("conv_transpose", axes),
                            "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1",
                            [axes](const Arguments &a) { return transpose_convolve(a, axes); }),
        transposed_layer(with_axes("ConvTranspose", axes), channels, transposed_options, static_cast<size_t>(axes) + 2,
                         transposing(axes), maker(axes, true)) {}

  Function function;
  RowWithLazy layer;
  Function transposed_function;
  RowWithLazy transposed_layer;
};
const Convolutions convolutions_of_axes[] = {{1}, {2}, {3}};

// Of (T, N, C), by weights (K, C, O).
const Function conv_tbc("conv_tbc", "input, weight, bias, pad=0", [](const Arguments &a) {
  const Variable x = a.variable("input"), w = a.variable("weight");
  if (x.shape().size() != 3 || w.shape().size() != 3)
    a.refuse(x.shape().size() != 3 ? "input" : "weight", "a tensor of 3 dimensions");
  const Argument y = call("conv1d", {transpose(x, {1, 2, 0}), transpose(w, {2, 1, 0}), a["bias"], 1, a["pad"]});
  return transpose(variable_of(y), {2, 0, 1});
});

}  // namespace

const void *convolutions() { return convolutions_of_axes; }

}  // namespace saltern::nn
