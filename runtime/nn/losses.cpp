#include "runtime/nn/losses.h"

#include <algorithm>

#include "algorithms/losses.h"
#include "runtime/nn/families.h"

namespace saltern::nn {

using namespace formula;

std::string reduction_of(const Arguments &a) {
  const auto replaced = [&](const char *name) { return a.signature().has(name) && a.has(name); };
  const auto flag = [&](const char *name) { return replaced(name) ? a.flag(name) : true; };
  if (replaced("size_average") || replaced("reduce"))
    return !flag("reduce") ? "none" : flag("size_average") ? "mean" : "sum";
  return a.word("reduction", {"none", "mean", "sum"});
}

Value mean_of_all(const Value &x) {
  Expression count = 1;
  for (const Expression &e : x.extents()) count = count * e;
  return sum_all(x) / inlined({}, [&](const Axes &) { return cast(x.type(), count); });
}

Value reduced_loss(const Value &losses, const Arguments &a) {
  const std::string how = reduction_of(a);
  return how == "none" ? losses : how == "sum" ? sum_all(losses) : mean_of_all(losses);
}

Value reduced_loss(const Value &losses, const Value &weights, const Arguments &a) {
  const std::string how = reduction_of(a);
  return how == "none" ? losses : how == "sum" ? sum_all(losses) : sum_all(losses) / sum_all(weights);
}

Value beside(const Value &x, const Arguments &a, std::string_view name) { return cast(x.type(), a.value(name)); }

LayerRow::Make keeps(const std::vector<std::string> &names) {
  return [names](Layer &self) {
    for (const std::string &name : names) {
      const Variable given = self.made_with().variable_if_given(name);
      self.buffer(name, given.defined() ? given.value() : Tensor());
    }
  };
}

void expect_indices(const Arguments &a, std::string_view name, int64_t count, std::optional<int64_t> ignored) {
  const Tensor t = a.variable(name).value();
  if (is_real(t.type())) a.refuse(name, "integers");
  if (t.is_outline()) return;
  const auto expect = [&](int64_t i) {
    if ((i < 0 || i >= count) && i != ignored)
      a.refuse_index(name,
                     "indices of at least 0 and less than " + std::to_string(count) + "; one is " + std::to_string(i));
  };
  if (t.type() == Type::i64 && t.is_dense())
    std::for_each_n(static_cast<const int64_t *>(t.raw()), t.size(), expect);
  else
    for (int64_t i : t.integers()) expect(i);
}

Value batched(const Value &v) {
  std::vector<Expression> extents = v.extents();
  extents.insert(extents.begin(), Expression(1));
  return inlined(extents, [&](const Axes &at) { return v.at(Axes(at.begin() + 1, at.end())); });
}

Value of_first(const Value &v) {
  const std::vector<Expression> extents = v.extents();
  return inlined({extents.begin() + 1, extents.end()}, [&](Axes at) {
    at.insert(at.begin(), Expression(0));
    return v.at(at);
  });
}

Value weights_beside(const Value &x, const Arguments &a) { return a.has("weight") ? beside(x, a, "weight") : Value(); }

void expect_labels(const Arguments &a, std::optional<int64_t> ignored) {
  Shape shape = a.variable("input").shape();
  if (shape.empty()) a.refuse("input", "scores of classes, (C) or (N, C, ...)");
  const std::ptrdiff_t axis = shape.size() == 1 ? 0 : 1;
  const int64_t classes = shape[static_cast<size_t>(axis)];
  shape.erase(shape.begin() + axis);
  if (a.variable("target").shape() != shape) a.refuse("target", "labels " + to_string(shape) + ", one for each sample");
  if (a.has("weight") && a.variable("weight").shape() != Shape{classes})
    a.refuse("weight", "one for each of " + std::to_string(classes) + " classes");
  expect_indices(a, "target", classes, ignored);
}

ElementLoss::ElementLoss(const std::string &name, const std::string &layer, const std::string &options, Of of,
                         const std::string &made_with, Mean mean)
    : function(name, "input, target, " + options, by_formula([of, mean](const Arguments &a) {
                 const Value x = a.value("input"), loss = of(x, beside(x, a, "target"), a);
                 if (!a.signature().has("weight") || !a.has("weight")) return reduced_loss(loss, a);
                 const Value w = beside(x, a, "weight");
                 return mean == Mean::of_weights ? reduced_loss(loss * w, w, a) : reduced_loss(loss * w, a);
               })),
      row(layer, made_with, calls(name, "input, target")) {}

namespace {

const ElementLoss l1(
    "l1_loss", "L1Loss", reduced_as + ", weight=None",
    [](const Value &x, const Value &t, const Arguments &) { return abs(x - t); }, reduced_as,
    ElementLoss::Mean::of_weights);
const ElementLoss mse(
    "mse_loss", "MSELoss", reduced_as + ", weight=None",
    [](const Value &x, const Value &t, const Arguments &) { return algorithms::square(x - t); }, reduced_as,
    ElementLoss::Mean::of_weights);
const ElementLoss huber(
    "huber_loss", "HuberLoss", "reduction='mean', delta=1.0, weight=None",
    [](const Value &x, const Value &t, const Arguments &a) {
      if (!(a.real("delta") > 0)) a.refuse("delta", "a number above 0");
      return algorithms::huber(x, t, a.real("delta"));
    },
    "reduction='mean', delta=1.0");
const ElementLoss smooth_l1(
    "smooth_l1_loss", "SmoothL1Loss", reduced_as + ", beta=1.0",
    [](const Value &x, const Value &t, const Arguments &a) {
      if (!(a.real("beta") >= 0)) a.refuse("beta", "a number of at least 0");
      return algorithms::smooth_l1(x, t, a.real("beta"));
    },
    reduced_as + ", beta=1.0");
const ElementLoss soft_margin(
    "soft_margin_loss", "SoftMarginLoss", reduced_as,
    [](const Value &x, const Value &t, const Arguments &) { return algorithms::softplus(-(t * x)); }, reduced_as);
const ElementLoss hinge_embedding(
    "hinge_embedding_loss", "HingeEmbeddingLoss", "margin=1.0, " + reduced_as,
    [](const Value &x, const Value &t, const Arguments &a) {
      return where(t == 1, 0, algorithms::relu(a.real("margin") - x)) + where(t == -1, 0, x);
    },
    "margin=1.0, " + reduced_as);

const std::string of_poisson =
    "log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'";
const ElementLoss poisson(
    "poisson_nll_loss", "PoissonNLLLoss", of_poisson,
    [](const Value &x, const Value &t, const Arguments &a) {
      return algorithms::poisson_loss(x, t, a.flag("log_input"), a.flag("full"), a.real("eps"));
    },
    of_poisson);

// ---- With tensors beside targets.

Value weighted(const Value &loss, const Value &x, const Arguments &a) {
  return a.has("weight") ? loss * beside(x, a, "weight") : loss;
}

const Function binary_cross_entropy(
    "binary_cross_entropy", "input, target, weight=None, " + reduced_as, by_formula([](const Arguments &a) {
      const Value x = a.value("input");
      return reduced_loss(weighted(algorithms::binary_cross_entropy(x, beside(x, a, "target")), x, a), a);
    }),
    [](const Arguments &a) -> Argument {
      if (a.variable("input").shape() != a.variable("target").shape())
        a.refuse("target", "a tensor of the shape of 'input', " + to_string(a.variable("input").shape()));
      return {};
    });
const LayerRow bce("BCELoss", "weight=None, " + reduced_as, calls("binary_cross_entropy", "input, target"),
                   keeps({"weight"}));

const Function logistic("binary_cross_entropy_with_logits",
                        "input, target, weight=None, " + reduced_as + ", pos_weight=None",
                        by_formula([](const Arguments &a) {
                          const Value x = a.value("input");
                          const Value p = a.has("pos_weight") ? beside(x, a, "pos_weight") : Value();
                          return reduced_loss(weighted(algorithms::logistic_loss(x, beside(x, a, "target"), p), x, a),
                                              a);
                        }));
const LayerRow logistic_layer("BCEWithLogitsLoss", "weight=None, " + reduced_as + ", pos_weight=None",
                              calls("binary_cross_entropy_with_logits", "input, target"),
                              keeps({"weight", "pos_weight"}));

const Function kl_div("kl_div", "input, target, " + reduced_as + ", log_target=False",
                      by_formula([](const Arguments &a) {
                        const Value x = a.value("input"), t = beside(x, a, "target");
                        const Value loss = a.flag("log_target") ? algorithms::divergence_of_logarithm(x, t)
                                                                : algorithms::divergence(x, t);
                        if (a.word("reduction") != "batchmean") return reduced_loss(loss, a);
                        const Expression batch = x.rank() == 0 ? Expression(1) : x.extent(0);
                        return sum_all(loss) / inlined({}, [&](const Axes &) { return cast(x.type(), batch); });
                      }));
const LayerRow kl_div_layer("KLDivLoss", reduced_as + ", log_target=False", calls("kl_div", "input, target"));

// A variance of one dimension less stands for all elements of the last.
const Function gaussian("gaussian_nll_loss", "input, target, var, full=False, eps=1e-06, reduction='mean'",
                        by_formula([](const Arguments &a) {
                          const Value x = a.value("input"), t = beside(x, a, "target");
                          Value variance = beside(x, a, "var");
                          if (variance.rank() > 0 && variance.rank() + 1 == x.rank()) {
                            std::vector<Expression> extents = variance.extents();
                            extents.emplace_back(1);
                            variance = inlined(extents, [&](Axes at) {
                              at.pop_back();
                              return variance.at(at);
                            });
                          }
                          return reduced_loss(algorithms::gaussian_loss(x, t, variance, a.flag("full"), a.real("eps")),
                                              a);
                        }),
                        [](const Arguments &a) -> Argument {
                          const Tensor v = a.variable("var").value();
                          if (!v.is_outline())
                            for (double e : v.reals())
                              if (e < 0) a.refuse("var", "variances of at least 0");
                          return {};
                        });
const LayerRow gaussian_layer("GaussianNLLLoss", "*, full=False, eps=1e-06, reduction='mean'",
                              calls("gaussian_nll_loss", "input, target, var"));

}  // namespace

const void *losses() { return &l1; }

}  // namespace saltern::nn
