// Losses that ask for a margin between the scores of classes.

#include "algorithms/losses.h"
#include "algorithms/margins.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/losses.h"

namespace saltern::nn {

namespace {

using namespace formula;

// The same call with the one score of a number as a list of scores.
Argument of_one_score(const Arguments &a, const std::vector<size_t> &which) {
  std::vector<Argument> values = a.values();
  for (size_t i : which) values[i] = reshape(variable_of(values[i]), {1});
  return call(a.owner(), values);
}

const std::string of_margins = "p=1, margin=1.0, weight=None, " + reduced_as;
const Function multi_margin("multi_margin_loss", "input, target, " + of_margins, by_formula([](const Arguments &a) {
                              const Value given = a.value("input"), labels = a.value("target");
                              const Value x = given.rank() == 1 ? batched(given) : given;
                              const Value t = labels.rank() == 0 ? batched(labels) : labels;
                              const Value loss =
                                  algorithms::multi_margin(x, t, weights_beside(x, a), a.real("p"), a.real("margin"));
                              return reduced_loss(labels.rank() == 0 ? of_first(loss) : loss, a);
                            }),
                            [](const Arguments &a) -> Argument {
                              const double p = a.real("p");
                              if (p != 1 && p != 2) a.refuse("p", "1 or 2");
                              const Shape x = a.variable("input").shape();
                              if (x.empty()) return of_one_score(a, {0});
                              if (x.size() != 1 && x.size() != 2) a.refuse("input", "scores, (C) or (N, C)");
                              const bool is_one = x.size() == 1 && a.variable("target").shape() == Shape{1};
                              if (is_one) return expect_indices(a, "target", x[0]), Argument();
                              return expect_labels(a, std::nullopt), Argument();
                            });
const LayerRow multi_margin_layer("MultiMarginLoss", of_margins, calls("multi_margin_loss", "input, target"),
                                  keeps({"weight"}));

const Function multilabel_margin("multilabel_margin_loss", "input, target, " + reduced_as,
                                 by_formula([](const Arguments &a) {
                                   const Value x = a.value("input"), t = a.value("target");
                                   return reduced_loss(
                                       x.rank() == 1 ? of_first(algorithms::multilabel_margin(batched(x), batched(t)))
                                                     : algorithms::multilabel_margin(x, t),
                                       a);
                                 }),
                                 [](const Arguments &a) -> Argument {
                                   const Shape x = a.variable("input").shape();
                                   if (x.empty() && a.variable("target").shape().empty())
                                     return of_one_score(a, {0, 1});
                                   if (x.size() != 1 && x.size() != 2) a.refuse("input", "scores, (C) or (N, C)");
                                   if (a.variable("target").shape() != x)
                                     a.refuse("target", "labels " + to_string(x) + ", -1 behind the last of a row");
                                   return expect_indices(a, "target", x.back(), -1), Argument();
                                 });
const LayerRow multilabel_margin_layer("MultiLabelMarginLoss", reduced_as,
                                       calls("multilabel_margin_loss", "input, target"));

const Function multilabel_soft_margin("multilabel_soft_margin_loss", "input, target, weight=None, " + reduced_as,
                                      by_formula([](const Arguments &a) {
                                        const Value x = a.value("input"), t = beside(x, a, "target");
                                        const Value loss = algorithms::logistic_loss(x, t, Value());
                                        const Value each = a.has("weight") ? loss * beside(x, a, "weight") : loss;
                                        const Value rows = mean(each, {-1});
                                        std::vector<Expression> extents = rows.extents();
                                        extents.pop_back();
                                        return reduced_loss(inlined(extents,
                                                                    [&](Axes at) {
                                                                      at.emplace_back(0);
                                                                      return rows.at(at);
                                                                    }),
                                                            a);
                                      }));
const LayerRow multilabel_soft_margin_layer("MultiLabelSoftMarginLoss", "weight=None, " + reduced_as,
                                            calls("multilabel_soft_margin_loss", "input, target"), keeps({"weight"}));

}  // namespace

const void *margin_losses() { return &multi_margin; }

}  // namespace saltern::nn
