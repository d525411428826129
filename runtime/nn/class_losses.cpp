// Losses of scores of classes, input(n, c, d...), or of one sample (c): labels say which class is right, or probabilities
// how much each is.

#include <numeric>

#include "algorithms/losses.h"
#include "algorithms/probabilities.h"
#include "runtime/layers/linear.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/losses.h"
#include "runtime/operations.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- Of logarithms of probabilities, x(n, c, d...), and labels(n, d...).

int64_t ignored_index(const Arguments &a) { return a.has("ignore_index") ? a.integer("ignore_index") : -100; }

// A share of each sample's loss may be that of all classes alike.
Value label_loss(const Value &x, const Value &labels, const Arguments &a, double smoothing) {
  const Value weights = weights_beside(x, a);
  const algorithms::LabelLoss right = algorithms::label_loss(x, labels, weights, ignored_index(a));
  const auto result = [&](const Value &losses) {
    return reduced_loss(a.value("input").rank() == 1 ? of_first(losses) : losses,
                        a.value("input").rank() == 1 ? of_first(right.weight) : right.weight, a);
  };
  if (smoothing == 0) return result(right.loss);
  const Value of_all = named("of_all", compute("of_all", labels.extents(), [&](const Axes &at) {
                               return sum({x.extent(1)}, [&](const Axes &c) {
                                 Axes from = at;
                                 from.insert(from.begin() + 1, c[0]);
                                 return weights.defined() ? -(weights(c[0]) * x.at(from)) : -x.at(from);
                               });
                             }));
  const Value label = cast(Type::i64, labels);
  const Value counted = inlined(labels.extents(), [&](const Axes &at) {
    return select(label.at(at) == ignored_index(a), constant(x.type(), 0), of_all.at(at));
  });
  const Expression classes = cast(x.type(), x.extent(1));
  const Value share = inlined({}, [&](const Axes &) { return constant(x.type(), smoothing) / classes; });
  return result(right.loss * (1 - smoothing) + counted * share);
}

// The mean is over samples, whatever the weights.
Value probability_loss(const Value &x, const Value &target, const Arguments &a, double smoothing) {
  const Expression classes = cast(x.type(), x.extent(1));
  const Value share = inlined({}, [&](const Axes &) { return constant(x.type(), smoothing) / classes; });
  const Value wanted = smoothing == 0 ? target : target * (1 - smoothing) + share;
  const Value weights = weights_beside(x, a);
  std::vector<Expression> samples = x.extents();
  samples.erase(samples.begin() + 1);
  const Value loss = compute("loss", samples, [&](const Axes &at) {
    return sum({x.extent(1)}, [&](const Axes &c) {
      Axes from = at;
      from.insert(from.begin() + 1, c[0]);
      const Expression each = -(x.at(from) * wanted.at(from));
      return weights.defined() ? each * weights(c[0]) : each;
    });
  });
  return reduced_loss(a.value("input").rank() == 1 ? of_first(loss) : loss, a);
}

// ---- Functions.

const std::string of_labels = "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'";

const Function nll("nll_loss", "input, target, " + of_labels, by_formula([](const Arguments &a) {
                     const Value x = a.value("input"), t = a.value("target");
                     return x.rank() == 1 ? label_loss(batched(x), batched(t), a, 0) : label_loss(x, t, a, 0);
                   }),
                   [](const Arguments &a) -> Argument { return expect_labels(a, ignored_index(a)), Argument(); });
const LayerRow nll_layer("NLLLoss", of_labels, calls("nll_loss", "input, target"), keeps({"weight"}));
const LayerRow nll_of_images("NLLLoss2d", of_labels, calls("nll_loss", "input, target"), keeps({"weight"}));

bool are_probabilities(const Arguments &a) { return is_real(a.variable("target").type()); }

// The library's kernel is of rows and labels without weights.
Argument cross_entropy_by_kernel(const Arguments &a) {
  const Variable x = a.variable("input"), t = a.variable("target");
  const double smoothing = a.real("label_smoothing");
  if (!(smoothing >= 0 && smoothing <= 1)) a.refuse("label_smoothing", "a number between 0 and 1");
  if (are_probabilities(a)) {
    if (x.shape() != t.shape()) a.refuse("target", "probabilities " + to_string(x.shape()) + ", or labels");
    return {};
  }
  expect_labels(a, ignored_index(a));
  const bool has_kernel = x.type() == Type::f32 && x.shape().size() == 2 && x.size() > 0 &&
                          t.type() == Type::i64 && !a.has("weight") && smoothing == 0;
  if (!has_kernel) return {};
  const Variable losses = apply_one(operations::cross_entropy, {x, t}, {{"ignore", ignored_index(a)}});
  const std::string how = reduction_of(a);
  if (how == "none") return losses;
  if (how == "sum") return sum(losses);
  const Operation *counted = find_operation("counted_samples");
  return sum(losses) / sum(apply_one(*counted, {t}, {{"ignore", ignored_index(a)}}));
}

const Function cross_entropy("cross_entropy", "input, target, " + of_labels + ", label_smoothing=0.0",
                             by_formula([](const Arguments &a) {
                               const bool one = a.value("input").rank() == 1;
                               const Value given = a.value("target"), t = one ? batched(given) : given;
                               const Value x = a.value("input");
                               const Value y = algorithms::log_softmax(one ? batched(x) : x, 1);
                               const double smoothing = a.real("label_smoothing");
                               return is_real(t.type()) ? probability_loss(y, t, a, smoothing)
                                                        : label_loss(y, t, a, smoothing);
                             }),
                             cross_entropy_by_kernel);
const LayerRow cross_entropy_layer("CrossEntropyLoss", of_labels + ", label_smoothing=0.0",
                                   calls("cross_entropy", "input, target"), keeps({"weight"}));

// The loss of linear(input): weights (C, d..., in) give scores (n, C, d...). `options` say how much memory it may take in
// PyTorch, and change no result.
const std::string of_linear = "reduction='mean', weight=None, ignore_index=None, label_smoothing=0.0, options=None";
const Function linear_cross_entropy(
    "linear_cross_entropy", "input, linear_weight, target, *, linear_bias=None, " + of_linear, [](const Arguments &a) {
      const Variable x = a.variable("input"), w = a.variable("linear_weight");
      const Variable b = a.variable_if_given("linear_bias");
      const Shape weights = w.shape();
      if (weights.size() < 2) a.refuse("linear_weight", "weights (C, ..., in)");
      if (x.shape().empty() || x.shape().size() > 2 || x.shape().back() != weights.back())
        a.refuse("input", "(in) or (N, in), in = " + std::to_string(weights.back()));
      const Shape each(weights.begin(), weights.end() - 1);
      if (x.shape().size() == 1 && each.size() > 1) a.refuse("input", "a batch, (N, in), beside weights (C, ..., in)");
      if (b.defined() && b.shape() != each) a.refuse("linear_bias", "biases " + to_string(each));
      const int64_t count = elements(each);
      const Variable scores = variable_of(call("linear", {x, reshape(w, {count, weights.back()}),
                                                          b.defined() ? Argument(reshape(b, {count})) : Argument()}));
      Shape shape(x.shape().begin(), x.shape().end() - 1);
      shape.insert(shape.end(), each.begin(), each.end());
      const Variable logits = scores.shape() == shape ? scores : reshape(scores, shape);
      if (is_real(a.variable("target").type()) && a.has("ignore_index"))
        a.refuse("ignore_index", "None beside a target of probabilities");
      return cross_entropy.call({logits, a["target"]}, {{"weight", a["weight"]},
                                                        {"ignore_index", Argument(ignored_index(a))},
                                                        {"reduction", a["reduction"]},
                                                        {"label_smoothing", a["label_smoothing"]}});
    });
const LayerRow linear_cross_entropy_layer(
    "LinearCrossEntropyLoss", "in_features, num_classes, *, out_features=(), bias=False, " + of_linear,
    {"input, target",
     [](Layer &self, const Arguments &in) {
       const Arguments &made = self.made_with();
       Shape each = {made.integer("num_classes")};
       const std::vector<int64_t> more = made.integers("out_features");
       each.insert(each.end(), more.begin(), more.end());
       Shape weights = each;
       weights.push_back(made.integer("in_features"));
       Layer &linear = dynamic_cast<Layer &>(self.part("linear"));
       Named named = {{"linear_bias",
                       linear.has_parameter("bias") ? Argument(reshape(linear.parameter("bias"), each)) : Argument()}};
       for (const char *same : {"reduction", "ignore_index", "label_smoothing", "options"}) named[same] = made[same];
       self.find("weight", named["weight"]);
       return linear_cross_entropy.call({in["input"], reshape(linear.parameter("weight"), weights), in["target"]},
                                        named);
     }},
    [](Layer &self) {
      const Arguments &a = self.made_with();
      const std::vector<int64_t> more = a.integers("out_features");
      const int64_t count = std::accumulate(more.begin(), more.end(), a.integer("num_classes"), std::multiplies<>());
      if (a.has("weight") && a.variable("weight").shape() != Shape{a.integer("num_classes")})
        a.refuse("weight", "one for each class");
      keeps({"weight"})(self);
      self.part("linear", "Linear", {a.integer("in_features"), count}, {{"bias", a["bias"]}});
    });

}  // namespace

const void *class_losses() { return &nll; }

}  // namespace saltern::nn
