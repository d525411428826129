// Losses with Keras' names that PyTorch has not. Arguments stand in PyTorch's order, input first; classes are dimension 1.

#include "algorithms/distances.h"
#include "algorithms/further_losses.h"
#include "algorithms/probabilities.h"
#include "algorithms/reductions.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/families.h"
#include "runtime/nn/keras.h"
#include "runtime/nn/losses.h"

namespace saltern::nn {

namespace {

using namespace formula;

const std::string reduction = "reduction='mean'";

// ---- Of pairs of elements.

using E = const Value &;
const std::string of_focal =
    "apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, " + reduction;
const std::string of_shares = "from_logits=False, label_smoothing=0.0, " + reduction;
const ElementLoss element_losses[] = {
    {"log_cosh", "LogCosh", reduction, [](E x, E t, const Arguments &) { return algorithms::log_cosh_loss(x, t); },
     reduction},
    {"mean_squared_logarithmic_error", "MeanSquaredLogarithmicError", reduction,
     [](E x, E t, const Arguments &) { return algorithms::squared_logarithmic_error(x, t, keras_epsilon); }, reduction},
    {"mean_absolute_percentage_error", "MeanAbsolutePercentageError", reduction,
     [](E x, E t, const Arguments &) { return algorithms::percentage_error(x, t, keras_epsilon); }, reduction},
    {"hinge_loss", "Hinge", reduction, [](E x, E t, const Arguments &) { return algorithms::hinge_loss(x, t); },
     reduction},
    {"squared_hinge_loss", "SquaredHinge", reduction,
     [](E x, E t, const Arguments &) { return algorithms::square(algorithms::hinge_loss(x, t)); }, reduction},
    {"poisson_loss", "Poisson", reduction,
     [](E x, E t, const Arguments &) { return algorithms::poisson_loss(x, t, false, false, keras_epsilon); },
     reduction},
    {"binary_crossentropy", "BinaryCrossentropy", of_shares,
     [](E x, E given, const Arguments &a) {
       const double smooth = a.real("label_smoothing");
       const Value t = given * (1 - smooth) + 0.5 * smooth;
       if (a.flag("from_logits")) return max(x, 0) - x * t + log(exp(-abs(x)) + 1);
       const Value sure = min(max(x, keras_epsilon), 1 - keras_epsilon);
       return -(t * log(sure)) - (1 - t) * log(1 - sure);
     },
     of_shares},
    {"binary_focal_crossentropy", "BinaryFocalCrossentropy", of_focal,
     [](E x, E given, const Arguments &a) {
       const double smooth = a.real("label_smoothing"), alpha = a.real("alpha");
       const Value t = given * (1 - smooth) + 0.5 * smooth;
       const Value p = a.flag("from_logits") ? algorithms::sigmoid(x) : x,
                   sure = min(max(p, keras_epsilon), 1 - keras_epsilon);
       const Value loss = -(t * log(sure)) - (1 - t) * log(1 - sure), missed = p + t - 2 * p * t;
       const Value focal = power(missed, a.real("gamma")) * loss;
       return a.flag("apply_class_balancing") ? (t * alpha + (1 - t) * (1 - alpha)) * focal : focal;
     },
     of_focal},
};

// ---- Of classes.

// A loss of all classes of each sample.
struct ClassLoss {
  using Of = Value (*)(const Value &x, const Value &t, int axis, const Arguments &);

  ClassLoss(const std::string &name, const std::string &layer, const std::string &options, Of of)
      : function(name, "input, target, " + options + "dim=1, " + reduction, by_formula([of](const Arguments &a) {
                   const Value x = a.value("input");
                   const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
                   return reduced_loss(squeezed(of(x, beside(x, a, "target"), axis, a), {axis}), a);
                 })),
        row(layer, options + "dim=1, " + reduction, calls(name, "input, target")) {}

  Function function;
  LayerRow row;
};

// Targets that are a little of all classes.
Value smoothed(const Value &x, const Value &t, int axis, double smooth) {
  const Value classes = inlined({}, [&](const Axes &) { return cast(x.type(), x.extent(axis)); });
  return t * (1 - smooth) + smooth / classes;
}
// Of what is above 0, the share of the whole that each class has.
Value share_of(const Value &p, int axis) {
  return named("share", min(max(p / sum(p, {axis}), keras_epsilon), 1 - keras_epsilon));
}
Value unit(const Value &x, int axis) { return x / max(sqrt(sum(x * x, {axis})), keras_epsilon); }

const ClassLoss class_losses_of_keras[] = {
    {"categorical_crossentropy", "CategoricalCrossentropy", "from_logits=False, label_smoothing=0.0, ",
     [](E x, E t, int axis, const Arguments &a) {
       const Value logs = a.flag("from_logits") ? algorithms::log_softmax(x, axis) : log(share_of(x, axis));
       return sum(-smoothed(x, t, axis, a.real("label_smoothing")) * logs, {axis});
     }},
    {"kl_divergence", "KLDivergence", "",
     [](E x, E given, int axis, const Arguments &) {
       const Value t = min(max(given, keras_epsilon), 1), p = min(max(x, keras_epsilon), 1);
       return sum(t * log(t / p), {axis});
     }},
    // Keras' CosineSimilarity, whose name is that of PyTorch's layer: the less, the more alike two are.
    {"cosine_similarity_loss", "CosineSimilarityLoss", "",
     [](E x, E t, int axis, const Arguments &) { return sum(-unit(t, axis) * unit(x, axis), {axis}); }},
    {"categorical_hinge", "CategoricalHinge", "",
     [](E x, E t, int axis, const Arguments &) {
       return algorithms::relu(greatest((1 - t) * x, {axis}) - sum(t * x, {axis}) + 1);
     }},
    {"categorical_focal_crossentropy", "CategoricalFocalCrossentropy",
     "alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, ",
     [](E x, E given, int axis, const Arguments &a) {
       const Value t = smoothed(x, given, axis, a.real("label_smoothing"));
       const Value share = share_of(a.flag("from_logits") ? algorithms::softmax(x, axis) : x, axis);
       return sum(power(1 - share, a.real("gamma")) * (a.real("alpha") * -t * log(share)), {axis});
     }},
};

// (1 - p^q) / q of the probability p that the right class has; q between 0, cross entropy, and 1, absolute error.
const Function generalized("categorical_generalized_cross_entropy", "input, target, q=0.5, " + reduction,
                           by_formula([](const Arguments &a) {
                             const Value p = -algorithms::label_loss(a.value("input"), a.value("target"), {}).loss;
                             return reduced_loss((1 - power(p, a.real("q"))) / a.real("q"), a);
                           }),
                           [](const Arguments &a) -> Argument {
                             if (!(a.real("q") > 0 && a.real("q") < 1)) a.refuse("q", "between 0 and 1");
                             Shape shape = a.variable("input").shape();
                             if (shape.size() < 2) a.refuse("input", "probabilities of classes, (N, C, ...)");
                             const int64_t classes = shape[1];
                             shape.erase(shape.begin() + 1);
                             if (a.variable("target").shape() != shape)
                               a.refuse("target", "labels " + to_string(shape));
                             expect_indices(a, "target", classes);
                             return {};
                           });
const LayerRow generalized_layer("CategoricalGeneralizedCrossEntropy", "q=0.5, " + reduction,
                                 calls("categorical_generalized_cross_entropy", "input, target"));

const std::string of_labels = "from_logits=False, ignore_class=None, " + reduction;
const Function sparse_crossentropy(
    "sparse_categorical_crossentropy", "input, target, " + of_labels, [](const Arguments &a) {
      const Named options = {{"ignore_index", a.has("ignore_class") ? a["ignore_class"] : Argument(-100)},
                             {"reduction", a["reduction"]}};
      if (a.flag("from_logits")) return call("cross_entropy", {a["input"], a["target"]}, options);
      const Argument share = call("div", {a["input"], call("sum", {a["input"], 1, true})});
      return call("nll_loss", {call("log", {call("clamp", {share, keras_epsilon, 1 - keras_epsilon})}), a["target"]},
                  options);
    });
const LayerRow sparse_layer("SparseCategoricalCrossentropy", of_labels,
                            calls("sparse_categorical_crossentropy", "input, target"));

// Scores (n, t, c) and labels (n, s), which end where a 0 stands: that is the blank.
const Function ctc("ctc_of_scores", "input, target, " + reduction, [](const Arguments &a) {
  const Variable x = a.variable("input"), t = a.variable("target");
  if (x.shape().size() != 3) a.refuse("input", "scores (n, t, c)");
  const Tensor steps = Tensor::full({x.shape()[0]}, static_cast<double>(x.shape()[1]), Type::i64);
  const Argument loss = call("keras.ctc_loss", {t, x, call("count_nonzero", {t, 1}), steps});
  const std::string &how = a.word("reduction", {"none", "mean", "sum"});
  return how == "none" ? loss : call(how, {loss});
});
const LayerRow ctc_layer("CTC", reduction, calls("ctc_of_scores", "input, target"));

// ---- Of sets, which all dimensions are, or some.

struct SetLoss {
  using Of = Value (*)(const Value &x, const Value &t, const std::vector<int> &axes, const Arguments &);

  SetLoss(const std::string &name, const std::string &layer, const std::string &options, Of of)
      : function(name, "input, target, " + options + "dim=None, " + reduction, by_formula([of](const Arguments &a) {
                   const Value x = a.value("input");
                   const std::vector<int> axes = dimensions_of(a, x.rank());
                   return reduced_loss(squeezed(of(x, beside(x, a, "target"), axes, a), axes), a);
                 })),
        row(layer, options + "dim=None, " + reduction, calls(name, "input, target")) {}

  Function function;
  LayerRow row;
};
const SetLoss set_losses[] = {
    {"dice_loss", "Dice", "",
     [](E x, E t, const std::vector<int> &axes, const Arguments &) {
       return algorithms::dice_loss(x, t, axes, keras_epsilon);
     }},
    {"tversky_loss", "Tversky", "alpha=0.5, beta=0.5, ",
     [](E x, E t, const std::vector<int> &axes, const Arguments &a) {
       return algorithms::tversky_loss(x, t, axes, a.real("alpha"), a.real("beta"), keras_epsilon);
     }},
};

// ---- Of all pairs of vectors x(n, d) of length 1, with labels: distances 1 - x x' of equal ones have to be below the
// margin, those of others above one less it. What is far from that counts more.

Value circle(const Value &x, const Value &labels, double gamma, double margin) {
  const Expression &count = x.extent(0);
  const Value distance =
      named("distance", max(compute("distances", {count, count},
                                    [&](Expression i, Expression j) {
                                      return 1.0 - sum({x.extent(1)}, [&](Expression d) { return x(i, d) * x(j, d); });
                                    }),
                            0));
  const auto among = [&](bool equal) {
    return inlined({count, count}, [&](const Axes &at) {
      const Expression same = labels(at[0]) == labels(at[1]);
      return equal ? same && !(at[0] == at[1]) : !same;
    });
  };
  const auto gathered = [&](bool equal, const Value &weight, const Value &far) {
    const Value score = where(among(equal), weight * far * gamma, -std::numeric_limits<double>::infinity());
    return named(equal ? "of_equal" : "of_others", algorithms::log_sum_exp(score, {1}));
  };
  const Value equal = gathered(true, distance + margin, distance - margin);
  const Value others = gathered(false, max((1 + margin) - distance, 0), (1 - margin) - distance);
  return squeezed(algorithms::softplus(equal + others), {1});
}
const std::string of_circle = "gamma=80.0, margin=0.4, " + reduction;
const Function circle_loss("circle_loss", "input, target, " + of_circle, by_formula([](const Arguments &a) {
                             return reduced_loss(
                                 circle(a.value("input"), a.value("target"), a.real("gamma"), a.real("margin")), a);
                           }),
                           [](const Arguments &a) -> Argument {
                             const Shape &shape = a.variable("input").shape();
                             if (shape.size() != 2) a.refuse("input", "vectors (n, d)");
                             if (a.variable("target").shape() != Shape{shape[0]})
                               a.refuse("target", "a label for each");
                             return {};
                           });
const LayerRow circle_layer("Circle", of_circle, calls("circle_loss", "input, target"));

}  // namespace

const void *keras_losses() { return element_losses; }

}  // namespace saltern::nn
