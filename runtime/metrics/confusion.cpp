// Metrics of a confusion matrix: itself, Cohen's kappa, Jaccard's index, Matthews' correlation.

#include <cmath>
#include <limits>

#include "runtime/metrics/tasks.h"

namespace saltern::metrics {

namespace {

State confused(Task task, const Arguments &options, const Arguments &in) {
  State s;
  s.sum("matrix", confusion(decisions(task, options, in)));
  return s;
}

#define CHECKED "ignore_index=None, validate_args=True"

// Matrices of `side` rows, one behind another, each with the sums of its rows and columns.
struct Matrix {
  const double *at;
  size_t side;
  double operator()(size_t truth, size_t decided) const { return at[truth * side + decided]; }
  double row(size_t i) const {
    double all = 0;
    for (size_t j = 0; j < side; ++j) all += (*this)(i, j);
    return all;
  }
  double column(size_t j) const {
    double all = 0;
    for (size_t i = 0; i < side; ++i) all += (*this)(i, j);
    return all;
  }
  double total() const {
    double all = 0;
    for (size_t i = 0; i < side; ++i) all += row(i);
    return all;
  }
};
Matrix matrix(const Numbers &n, size_t which = 0) {
  const auto side = static_cast<size_t>(n.shape.back());
  return {n.begin() + which * side * side, side};
}

const TaskRows matrices("ConfusionMatrix", "confusion_matrix",
                        {"threshold=0.5, ignore_index=None, normalize=None, validate_args=True",
                         "num_classes, ignore_index=None, normalize=None, validate_args=True",
                         "num_labels, threshold=0.5, ignore_index=None, normalize=None, validate_args=True",
                         "threshold=0.5, num_classes=None, num_labels=None, normalize=None, " CHECKED},
                        confused, [](Task, const Arguments &o, const State &s) {
                          const std::string by = word_or_none(o, "normalize", {"true", "pred", "all"});
                          Numbers all = s["matrix"];
                          all.whole = by == "none";
                          const auto side = static_cast<size_t>(all.shape.back()), each = side * side;
                          for (size_t i = 0; i < all.size() && by != "none"; ++i) {
                            const Matrix m = matrix(s["matrix"], i / each);
                            const size_t r = i / side % side, c = i % side;
                            all[i] = ratio(all[i], by == "true" ? m.row(r) : by == "pred" ? m.column(c) : m.total());
                          }
                          return result(all);
                        });

const TaskRows kappa("CohenKappa", "cohen_kappa",
                     {"threshold=0.5, ignore_index=None, weights=None, validate_args=True",
                      "num_classes, ignore_index=None, weights=None, validate_args=True", "",
                      "threshold=0.5, num_classes=None, weights=None, " CHECKED},
                     confused, [](Task, const Arguments &o, const State &s) {
                       const std::string weights = word_or_none(o, "weights", {"linear", "quadratic"});
                       const Matrix m = matrix(s["matrix"]);
                       double seen = 0, expected = 0;
                       for (size_t i = 0; i < m.side; ++i)
                         for (size_t j = 0; j < m.side; ++j) {
                           const double apart = std::abs(static_cast<double>(i) - static_cast<double>(j)),
                                        w = weights == "none"     ? i != j
                                            : weights == "linear" ? apart
                                                                  : apart * apart;
                           seen += w * m(i, j);
                           expected += w * m.row(i) * m.column(j) / m.total();
                         }
                       return result(1 - seen / expected);
                     });

const TaskRows jaccard(
    "JaccardIndex", "jaccard_index",
    {"threshold=0.5, " CHECKED ", zero_division=0", "num_classes, average='macro', " CHECKED ", zero_division=0",
     "num_labels, threshold=0.5, average='macro', " CHECKED ", zero_division=0",
     "threshold=0.5, num_classes=None, num_labels=None, average='macro', " CHECKED ", zero_division=0.0"},
    confused, [](Task task, const Arguments &o, const State &s) {
      const Numbers &all = s["matrix"];
      const double otherwise = o.real("zero_division");
      const bool labels = task == Task::multilabel;
      const size_t classes = task == Task::binary ? 1 : static_cast<size_t>(all.shape[0]);
      const std::string average =
          task == Task::binary ? "none" : word_or_none(o, "average", {"micro", "macro", "weighted"});
      Numbers each;
      double intersections = 0, unions = 0, weighted = 0, weights = 0;
      for (size_t c = 0; c < classes; ++c) {
        const Matrix m = matrix(all, labels ? c : 0);
        const size_t at = task == Task::multiclass ? c : 1;
        const double both = m(at, at), either = m.row(at) + m.column(at) - both;
        const bool is_ignored = o.has("ignore_index") && o.integer("ignore_index") == static_cast<int64_t>(c);
        const double index = ratio(both, either, otherwise);
        const double w = average == "weighted"                      ? m.row(at)
                         : is_ignored                               ? 0
                         : !labels && m.row(at) + m.column(at) == 0 ? 0
                                                                    : 1;
        each.all.push_back(index);
        intersections += both;
        unions += is_ignored ? 0 : either;
        weighted += w * index;
        weights += w;
      }
      if (task != Task::binary) each.shape = {static_cast<int64_t>(classes)};
      return result(average == "none"    ? each
                    : average == "micro" ? Numbers(ratio(intersections, unions, otherwise))
                                         : Numbers(weighted / weights));
    });

// The correlation of truth and decision. Where two classes leave it undefined, the limit from near by.
double matthews(const Matrix &m) {
  double trace = 0, rows_columns = 0, rows = 0, columns = 0;
  const double s = m.total();
  for (size_t i = 0; i < m.side; ++i) {
    trace += m(i, i);
    rows_columns += m.row(i) * m.column(i);
    rows += m.row(i) * m.row(i);
    columns += m.column(i) * m.column(i);
  }
  double numerator = trace * s - rows_columns, denominator = (s * s - columns) * (s * s - rows);
  if (m.side == 2) {
    const double tn = m(0, 0), fp = m(0, 1), fn = m(1, 0), tp = m(1, 1);
    if (tp + tn != 0 && fp + fn == 0) return 1;
    if (tp + tn == 0 && fp + fn != 0) return -1;
    if (denominator == 0) {
      const double small = std::numeric_limits<float>::epsilon(), root = std::sqrt(small);
      const double a = tp + fp + small, b = tp + fn + small, c = tn + fp + small, d = tn + fn + small;
      numerator = fn == 0 && tn == 0   ? root * (tp - fp)
                  : fp == 0 && tn == 0 ? root * (tp - fn)
                  : tp == 0 && fn == 0 ? root * (tn - fp)
                  : tp == 0 && fp == 0 ? root * (tn - fn)
                  : tp == 0            ? tn - fp * fn
                  : tn == 0            ? tp - fp * fn
                                       : tp * tn;
      denominator = a * b * c * d;
    }
  }
  return denominator == 0 ? 0 : numerator / std::sqrt(denominator);
}
const TaskRows correlation("MatthewsCorrCoef", "matthews_corrcoef",
                           {"threshold=0.5, " CHECKED, "num_classes, " CHECKED, "num_labels, threshold=0.5, " CHECKED,
                            "threshold=0.5, num_classes=None, num_labels=None, " CHECKED},
                           confused, [](Task task, const Arguments &, const State &s) {
                             Numbers all = s["matrix"];
                             if (task == Task::multilabel) {  // of all labels at once
                               for (size_t i = 4; i < all.size(); ++i) all[i % 4] += all[i];
                               all = Numbers({2, 2}, {all.begin(), all.begin() + 4});
                             }
                             return result(matthews(matrix(all)));
                           });

}  // namespace

const void *confusions() { return &matrices; }

}  // namespace saltern::metrics
