// Keras' metrics of true and false positives and negatives at thresholds, and the areas under their curves.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/keras.h"

namespace saltern::metrics {

namespace {

// So many from 0 to 1.
std::vector<double> even(const Arguments &o, size_t least) {
  const int64_t n = o.integer("num_thresholds");
  if (n < static_cast<int64_t>(least)) o.refuse("num_thresholds", "at least " + std::to_string(least));
  if (n == 1) return {0.5};
  std::vector<double> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(static_cast<double>(i) / static_cast<double>(n - 1));
  return all;
}
std::vector<double> of_curve(const Arguments &o) {
  std::vector<double> all = even(o, 2);
  if (o.has("thresholds")) {
    all = o.reals("thresholds");
    std::stable_sort(all.begin(), all.end());
    all.insert(all.begin(), 0);
    all.push_back(1);
  }
  all.front() = -keras_epsilon;  // everything is above the first, and nothing above the last
  all.back() = 1 + keras_epsilon;
  return all;
}
std::vector<double> listed(const Arguments &o) {
  const bool has_top = o.signature().has("top_k") && o.has("top_k");
  const std::vector<double> all =
      o.has("thresholds") ? o.reals("thresholds") : std::vector<double>{has_top ? -1e10 : 0.5};
  for (const double t : all)
    if (o.has("thresholds") && !(t >= 0 && t <= 1)) o.refuse("thresholds", "numbers from 0 to 1");
  return all;
}

// Of each row, all but the k largest are less than any threshold.
void keep_top(Numbers &pred, size_t k) {
  const auto columns = static_cast<size_t>(pred.shape.back());
  for (double *row = pred.begin(); row != pred.end(); row += columns) {
    std::vector<double> falling;
    for (size_t c = 0; c < columns; ++c) falling.push_back(-row[c]);
    const std::vector<size_t> order = sorted_places(falling.data(), falling.data() + columns);
    for (size_t i = k; i < columns; ++i) row[order[i]] = -1e10;
  }
}

// [threshold, label, 4]: true and false positives, true and false negatives; all labels are one unless they stay apart.
State counted(const Arguments &o, const Arguments &in, const std::vector<double> &thresholds) {
  KerasPair p = keras_pair(in);
  const auto has = [&](const char *option) { return o.signature().has(option) && o.has(option); };
  const bool apart = has("multi_label") && o.flag("multi_label");
  if (has("from_logits") && o.flag("from_logits"))
    std::transform(p.pred.begin(), p.pred.end(), p.pred.begin(), sigmoid);
  const size_t columns = p.pred.rank() > 1 ? static_cast<size_t>(p.pred.shape.back()) : 1;
  if (has("top_k")) keep_top(p.pred, static_cast<size_t>(o.integer("top_k")));
  const int64_t only = has("class_id") ? o.integer("class_id") : -1;
  if (has("class_id") && (only < 0 || only >= static_cast<int64_t>(columns)))
    o.refuse("class_id", "a class of 'y_pred'");
  const std::vector<double> weights = keras_weights(in, p.pred.shape);
  std::vector<double> label_weights(columns, 1.0);
  if (has("label_weights") && !apart) label_weights = o.reals("label_weights", columns);
  const size_t labels = apart ? columns : 1;
  Numbers all = Numbers::zeros({static_cast<int64_t>(thresholds.size()), static_cast<int64_t>(labels), 4});
  for (size_t i = 0; i < p.pred.size(); ++i) {
    const size_t column = i % columns;
    if (only >= 0 && static_cast<int64_t>(column) != only) continue;
    for (size_t t = 0; t < thresholds.size(); ++t) {
      const size_t at = is_above(p.pred[i], thresholds[t]) ? (p.truth[i] != 0 ? 0 : 1) : (p.truth[i] != 0 ? 3 : 2);
      all[(t * labels + (apart ? column : 0)) * 4 + at] += weights[i] * label_weights[column];
    }
  }
  State s;
  s.sum("counts", all);
  return s;
}

using Of = double (*)(const double *four);
double true_positives(const double *c) { return c[0]; }
double false_positives(const double *c) { return c[1]; }
double true_negatives(const double *c) { return c[2]; }
double false_negatives(const double *c) { return c[3]; }
double precision_of(const double *c) { return ratio(c[0], c[0] + c[1]); }
double recall_of(const double *c) { return ratio(c[0], c[0] + c[3]); }
double specificity_of(const double *c) { return ratio(c[2], c[2] + c[1]); }
double false_rate(const double *c) { return ratio(c[1], c[1] + c[2]); }

struct AtThresholds : MetricRow {
  AtThresholds(const char *name, const char *options, Of of)
      : MetricRow(
            name, "", options, keras_inputs,
            [](const Arguments &o, const Arguments &in) { return counted(o, in, listed(o)); },
            [of](const Arguments &, const State &s) {
              std::vector<double> all;
              for (size_t i = 0; i < s["counts"].size(); i += 4) all.push_back(of(s["counts"].begin() + i));
              return result(all.size() == 1 ? Numbers(all[0]) : Numbers(all));
            }) {}
};
#define NAMED "name=None, dtype=None"
#define COUNTS "thresholds=None, " NAMED
const AtThresholds tp("keras.TruePositives", COUNTS, true_positives),
    fp("keras.FalsePositives", COUNTS, false_positives), tn("keras.TrueNegatives", COUNTS, true_negatives),
    fn("keras.FalseNegatives", COUNTS, false_negatives);
const AtThresholds precision("keras.Precision", "thresholds=None, top_k=None, class_id=None, " NAMED, precision_of),
    recall("keras.Recall", "thresholds=None, top_k=None, class_id=None, " NAMED, recall_of);

// The largest of one rate where the other is at least so much; 0 where it never is.
struct AtLeast : MetricRow {
  AtLeast(const char *name, const std::string &option, Of best, Of other)
      : MetricRow(
            name, "", option + ", num_thresholds=200, class_id=None, " NAMED, keras_inputs,
            [](const Arguments &o, const Arguments &in) { return counted(o, in, even(o, 1)); },
            [=](const Arguments &o, const State &s) {
              const double least = o.real(option);
              if (!(least >= 0 && least <= 1)) o.refuse(option, "a number from 0 to 1");
              double most = 0;
              for (size_t i = 0; i < s["counts"].size(); i += 4) {
                const double *four = s["counts"].begin() + i;
                if (other(four) >= least) most = std::max(most, best(four));
              }
              return result(most);
            }) {}
};
const AtLeast precision_at("keras.PrecisionAtRecall", "recall", precision_of, recall_of),
    recall_at("keras.RecallAtPrecision", "precision", recall_of, precision_of),
    sensitivity_at("keras.SensitivityAtSpecificity", "specificity", recall_of, specificity_of),
    specificity_at("keras.SpecificityAtSensitivity", "sensitivity", specificity_of, recall_of);

// ---- Areas.

// Precision and recall as gains over what always saying yes gives.
double gain(const double *c, double errors, double of_none) {
  const double share = ratio(c[0] + c[3], c[2] + c[1]);
  return c[0] == 0 ? of_none : 1 - share * ratio(errors, c[0]);
}
// Between two thresholds true positives grow with all positives along a line, of which precision is integrated.
double interpolated(const double *a, const double *b) {
  const double dtp = a[0] - b[0], pa = a[0] + a[1], pb = b[0] + b[1];
  const double slope = ratio(dtp, std::max(pa - pb, 0.0)), intercept = b[0] - slope * pb;
  const double grown = pa > 0 && pb > 0 ? pa / pb : 1;
  return ratio(slope * (dtp + intercept * std::log(grown)), std::max(b[0] + b[3], 0.0));
}
double area_between(const Arguments &o, const double *a, const double *b) {
  const std::string &curve = o.word("curve", {"ROC", "PR", "PRGAIN"}),
                    &method = o.word("summation_method", {"interpolation", "minoring", "majoring"});
  if (curve == "PR" && method == "interpolation") return interpolated(a, b);
  const auto x = [&](const double *c) {
    return curve == "ROC" ? false_rate(c) : curve == "PR" ? recall_of(c) : std::max(gain(c, c[3], 0), 0.0);
  };
  const auto y = [&](const double *c) {
    return curve == "ROC" ? recall_of(c) : curve == "PR" ? precision_of(c) : gain(c, c[1], 1);
  };
  const double height = method == "interpolation" ? (y(a) + y(b)) / 2
                        : method == "minoring"    ? std::min(y(a), y(b))
                                                  : std::max(y(a), y(b));
  return (x(a) - x(b)) * height;
}
const MetricRow auc(
    "keras.AUC", "",
    "num_thresholds=200, curve='ROC', summation_method='interpolation', " NAMED
    ", thresholds=None, multi_label=False, num_labels=None, "
    "label_weights=None, from_logits=False",
    keras_inputs, [](const Arguments &o, const Arguments &in) { return counted(o, in, of_curve(o)); },
    [](const Arguments &o, const State &s) {
      const Numbers &c = s["counts"];
      const auto labels = static_cast<size_t>(c.extent(1)), step = labels * 4;
      std::vector<double> weights(labels, 1.0);
      if (o.flag("multi_label") && o.has("label_weights")) weights = o.reals("label_weights", labels);
      double total = 0, all = 0;
      for (size_t l = 0; l < labels; ++l) {
        double area = 0;
        for (size_t i = l * 4; i + step < c.size(); i += step)
          area += area_between(o, c.begin() + i, c.begin() + i + step);
        total += weights[l] * area;
        all += weights[l];
      }
      return result(ratio(total, all));
    });

}  // namespace

const void *keras_thresholds() { return &auc; }

}  // namespace saltern::metrics
