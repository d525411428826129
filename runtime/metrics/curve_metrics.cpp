// Curves, the areas under them, and the best rate where another is at least so much.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/curves.h"

namespace saltern::metrics {

namespace {

#define CHECKED "ignore_index=None, validate_args=True"
#define CLASSES "num_classes=None, num_labels=None"

bool is_micro(const Arguments &o) {
  return o.signature().has("average") && word_or_none(o, "average", {"micro", "macro", "weighted"}) == "micro";
}

// ---- The curves themselves.

using PointsOf = Points (*)(const Curve &);

// All points of all classes, and the mean of y at each of their x.
Argument mean_curve(const std::vector<Points> &all, bool rising) {
  Points mean;
  for (const Points &p : all) {
    mean.x.insert(mean.x.end(), p.x.begin(), p.x.end());
    mean.thresholds.insert(mean.thresholds.end(), p.thresholds.begin(), p.thresholds.end());
  }
  std::stable_sort(mean.x.begin(), mean.x.end(),
                   [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });  // NaN behind all
  std::stable_sort(mean.thresholds.begin(), mean.thresholds.end());
  if (!rising) std::reverse(mean.thresholds.begin(), mean.thresholds.end());
  for (const double x : mean.x) {
    double y = 0;
    for (const Points &p : all) y += interpolated(x, p.x, p.y);
    mean.y.push_back(y / static_cast<double>(all.size()));
  }
  return Argument::List{result(mean.x), result(mean.y), result(mean.thresholds)};
}

Argument points(Task task, const Arguments &o, const State &s, PointsOf of, bool rising) {
  const bool micro = is_micro(o);
  std::vector<Points> all;
  for (const Curve &c : curves(task, o, s, micro)) all.push_back(of(c));
  if (task == Task::binary || micro)
    return Argument::List{result(all[0].x), result(all[0].y), result(all[0].thresholds)};
  if (task == Task::multiclass && word_or_none(o, "average", {"micro", "macro"}) == "macro")
    return mean_curve(all, rising);
  if (o.has("thresholds")) {
    Numbers x, y;
    for (const Points &p : all) {
      x.all.insert(x.all.end(), p.x.begin(), p.x.end());
      y.all.insert(y.all.end(), p.y.begin(), p.y.end());
    }
    x.shape = y.shape = {static_cast<int64_t>(all.size()), static_cast<int64_t>(all[0].x.size())};
    return Argument::List{result(x), result(y), result(all[0].thresholds)};
  }
  Argument::List x, y, t;
  for (const Points &p : all) {
    x.push_back(result(p.x));
    y.push_back(result(p.y));
    t.push_back(result(p.thresholds));
  }
  return Argument::List{x, y, t};
}

State with_micro(Task task, const Arguments &o, const Arguments &in) {
  return curve_state(task, o, in, task == Task::multiclass && is_micro(o));
}
#define BINARY_CURVE "thresholds=None, " CHECKED ", normalization='sigmoid'"
const TaskRows::Options of_curves = {BINARY_CURVE, "num_classes, thresholds=None, average=None, " CHECKED,
                                     "num_labels, thresholds=None, " CHECKED,
                                     "thresholds=None, " CLASSES ", average=None, " CHECKED};
const TaskRows precision_recall_curve("PrecisionRecallCurve", "precision_recall_curve", of_curves, with_micro,
                                      [](Task t, const Arguments &o, const State &s) {
                                        return points(t, o, s, precision_recall, true);
                                      });
const TaskRows roc_curve("ROC", "roc", of_curves, with_micro,
                         [](Task t, const Arguments &o, const State &s) { return points(t, o, s, roc, false); });

// ---- One number of a curve, and the mean of several, without those that are none.

Argument averaged(Task task, const Arguments &o, const State &s, const std::function<double(const Curve &)> &of) {
  const bool micro = task == Task::multilabel && is_micro(o);
  const std::vector<Curve> all = curves(task, o, s, micro);
  if (task == Task::binary || micro) return result(of(all[0]));
  const std::string average = word_or_none(o, "average", {"micro", "macro", "weighted"});
  Numbers each{std::vector<double>()};
  double total = 0, weights = 0;
  for (const Curve &c : all) {
    const double x = of(c), w = average == "weighted" ? c.positives : 1;
    each.all.push_back(x);
    if (std::isnan(x)) continue;
    total += w * x;
    weights += w;
  }
  each.shape = {static_cast<int64_t>(all.size())};
  if (average == "none") return result(each);
  return result(average == "weighted" ? ratio(total, weights) : total / weights);
}
State not_micro(Task task, const Arguments &o, const Arguments &in) { return curve_state(task, o, in); }

#define AVERAGED(OPTION) "num_" OPTION ", average='macro', thresholds=None, " CHECKED
const TaskRows auroc("AUROC", "auroc",
                     {"max_fpr=None, thresholds=None, " CHECKED, AVERAGED("classes"), AVERAGED("labels"),
                      "thresholds=None, " CLASSES ", average='macro', max_fpr=None, " CHECKED},
                     not_micro, [](Task task, const Arguments &o, const State &s) {
                       return averaged(task, o, s, [&](const Curve &c) {
                         const Points p = roc(c);
                         const double most = task == Task::binary && o.has("max_fpr") ? o.real("max_fpr") : 1;
                         if (!(most > 0 && most <= 1)) o.refuse("max_fpr", "a number above 0, up to 1");
                         if (most == 1 || c.positives == 0 || c.negatives == 0) return area(p.x, p.y);
                         return partial_area(p, most);
                       });
                     });
const TaskRows average_precisions("AveragePrecision", "average_precision",
                                  {BINARY_CURVE, AVERAGED("classes"), AVERAGED("labels"),
                                   "thresholds=None, " CLASSES ", average='macro', " CHECKED},
                                  not_micro, [](Task task, const Arguments &o, const State &s) {
                                    return averaged(task, o, s, average_precision);
                                  });

// The area over the logarithm of the rate of false positives, between two such rates.
double logarithmic_area(const Points &p, double from, double to) {
  if (p.x.size() < 2) return 0;
  std::vector<double> x = p.x, y = p.y;
  for (const double bound : {from, to}) {
    y.push_back(interpolated(bound, p.x, p.y));
    x.push_back(bound);
  }
  std::stable_sort(x.begin(), x.end());
  std::stable_sort(y.begin(), y.end());
  const auto last = [&](double bound) { return std::upper_bound(x.begin(), x.end(), bound) - x.begin() - 1; };
  const int64_t first = last(from), end = last(to) + 1;
  std::vector<double> logarithms;
  for (int64_t i = first; i < end; ++i) logarithms.push_back(std::log10(x[static_cast<size_t>(i)]));
  return area(logarithms, {y.begin() + first, y.begin() + end}) / (std::log10(to) - std::log10(from));
}
#define RANGE "fpr_range=(0.001, 0.1)"
const TaskRows log_auc("LogAUC", "logauc",
                       {RANGE ", thresholds=None, " CHECKED,
                        "num_classes, " RANGE ", average=None, thresholds=None, " CHECKED,
                        "num_labels, " RANGE ", average=None, thresholds=None, " CHECKED,
                        "thresholds=None, " RANGE ", " CLASSES ", average=None, " CHECKED},
                       not_micro, [](Task task, const Arguments &o, const State &s) {
                         const std::vector<double> range = o.reals("fpr_range", 2);
                         if (!(range[0] >= 0 && range[0] < range[1] && range[1] <= 1))
                           o.refuse("fpr_range", "two rising numbers from 0 to 1");
                         return averaged(task, o, s,
                                         [&](const Curve &c) { return logarithmic_area(roc(c), range[0], range[1]); });
                       });

// Where false positives are as frequent as false negatives.
double equal_error(const Curve &c) {
  const Points p = roc(c);
  size_t best = 0;
  const auto apart = [&](size_t i) { return std::abs(p.x[i] - (1 - p.y[i])); };
  for (size_t i = 1; i < p.x.size(); ++i)
    if (apart(i) < apart(best)) best = i;
  return (p.x[best] + 1 - p.y[best]) / 2;
}
const TaskRows eer("EER", "eer",
                   {BINARY_CURVE, "num_classes, thresholds=None, average=None, " CHECKED,
                    "num_labels, thresholds=None, " CHECKED, "thresholds=None, " CLASSES ", average=None, " CHECKED},
                   with_micro, [](Task task, const Arguments &o, const State &s) {
                     Numbers each;
                     const bool micro = task == Task::multiclass && is_micro(o);
                     if (task == Task::multiclass && word_or_none(o, "average", {"micro", "macro"}) == "macro")
                       o.refuse("average", "'micro' or None: there is no mean of curves");
                     for (const Curve &c : curves(task, o, s, micro)) each.all.push_back(equal_error(c));
                     if (task != Task::binary && !micro) each.shape = {static_cast<int64_t>(each.size())};
                     return result(each);
                   });

// ---- The best of one rate where the other is at least so much, and its threshold.

// Of equal ones the larger other, then the larger threshold.
std::pair<double, double> best_of_precision_recall(const std::vector<double> &best, const std::vector<double> &other,
                                                   const std::vector<double> &thresholds, double least) {
  double x = 0, y = -1, t = nan;
  for (size_t i = 0; i < thresholds.size(); ++i)
    if (other[i] >= least && std::make_tuple(best[i], other[i], thresholds[i]) > std::make_tuple(x, y, t))
      x = best[i], y = other[i], t = thresholds[i];
  return {x, x == 0 ? nan : t};
}
// Of equal ones the first.
std::pair<double, double> best_of_rates(const std::vector<double> &best, const std::vector<double> &other,
                                        const std::vector<double> &thresholds, double least) {
  double x = 0, t = 1e6;
  bool found = false;
  for (size_t i = 0; i < thresholds.size(); ++i) {
    if (!(other[i] >= least) || (found && !(best[i] > x))) continue;
    x = best[i], t = thresholds[i];
    found = true;
  }
  return {x, t};
}

using BestOf = std::pair<double, double> (*)(const Curve &, double least);
struct AtLeast : TaskRows {
  AtLeast(const char *name, const char *function, const std::string &option, BestOf best)
      : TaskRows(name, function,
                 {option + ", thresholds=None, " CHECKED, "num_classes, " + option + ", thresholds=None, " CHECKED,
                  "num_labels, " + option + ", thresholds=None, " CHECKED,
                  option + ", thresholds=None, " CLASSES ", " CHECKED},
                 not_micro, [=](Task task, const Arguments &o, const State &s) {
                   const double least = o.real(option);
                   if (!(least >= 0 && least <= 1)) o.refuse(option, "a number from 0 to 1");
                   Numbers rates, thresholds;
                   for (const Curve &c : curves(task, o, s)) {
                     const auto [rate, threshold] = best(c, least);
                     rates.all.push_back(rate);
                     thresholds.all.push_back(threshold);
                   }
                   if (task != Task::binary) rates.shape = thresholds.shape = {static_cast<int64_t>(rates.size())};
                   return Argument::List{result(rates), result(thresholds)};
                 }) {}
};
std::vector<double> complement(std::vector<double> v) {
  for (double &x : v) x = 1 - x;
  return v;
}
const AtLeast precision_at("PrecisionAtFixedRecall", "precision_at_fixed_recall", "min_recall",
                           [](const Curve &c, double least) {
                             const Points p = precision_recall(c);
                             return best_of_precision_recall(p.x, p.y, p.thresholds, least);
                           });
const AtLeast recall_at("RecallAtFixedPrecision", "recall_at_fixed_precision", "min_precision",
                        [](const Curve &c, double least) {
                          const Points p = precision_recall(c);
                          return best_of_precision_recall(p.y, p.x, p.thresholds, least);
                        });
const AtLeast sensitivity_at("SensitivityAtSpecificity", "sensitivity_at_specificity", "min_specificity",
                             [](const Curve &c, double least) {
                               const Points p = roc(c);
                               return best_of_rates(p.y, complement(p.x), p.thresholds, least);
                             });
const AtLeast specificity_at("SpecificityAtSensitivity", "specificity_at_sensitivity", "min_sensitivity",
                             [](const Curve &c, double least) {
                               const Points p = roc(c);
                               return best_of_rates(complement(p.x), p.y, p.thresholds, least);
                             });

}  // namespace

const void *curve_metrics() { return &auroc; }

}  // namespace saltern::metrics
