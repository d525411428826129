// Functions that draw random numbers, anew at each call (runtime/layers/random_stream.h).

#include "algorithms/probabilities.h"
#include "algorithms/random.h"
#include "runtime/layers/dropout.h"
#include "runtime/layers/random_stream.h"
#include "runtime/layers/softmax.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/noise.h"

namespace saltern::nn {

using namespace formula;

double probability(const Arguments &a, const char *name) {
  const double p = a.real(name);
  if (!(p >= 0 && p <= 1)) a.refuse(name, "a probability between 0 and 1");
  return p;
}

Variable dropped(const Arguments &a, const Variable &x, double p) {
  if (p == 1) return x * 0.0;
  return saltern::dropout(x, p, a.owner());
}

namespace {

// The number of an element, in a stream of which each takes `each`, as the counter that follows a position.
Expression counter(const Value &x, const Axes &at, const Value &random, int each, int which) {
  Expression number = 0;
  for (int d = 0; d < x.rank(); ++d) number = number * x.extent(d) + at[static_cast<size_t>(d)];
  return cast(Type::u32, random(1)) + cast(Type::u32, cast(Type::i64, number * each + which));
}

}  // namespace

Value uniform_beside(const Value &x, const Value &random) {
  return inlined(x.extents(), [&](const Axes &at) {
    return cast(x.type(), algorithms::uniform(cast(Type::u32, random(0)), counter(x, at, random, 1, 0)));
  });
}

// Box and Muller.
Value normal_beside(const Value &x, const Value &random) {
  return inlined(x.extents(), [&](const Axes &at) {
    const auto u = [&](int which) {
      return cast(x.type(), algorithms::uniform(cast(Type::u32, random(0)), counter(x, at, random, 2, which)));
    };
    return sqrt(log(1.0 - u(0)) * -2.0) * call(formula::Function::cosine, u(1) * 6.28318530717958647692);
  });
}

namespace {

// The shape of one number for each channel, (N, C, 1, ...); or of one sample (C, 1, ...).
Shape channels_of(const Shape &x, size_t axis) {
  Shape shape(x.size(), 1);
  std::copy(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(std::min(axis + 1, x.size())), shape.begin());
  return shape;
}

// Of each element, or of each channel, where `ranks` are those of one sample and of a batch.
Function::Body dropout_of(size_t sample = 0, size_t batch = 0) {
  return [sample, batch](const Arguments &a) {
    const Variable x = a.variable("input");
    const double p = probability(a);
    const size_t rank = x.shape().size();
    if (batch > 0 && rank != sample && rank != batch)
      a.refuse("input", std::to_string(sample) + " or " + std::to_string(batch) + " dimensions");
    if (!a.flag("training") || p == 0 || x.size() == 0) return x;
    if (batch == 0) return dropped(a, x, p);
    // Three dimensions are (N, C, L) to PyTorch, whatever the function.
    const Shape channels = channels_of(x.shape(), rank == batch || rank == 3 ? 1 : 0);
    return x * dropped(a, Tensor::full(channels, 1, x.type()), p);
  };
}

// A dropout and its layer.
struct DropoutRow {
  DropoutRow(const std::string &name, const std::string &layer, const Function::Body &body,
             const std::string &training = "True")
      : function(name, "input, p=0.5, training=" + training + ", inplace=False", body),
        row(layer, "p=0.5, inplace=False", calls(name), [](Layer &self) { probability(self.made_with()); }) {}

  Function function;
  LayerRow row;
};

const DropoutRow dropout("dropout", "Dropout", dropout_of()), dropout1d("dropout1d", "Dropout1d", dropout_of(2, 3)),
    dropout2d("dropout2d", "Dropout2d", dropout_of(3, 4)), dropout3d("dropout3d", "Dropout3d", dropout_of(4, 5));

// What is left out becomes the least that SELU gives, and all is scaled so that mean and variance stay.
Function::Body alpha_dropout_of(bool channels) {
  return [channels](const Arguments &a) {
    const Variable x = a.variable("input");
    const double p = probability(a);
    if (channels && x.shape().size() < 2) a.refuse("input", "(N, C, ...)");
    if (!a.flag("training") || p == 0 || x.size() == 0) return x;
    if (p == 1) return x * 0.0;
    constexpr double least = -1.7580993408473766;
    const double scale = 1 / std::sqrt((1 - p) * (1 + p * least * least)), shift = -scale * least * p;
    const Shape shape = channels ? channels_of(x.shape(), 1) : x.shape();
    const Variable keep = dropped(a, Tensor::full(shape, 1, x.type()), p) * (1 - p);
    return x * (keep * scale) + ((1.0 - keep) * (scale * least) + shift);
  };
}

const DropoutRow alpha_dropout("alpha_dropout", "AlphaDropout", alpha_dropout_of(false), "False"),
    feature_alpha_dropout("feature_alpha_dropout", "FeatureAlphaDropout", alpha_dropout_of(true), "False");

// ---- Random slopes, and random choices.

const Operation random_slopes("random_slopes", [](const Values &in, const Attributes &a) -> Values {
  const double lower = a.real("lower"), range = a.real("upper") - lower;
  return {where(in.at(0) < 0, in[0] * (uniform_beside(in[0], in.at(1)) * range + lower), in[0])};
});
const Function rrelu(
    "rrelu", "input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False", [](const Arguments &a) {
      const Variable x = a.variable("input");
      const double lower = a.real("lower"), upper = a.real("upper");
      if (!(lower <= upper)) a.refuse("lower", "at most 'upper', " + std::to_string(upper));
      if (a.flag("training"))
        return apply_one(random_slopes, {x, drawn_beside(x, a.owner())}, {{"lower", lower}, {"upper", upper}});
      return variable_of(call("leaky_relu", {x, (lower + upper) / 2}));
    });
const LayerRow rrelu_layer("RReLU", "lower=0.125, upper=0.3333333333333333, inplace=False", calls("rrelu"));

// x less log(-log u), over tau; a hard choice has the gradient of the soft one.
const Operation with_gumbel_noise("with_gumbel_noise", [](const Values &in, const Attributes &a) -> Values {
  const Value u = max(uniform_beside(in.at(0), in.at(1)), 0x1p-25);
  return {(in[0] - log(-log(u))) / a.real("tau")};
});
const Operation hard_choice("hard_choice", [](const Values &in, const Attributes &a) -> Values {
  return {stop_gradient(algorithms::hardmax(in.at(0), static_cast<int>(a.integer("axis"))) - in[0]) + in[0]};
});
const Function gumbel_softmax("gumbel_softmax", "logits, tau=1, hard=False, eps=1e-10, dim=-1", [](const Arguments &a) {
  const Variable x = a.variable("logits");
  const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
  const Variable y =
      saltern::softmax(apply_one(with_gumbel_noise, {x, drawn_beside(x, a.owner())}, {{"tau", a.real("tau")}}), axis);
  return a.flag("hard") ? apply_one(hard_choice, {y}, {{"axis", axis}}) : y;
});

}  // namespace

const void *dropouts() { return &dropout; }

}  // namespace saltern::nn
