#pragma once
// How true and false positives grow as the threshold falls: what precision-recall and ROC curves, the areas under them, and
// thresholds for a wanted rate are computed from. Either of all scores, which are kept, or at given thresholds, by counts.

#include "runtime/metrics/tasks.h"

namespace saltern::metrics {

// By falling thresholds: of a class, positives with scores of at least each.
struct Curve {
  std::vector<double> thresholds, tp, fp;
  double positives = 0, negatives = 0;
  bool is_binned = false;
  bool is_of_several = false;  // classes: recall of one that never is true is NaN, not 1
};

// Of some scores, `stride` apart, and whether each is true; those that are not 0 or 1 do not count.
Curve exact_curve(const std::vector<double> &scores, const std::vector<double> &truth);

// Statistics of a task with the option 'thresholds'; `micro`: all classes as one.
State curve_state(Task task, const Arguments &options, const Arguments &in, bool micro = false);
// A curve for each class; one of two classes.
std::vector<Curve> curves(Task task, const Arguments &options, const State &s, bool micro = false);

// The points of a curve. Precision, recall and rising thresholds, behind them the end at precision 1 and recall 0; or rates
// of false and of true positives by falling thresholds.
struct Points {
  std::vector<double> x, y, thresholds;
};
Points precision_recall(const Curve &c);
Points roc(const Curve &c);

// By trapezes.
double area(const std::vector<double> &x, const std::vector<double> &y);
// The same of an ROC curve up to a rate of false positives, scaled so that chance is a half.
double partial_area(const Points &p, double most);
double average_precision(const Curve &c);
// Straight lines between points of rising x.
double interpolated(double at, const std::vector<double> &x, const std::vector<double> &y);

}  // namespace saltern::metrics
