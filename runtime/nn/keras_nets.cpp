// Keras' ops of nets, with Keras' arguments, where PyTorch has them otherwise: rows `keras.NAME`. Channels stand last, unless
// data_format says otherwise; padding 'same' gives as many windows as a stride goes into the image.

#include <cmath>

#include "algorithms/ranking.h"
#include "algorithms/reductions.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/keras.h"
#include "runtime/nn/promotion.h"

namespace saltern::nn {

namespace {

// ---- Images.

bool channels_last(const Arguments &a) {
  return !a.has("data_format") || a.word("data_format", {"channels_last", "channels_first"}) == "channels_last";
}
struct Pictures {
  Variable x;  // (n, c, ...)
  size_t axes;
  bool last;

  explicit Pictures(const Arguments &a, const char *name = "inputs")
      : x(a.variable(name)), axes(x.shape().size() - 2), last(channels_last(a)) {
    if (x.shape().size() < 3 || x.shape().size() > 5) a.refuse(name, "a batch of signals, images or volumes");
    if (last) x = composed("movedim", {x, -1, 1});
  }
  Argument as_given(const Variable &y) const { return last ? call("movedim", {y, 1, -1}) : Argument(y); }
  std::string with_axes(const std::string &name) const { return name + std::to_string(axes) + "d"; }
  int64_t extent(size_t d) const { return x.shape()[d + 2]; }
};

// What 'same' adds before and behind, from the last axis to the first, as `pad` takes it; nothing for 'valid'.
Shape edges(const Arguments &a, const Pictures &p, const Shape &window, const Shape &strides, const Shape &dilation) {
  Shape all;
  if (a.word("padding", {"valid", "same"}) == "valid") return all;
  for (size_t d = p.axes; d-- > 0;) {
    const int64_t count = (p.extent(d) + strides[d] - 1) / strides[d], reach = (window[d] - 1) * dilation[d] + 1;
    const int64_t more = std::max<int64_t>((count - 1) * strides[d] + reach - p.extent(d), 0);
    all.insert(all.end(), {more / 2, more - more / 2});
  }
  return all;
}
Variable padded(const Variable &x, const Shape &by, double value = 0) {
  return by.empty() ? x : composed("pad", {x, by, "constant", value});
}

// Kernels (k..., in, out) as PyTorch has them, (out, in, k...).
Variable turned(const Variable &kernel) { return composed("movedim", {kernel, {-1, -2}, {0, 1}}); }

Variable convolved(const Arguments &a, const Pictures &p, const Variable &kernel, int64_t groups) {
  const Shape strides = a.integers("strides", p.axes), dilation = a.integers("dilation_rate", p.axes);
  const Shape window(kernel.shape().begin() + 2, kernel.shape().end());
  return composed(p.with_axes("conv"), {padded(p.x, edges(a, p, window, strides, dilation)), kernel},
                  {{"stride", strides}, {"dilation", dilation}, {"groups", groups}});
}
// (k..., in, multiplier): each channel by itself.
Variable depthwise(const Arguments &a, const Pictures &p, const char *name) {
  const Variable kernel = composed("movedim", {a["" + std::string(name)], {-2, -1}, {0, 1}});
  const Shape &s = kernel.shape();
  Shape shape(s.begin() + 1, s.end());
  shape[0] = s[0] * s[1];
  shape.insert(shape.begin() + 1, 1);
  return convolved(a, p, reshape(kernel, shape), p.x.shape()[1]);
}

const std::string of_windows = "strides=1, padding='valid', data_format=None, dilation_rate=1";

Function::Body pooled(const std::string &kind, double outside) {
  return [=](const Arguments &a) -> Argument {
    const Pictures p(a);
    const Shape window = a.integers("pool_size", p.axes);
    const Shape strides = a.has("strides") ? a.integers("strides", p.axes) : window;
    const Shape by = edges(a, p, window, strides, Shape(p.axes, 1));
    const std::string name = p.with_axes(kind + "_pool");
    const Variable y = composed(name, {padded(p.x, by, outside), window, strides});
    if (kind == "max" || by.empty()) return p.as_given(y);
    // The mean is of what is there.
    const Variable there = Tensor::full(p.x.shape(), 1, p.x.value().type());
    return p.as_given(y / composed(name, {padded(there, by), window, strides}));
  };
}
Function::Body adaptively_pooled(const char *kind) {
  return [kind](const Arguments &a) -> Argument {
    const Pictures p(a);
    return p.as_given(
        composed(p.with_axes(std::string("adaptive_") + kind + "_pool"), {p.x, a.integers("output_size", p.axes)}));
  };
}

// Blocks of an image as channels, the block's place slowest, and back.
Function::Body blocks(bool to_depth) {
  return [to_depth](const Arguments &a) -> Argument {
    const Pictures p(a, "x");
    const int64_t b = a.integer("block_size"), n = p.x.shape()[0], c = p.x.shape()[1];
    if (p.axes != 2) a.refuse("x", "images");
    const int64_t h = p.extent(0), w = p.extent(1);
    if (b < 1 || (to_depth ? h % b + w % b : c % (b * b)) != 0) a.refuse("block_size", "a divisor of the extents");
    if (to_depth)
      return p.as_given(reshape(transpose(reshape(p.x, {n, c, h / b, b, w / b, b}), {0, 3, 5, 1, 2, 4}),
                                {n, c * b * b, h / b, w / b}));
    return p.as_given(reshape(transpose(reshape(p.x, {n, b, b, c / (b * b), h, w}), {0, 3, 4, 1, 5, 2}),
                              {n, c / (b * b), h * b, w * b}));
  };
}

const Function of_pictures[] = {
    {"keras.conv", "inputs, kernel, " + of_windows,
     [](const Arguments &a) {
       const Pictures p(a);
       const Variable kernel = turned(a.variable("kernel"));
       return p.as_given(convolved(a, p, kernel, p.x.shape()[1] / std::max<int64_t>(kernel.shape()[1], 1)));
     }},
    {"keras.depthwise_conv", "inputs, kernel, " + of_windows,
     [](const Arguments &a) {
       const Pictures p(a);
       return p.as_given(depthwise(a, p, "kernel"));
     }},
    {"keras.separable_conv", "inputs, depthwise_kernel, pointwise_kernel, " + of_windows,
     [](const Arguments &a) {
       const Pictures p(a);
       return p.as_given(composed(p.with_axes("conv"),
                                  {depthwise(a, p, "depthwise_kernel"), turned(a.variable("pointwise_kernel"))}));
     }},
    // Kernels (k..., out, in). What a window reaches beyond its stride is cut off for 'same', more of it behind.
    {"keras.conv_transpose",
     "inputs, kernel, strides=1, padding='valid', output_padding=None, data_format=None, dilation_rate=1",
     [](const Arguments &a) {
       const Pictures p(a);
       const Variable kernel = turned(a.variable("kernel"));
       const Shape strides = a.integers("strides", p.axes), dilation = a.integers("dilation_rate", p.axes);
       const bool same = a.word("padding", {"valid", "same"}) == "same";
       Variable y =
           composed(p.with_axes("conv_transpose"), {p.x, kernel}, {{"stride", strides}, {"dilation", dilation}});
       Shape cut;
       for (size_t d = p.axes; d-- > 0;) {
         const int64_t reach = (kernel.shape()[d + 2] - 1) * dilation[d] + 1, whole = y.shape()[d + 2];
         const int64_t wanted = a.has("output_padding")
                                    ? (p.extent(d) - 1) * strides[d] + reach - (same ? reach / 2 * 2 : 0) +
                                          a.integers("output_padding", p.axes)[d]
                                    : p.extent(d) * strides[d] + (same ? 0 : std::max<int64_t>(reach - strides[d], 0));
         const int64_t before = !same                     ? 0
                                : a.has("output_padding") ? reach / 2
                                                          : std::max<int64_t>(reach - strides[d], 0) / 2;
         cut.insert(cut.end(), {-before, wanted + before - whole});
       }
       return p.as_given(composed("pad", {y, cut}));
     }},
    {"keras.max_pool", "inputs, pool_size, strides=None, padding='valid', data_format=None", pooled("max", -INFINITY)},
    {"keras.average_pool", "inputs, pool_size, strides=None, padding='valid', data_format=None", pooled("avg", 0)},
    {"keras.adaptive_max_pool", "inputs, output_size, data_format=None", adaptively_pooled("max")},
    {"keras.adaptive_average_pool", "inputs, output_size, data_format=None", adaptively_pooled("avg")},
    {"keras.space_to_depth", "x, block_size, data_format='channels_last'", blocks(true)},
    {"keras.depth_to_space", "x, block_size, data_format='channels_last'", blocks(false)},
};

// ---- Norms.

// A vector along an axis, or a tensor along several, so that it broadcasts with x.
Variable beside(const Arguments &a, const char *name, const Variable &x, const std::vector<int64_t> &axes) {
  Shape shape(x.shape().size(), 1);
  for (int64_t d : axes) shape[static_cast<size_t>(d)] = x.shape()[static_cast<size_t>(d)];
  const Variable v = a.variable(name);
  if (elements(shape) != static_cast<int64_t>(v.value().size())) a.refuse(name, "one for each place of the axes");
  return reshape(v, shape);
}
// x, times and plus what is there.
Variable scaled(const Arguments &a, Variable x, const std::vector<int64_t> &axes, const char *scale,
                const char *shift) {
  if (a.has(scale)) x = x * beside(a, scale, x, axes);
  return a.signature().has(shift) && a.has(shift) ? x + beside(a, shift, x, axes) : x;
}
double epsilon_of(const Arguments &a, double otherwise = keras_epsilon) {
  return a.has("epsilon") ? a.real("epsilon") : otherwise;
}

const Function norms_of_keras[] = {
    {"keras.moments", "x, axes, keepdims=False, synchronized=False",
     [](const Arguments &a) -> Argument {
       return Argument::List{call("mean", {a["x"], a["axes"], a["keepdims"]}),
                             call("var", {a["x"], a["axes"], false, a["keepdims"]})};
     }},
    {"keras.batch_normalization", "x, mean, variance, axis, offset=None, scale=None, epsilon=0.001",
     [](const Arguments &a) {
       const Variable x = a.variable("x");
       const std::vector<int64_t> axis = {dimension(a.integer("axis"), x.value().rank(), a.owner())};
       return scaled(a, (x - beside(a, "mean", x, axis)) / sqrt(beside(a, "variance", x, axis) + a.real("epsilon")),
                     axis, "scale", "offset");
     }},
    {"keras.layer_normalization", "x, gamma=None, beta=None, axis=-1, epsilon=None",
     [](const Arguments &a) {
       const Variable x = a.variable("x");
       const std::vector<int64_t> axes = axes_of(a, x.value().rank(), "axis");
       const Variable apart = x - mean(x, axes);
       return scaled(a, apart / sqrt(mean(square(apart), axes) + epsilon_of(a)), axes, "gamma", "beta");
     }},
    {"keras.rms_normalization", "x, scale=None, axis=-1, epsilon=None",
     [](const Arguments &a) {
       const Variable x = a.variable("x");
       const std::vector<int64_t> axes = axes_of(a, x.value().rank(), "axis");
       return scaled(a, x / sqrt(mean(square(x), axes) + epsilon_of(a)), axes, "scale", "");
     }},
    {"keras.normalize", "x, axis=-1, order=2, epsilon=None",
     [](const Arguments &a) {
       return call("normalize", {a["x"], a["order"], a["axis"], epsilon_of(a)});
     }},
};

// ---- Losses, whose target stands first.

Variable sure(const Variable &p) { return composed("clamp", {p, keras_epsilon, 1 - keras_epsilon}); }

// Logarithms of the shares that classes have along an axis.
Variable logarithms(const Arguments &a) {
  const Variable x = a.variable("output");
  if (a.flag("from_logits")) return composed("log_softmax", {x, a["axis"]});
  return log(sure(composed("div", {x, call("sum", {x, a["axis"], true})})));
}
const std::string of_classes = "target, output, from_logits=False, axis=-1";

const Function losses_of_keras[] = {
    {"keras.binary_crossentropy", "target, output, from_logits=False",
     [](const Arguments &a) -> Argument {
       const Variable x = a.variable("output"), t = to_type(a.variable("target"), x.value().type());
       if (a.flag("from_logits")) return call("binary_cross_entropy_with_logits", {x, t}, {{"reduction", "none"}});
       const Variable p = sure(x);
       return -(t * log(p) + (1.0 - t) * log(1.0 - p));
     }},
    {"keras.categorical_crossentropy", of_classes,
     [](const Arguments &a) {
       const Variable x = logarithms(a);
       return call("sum", {-(to_type(a.variable("target"), x.value().type()) * x), a["axis"]});
     }},
    {"keras.sparse_categorical_crossentropy", of_classes,
     [](const Arguments &a) {
       Variable labels = a.variable("target");
       const Variable x = logarithms(a);
       const int rank = x.value().rank(), axis = dimension(a.integer("axis"), rank, a.owner());
       if (labels.shape().size() < x.shape().size()) labels = composed("unsqueeze", {labels, axis});
       return -composed("squeeze", {call("gather", {x, axis, to_type(labels, Type::i64)}), axis});
     }},
    {"keras.psnr", "x1, x2, max_val",
     [](const Arguments &a) {
       const Variable squares = square(a.variable("x1") - a.variable("x2"));
       return (std::log(a.real("max_val")) * 2 - log(mean(squares))) * (10 / M_LN10);
     }},
    // Labels (n, s), scores (n, t, c).
    {"keras.ctc_loss", "target, output, target_length, output_length, mask_index=0",
     [](const Arguments &a) {
       const Argument x = call("log_softmax", {call("transpose", {a["output"], 0, 1}), -1});
       return call("ctc_loss", {x, a["target"], a["output_length"], a["target_length"], a["mask_index"], "none"});
     }},
};

// ---- Attention of (n, t, heads, d).

const Function attention_of_keras(
    "keras.dot_product_attention",
    "query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None, "
    "attn_logits_soft_cap=None",
    [](const Arguments &a) {
      const auto heads_first = [&](const char *name) { return transpose(a.variable(name), {0, 2, 1, 3}); };
      const Variable q = heads_first("query"), k = heads_first("key"), v = heads_first("value");
      const double width = static_cast<double>(q.shape()[3]);
      Variable scores =
          matmul(q, transpose(k, {0, 1, 3, 2})) * (a.has("scale") ? a.real("scale") : 1 / std::sqrt(width));
      if (a.has("bias")) scores = scores + a.variable("bias");
      if (a.has("attn_logits_soft_cap")) {
        const double cap = a.real("attn_logits_soft_cap");
        scores = tanh(scores / cap) * cap;
      }
      if (a.has("mask")) scores = composed("where", {a["mask"], scores, scalar(-INFINITY, scores)});
      if (a.flag("is_causal")) {
        const Variable ones = Tensor::full({scores.shape()[2], scores.shape()[3]}, 1);
        scores = composed("where", {call("eq", {call("tril", {ones}), 1}), scores, scalar(-INFINITY, scores)});
      }
      return transpose(matmul(composed("softmax", {scores, -1}), v), {0, 2, 1, 3});
    });

// ---- Activations, and classes.

using namespace formula;

// The nearest shares of a whole: x less a number such that what is above 0 is 1 together. Of the greatest k, for the last k
// at which the kth is above that number. Which ones these are is constant to the gradient.
const nn::Function sparsemax("keras.sparsemax", "x, axis=-1", by_formula([](const Arguments &a) {
                               const Value x = a.value("x");
                               const int axis = dimension(a.integer("axis"), x.rank(), a.owner());
                               const Value sorted =
                                   named("sorted", algorithms::top(x, axis, x.extent(axis), true).values);
                               const Value total =
                                   named("total", algorithms::running(formula::Function::sum, sorted, axis));
                               const auto d = static_cast<size_t>(axis);
                               const Value place =
                                   inlined(x.extents(), [&](const Axes &at) { return cast(x.type(), at[d]) + 1.0; });
                               const Value none = formula::constant_value(x.type(), 0);
                               const Value counts = where(place * sorted + 1 > total, 1, none);
                               const Value many = named("many", sum(counts, {axis}));
                               const Value reached = named("reached", sum(where(place == many, total, none), {axis}));
                               return max(x - (reached - 1) / stop_gradient(many), 0);
                             }));

const nn::Function of_given_labels[] = {
    {"keras.multi_hot", "inputs, num_classes=None, axis=-1, dtype=None, sparse=False",
     [](const Arguments &a) -> Argument {
       if (a.flag("sparse")) a.refuse("sparse", "False");
       const Variable x = a.variable("inputs");
       Variable y =
           composed("one_hot", {to_type(x, Type::i64), a.has("num_classes") ? a["num_classes"] : Argument(-1)});
       if (!x.shape().empty()) y = composed("amax", {y, static_cast<int64_t>(x.shape().size()) - 1});
       y = composed("movedim", {y, -1, a["axis"]});
       return to_type(y, a.has("dtype") ? type_named(a.word("dtype")) : Type::f32);
     }},
    {"keras.in_top_k", "targets, predictions, k",
     [](const Arguments &a) -> Argument {
       const Variable x = a.variable("predictions"), t = a.variable("targets");
       const Variable of_target = composed("gather", {x, -1, call("unsqueeze", {to_type(t, Type::i64), -1})});
       const Argument above = call("gt", {x, of_target});
       return call("lt", {call("sum", {to_type(variable_of(above), Type::i64), -1}), a["k"]});
     }},
};

}  // namespace

const void *keras_nets() { return of_pictures; }

}  // namespace saltern::nn
