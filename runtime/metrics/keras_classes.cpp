// Keras' F-scores, shares of intersections, and R squared.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/keras.h"

namespace saltern::metrics {

namespace {

#define NAMED "name=None, dtype=None"

// ---- F-scores of columns: what is largest in its row, or above a threshold.

State f_counts(const Arguments &o, const Arguments &in) {
  const KerasPair p = keras_pair(in);
  if (p.pred.rank() != 2) in.refuse("y_pred", "two dimensions");
  const auto columns = static_cast<size_t>(p.pred.extent(1));
  const bool micro = word_or_none(o, "average", {"micro", "macro", "weighted"}) == "micro";
  const std::vector<double> weights = keras_weights(in, p.pred.shape);
  Numbers all =
      Numbers::zeros({micro ? 1 : static_cast<int64_t>(columns), 3});  // true positives, false ones, false negatives
  for (size_t i = 0; i < p.pred.size(); ++i) {
    const double *row = p.pred.begin() + i / columns * columns;
    const double x = p.pred[i], y = p.truth[i];
    const bool is_in = o.has("threshold") ? is_above(x, o.real("threshold"))
                                          : x >= *std::max_element(row, row + columns) && std::abs(x) > 1e-9;
    double *to = all.begin() + (micro ? 0 : i % columns) * 3;
    to[0] += weights[i] * is_in * y;
    to[1] += weights[i] * is_in * (1 - y);
    to[2] += weights[i] * !is_in * y;
  }
  State s;
  s.sum("counts", all);
  return s;
}
Argument f_score(const Arguments &o, const State &s, double beta) {
  const std::string average = word_or_none(o, "average", {"micro", "macro", "weighted"});
  std::vector<double> scores;
  double total = 0, weights = 0;
  for (size_t i = 0; i < s["counts"].size(); i += 3) {
    const double *c = s["counts"].begin() + i;
    const double precision = c[0] / (c[0] + c[1] + keras_epsilon), recall = c[0] / (c[0] + c[2] + keras_epsilon);
    const double b = beta * beta, w = average == "weighted" ? c[0] + c[2] : 1;
    scores.push_back((1 + b) * precision * recall / (b * precision + recall + keras_epsilon));
    total += w * scores.back();
    weights += w;
  }
  return average == "none" ? result(scores)
                           : result(total / (average == "weighted" ? weights + keras_epsilon : weights));
}
const MetricRow f1("keras.F1Score", "", "average=None, threshold=None, name='f1_score', dtype=None", keras_inputs,
                   f_counts, [](const Arguments &o, const State &s) { return f_score(o, s, 1); });
const MetricRow f_beta("keras.FBetaScore", "", "average=None, beta=1.0, threshold=None, name='fbeta_score', dtype=None",
                       keras_inputs, f_counts, [](const Arguments &o, const State &s) {
                         if (!(o.real("beta") > 0)) o.refuse("beta", "more than 0");
                         return f_score(o, s, o.real("beta"));
                       });

// ---- Intersection over union of classes.

// Classes, or the places of the largest along the last dimension.
Numbers classes_of(const Arguments &in, const char *name, bool sparse) {
  Numbers n = numbers(in, name);
  if (sparse) return n;
  if (n.rank() < 1) in.refuse(name, "a number of each class");
  const auto columns = static_cast<size_t>(n.shape.back());
  std::vector<double> best;
  for (const double *row = n.begin(); row != n.end(); row += columns)
    best.push_back(static_cast<double>(std::max_element(row, row + columns) - row));
  return best;
}
// What is of no class, or of the one that is ignored, does not count.
State crossed(const Arguments &o, const Arguments &in, int64_t side, const Numbers &truth, const Numbers &pred) {
  if (truth.size() != pred.size()) in.refuse("y_pred", "as many as 'y_true' has");
  Numbers all = Numbers::zeros({side, side});
  const std::vector<double> weights =
      keras_weights(in, in.has("sample_weight") ? numbers(in, "sample_weight").shape : truth.shape);
  if (weights.size() != truth.size() && weights.size() != 1) in.refuse("sample_weight", "one number of each");
  const bool ignores = o.signature().has("ignore_class") && o.has("ignore_class");
  const auto is_class = [&](double x) { return x >= 0 && x < static_cast<double>(side); };
  for (size_t i = 0; i < truth.size(); ++i)
    if (is_class(truth[i]) && is_class(pred[i]) &&
        !(ignores && truth[i] == static_cast<double>(o.integer("ignore_class"))))
      all[static_cast<size_t>(truth[i]) * static_cast<size_t>(side) + static_cast<size_t>(pred[i])] +=
          weights[weights.size() == 1 ? 0 : i];
  State s;
  s.sum("matrix", all);
  return s;
}
double share(const Numbers &m, const std::vector<int64_t> &of) {
  const auto side = static_cast<size_t>(m.extent(0));
  double total = 0, valid = 0;
  for (const int64_t c : of) {
    const auto k = static_cast<size_t>(c);
    double either = -m[k * side + k];
    for (size_t i = 0; i < side; ++i) either += m[k * side + i] + m[i * side + k];
    if (either <= 1e-9) continue;
    total += m[k * side + k] / (either + keras_epsilon);
    ++valid;
  }
  return total / (valid + keras_epsilon);
}
struct Intersection : MetricRow {
  Intersection(const char *name, const std::string &options)
      : MetricRow(
            name, "", options, keras_inputs,
            [](const Arguments &o, const Arguments &in) {
              const bool sparse_truth = o.signature().has("sparse_y_true") && o.flag("sparse_y_true");
              if (o.integer("axis") != -1) o.refuse("axis", "-1, the last one");
              return crossed(o, in, o.integer("num_classes"), classes_of(in, "y_true", sparse_truth),
                             classes_of(in, "y_pred", o.flag("sparse_y_pred")));
            },
            [](const Arguments &o, const State &s) {
              std::vector<int64_t> of;
              if (o.signature().has("target_class_ids")) of = o.integers("target_class_ids");
              for (int64_t c = 0; c < o.integer("num_classes") && !o.signature().has("target_class_ids"); ++c)
                of.push_back(c);
              return result(share(s["matrix"], of));
            },
            [](const Arguments &o) {
              if (o.integer("num_classes") < 1) o.refuse("num_classes", "at least 1");
              if (!o.signature().has("target_class_ids")) return;
              for (const int64_t c : o.integers("target_class_ids"))
                if (c < 0 || c >= o.integer("num_classes")) o.refuse("target_class_ids", "classes below 'num_classes'");
            }) {}
};
#define SPARSE NAMED ", ignore_class=None, sparse_y_true=True, sparse_y_pred=True, axis=-1"
#define ONE_HOT NAMED ", ignore_class=None, sparse_y_pred=False, axis=-1"
const Intersection iou("keras.IoU", "num_classes, target_class_ids, " SPARSE),
    mean_iou("keras.MeanIoU", "num_classes, " SPARSE),
    one_hot_iou("keras.OneHotIoU", "num_classes, target_class_ids, " ONE_HOT),
    one_hot_mean_iou("keras.OneHotMeanIoU", "num_classes, " ONE_HOT);
const MetricRow binary_iou(
    "keras.BinaryIoU", "", "target_class_ids=(0, 1), threshold=0.5, " NAMED, keras_inputs,
    [](const Arguments &o, const Arguments &in) {
      Numbers pred = numbers(in, "y_pred");
      for (double &p : pred) p = is_not_below(p, o.real("threshold"));
      return crossed(o, in, 2, numbers(in, "y_true"), pred);
    },
    [](const Arguments &o, const State &s) {
      for (const int64_t c : o.integers("target_class_ids"))
        if (c < 0 || c > 1) o.refuse("target_class_ids", "0, 1 or both");
      return result(share(s["matrix"], o.integers("target_class_ids")));
    });

// ---- R squared of columns.

const MetricRow r2(
    "keras.R2Score", "", "class_aggregation='uniform_average', num_regressors=0, name='r2_score', dtype=None",
    keras_inputs,
    [](const Arguments &, const Arguments &in) {
      const KerasPair p = keras_pair(in);
      if (p.pred.rank() != 2) in.refuse("y_pred", "two dimensions");
      const auto columns = static_cast<size_t>(p.pred.extent(1));
      const std::vector<double> weights = keras_weights(in, p.pred.shape);
      Numbers all = Numbers::zeros({static_cast<int64_t>(columns), 4});  // weights, y, y y, errors
      for (size_t i = 0; i < p.pred.size(); ++i) {
        double *to = all.begin() + i % columns * 4;
        const double y = p.truth[i], apart = y - p.pred[i], w = weights[i];
        to[0] += w;
        to[1] += w * y;
        to[2] += w * y * y;
        to[3] += w * apart * apart;
      }
      State s;
      s.sum("sums", all);
      s.sum("count", static_cast<double>(p.pred.size()));
      return s;
    },
    [](const Arguments &o, const State &s) {
      const std::string how = word_or_none(o, "class_aggregation", {"uniform_average", "variance_weighted_average"});
      Numbers scores{std::vector<double>()};
      double total = 0, weights = 0;
      for (size_t i = 0; i < s["sums"].size(); i += 4) {
        const double *c = s["sums"].begin() + i;
        const double variance = c[2] - c[1] * c[1] / c[0], raw = 1 - c[3] / variance,
                     w = how == "uniform_average" ? 1 : variance;
        scores.all.push_back(std::isinf(raw) ? 0 : raw);
        total += w * scores.all.back();
        weights += w;
      }
      scores.shape = {static_cast<int64_t>(scores.size())};
      if (how != "none") scores = total / weights;
      const double n = s["count"][0], p = static_cast<double>(o.integer("num_regressors"));
      if (p < 0) o.refuse("num_regressors", "at least 0");
      if (p > 0 && p < n - 1)
        for (double &x : scores) x = 1 - (1 - x) * (n - 1) / (n - p - 1);
      return result(scores);
    });

}  // namespace

const void *keras_classes() { return &f1; }

}  // namespace saltern::metrics
