// Metrics of true and false positives and negatives: accuracy, precision, recall, F-scores and their like.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/tasks.h"

namespace saltern::metrics {

namespace {

struct Four {
  double tp, fp, tn, fn;
};

// What a metric makes of the four numbers of a class; `apart`: each class stands beside all others, as labels do.
using Score = double (*)(const Four &, bool apart, const Arguments &options);

double zero_division(const Arguments &o) { return o.signature().has("zero_division") ? o.real("zero_division") : 0; }

std::string average_of(Task task, const Arguments &o) {
  return task == Task::binary ? "binary" : word_or_none(o, "average", {"micro", "macro", "weighted"});
}

State counted(Task task, const Arguments &options, const Arguments &in) {
  const bool samples = by_sample(options);
  Counts c = counts(decisions(task, options, in), samples);
  if (average_of(task, options) == "micro") {
    for (auto *all : {&c.tp, &c.fp, &c.tn, &c.fn})
      for (size_t s = 0; s < c.samples; ++s) {
        double total = 0;
        for (size_t k = 0; k < c.classes; ++k) total += (*all)[s * c.classes + k];
        (*all)[s] = total;
      }
    c.classes = 1;
  }
  State state;
  const auto put = [&](const char *name, const std::vector<double> &all) {
    const Numbers n({static_cast<int64_t>(c.samples), static_cast<int64_t>(c.classes)},
                    {all.begin(), all.begin() + static_cast<int64_t>(c.samples * c.classes)});
    samples ? state.list(name, n) : state.sum(name, n);
  };
  put("tp", c.tp);
  put("fp", c.fp);
  put("tn", c.tn);
  put("fn", c.fn);
  return state;
}

Four four(const State &s, size_t i) { return {s["tp"][i], s["fp"][i], s["tn"][i], s["fn"][i]}; }

// Weights of the classes of a sample, which are to be divided by their sum.
double weight(const std::string &average, const Four &f, Task task, size_t top) {
  if (average == "weighted") return f.tp + f.fn;
  const bool absent = top == 1 ? f.tp + f.fp + f.fn == 0 : f.tp + f.fn == 0;
  return task == Task::multiclass && absent ? 0 : 1;
}

Argument averaged(Task task, const Arguments &o, const State &s, Score score, bool sees_top) {
  const std::string average = average_of(task, o);
  const auto samples = static_cast<size_t>(s["tp"].extent(0)), classes = static_cast<size_t>(s["tp"].extent(1));
  const bool apart = task != Task::multiclass, is_listed = average == "none";
  const size_t top = sees_top && task == Task::multiclass ? static_cast<size_t>(o.integer("top_k")) : 1;
  Numbers all;
  for (size_t i = 0; i < samples; ++i) {
    double total = 0, weights = 0;
    for (size_t c = 0; c < classes; ++c) {
      const Four f = four(s, i * classes + c);
      const double x = score(f, apart, o),
                   w = average == "macro" || average == "weighted" ? weight(average, f, task, top) : 1;
      if (is_listed) all.all.push_back(x);
      total += w * x;
      weights += w;
    }
    if (!is_listed) all.all.push_back(ratio(total, weights));
  }
  if (by_sample(o)) all.shape.push_back(static_cast<int64_t>(samples));
  if (is_listed) all.shape.push_back(static_cast<int64_t>(classes));
  return result(all);
}

Argument listed(Task task, const Arguments &o, const State &s) {
  const std::string average = average_of(task, o);
  const auto samples = static_cast<size_t>(s["tp"].extent(0)), classes = static_cast<size_t>(s["tp"].extent(1));
  const bool keeps_classes = average == "none";
  Numbers all;
  all.whole = average != "macro" && average != "weighted";
  const bool one_sum = task == Task::multilabel || !by_sample(o);  // of all weights
  double sum_of_weights = 0;
  for (size_t i = 0; i < samples * classes; ++i) sum_of_weights += s["tp"][i] + s["fn"][i];
  for (size_t i = 0; i < samples; ++i) {
    std::vector<double> five(5);
    double weights = sum_of_weights;
    if (!one_sum) {
      weights = 0;
      for (size_t c = 0; c < classes; ++c) weights += s["tp"][i * classes + c] + s["fn"][i * classes + c];
    }
    for (size_t c = 0; c < classes; ++c) {
      const Four f = four(s, i * classes + c);
      const double row[] = {f.tp, f.fp, f.tn, f.fn, f.tp + f.fn};
      const double w = average == "macro"      ? 1.0 / static_cast<double>(classes)
                       : average == "weighted" ? (f.tp + f.fn) / weights
                                               : 1;
      for (size_t k = 0; k < 5; ++k) five[k] += w * row[k];
      if (keeps_classes) all.all.insert(all.all.end(), row, row + 5);
    }
    if (!keeps_classes) all.all.insert(all.all.end(), five.begin(), five.end());
  }
  if (by_sample(o)) all.shape.push_back(static_cast<int64_t>(samples));
  if (keeps_classes) all.shape.push_back(static_cast<int64_t>(classes));
  all.shape.push_back(5);
  return result(all);
}

double accuracy_of(const Four &f, bool apart, const Arguments &) {
  return apart ? ratio(f.tp + f.tn, f.tp + f.tn + f.fp + f.fn) : ratio(f.tp, f.tp + f.fn);
}
double hamming_of(const Four &f, bool apart, const Arguments &o) { return 1 - accuracy_of(f, apart, o); }
double precision_of(const Four &f, bool, const Arguments &o) { return ratio(f.tp, f.tp + f.fp, zero_division(o)); }
double recall_of(const Four &f, bool, const Arguments &o) { return ratio(f.tp, f.tp + f.fn, zero_division(o)); }
double specificity_of(const Four &f, bool, const Arguments &) { return ratio(f.tn, f.tn + f.fp); }
double negative_value_of(const Four &f, bool, const Arguments &o) { return ratio(f.tn, f.tn + f.fn, zero_division(o)); }
double f_score(const Four &f, bool, const Arguments &o) {
  const double beta = o.signature().has("beta") ? o.real("beta") : 1, b = beta * beta;
  if (!(beta > 0)) o.refuse("beta", "more than 0");
  return ratio((1 + b) * f.tp, (1 + b) * f.tp + b * f.fn + f.fp, zero_division(o));
}

#define BINARY "threshold=0.5, multidim_average='global', ignore_index=None, validate_args=True"
#define SEVERAL "top_k=1, average='macro', multidim_average='global', ignore_index=None, validate_args=True"
#define MULTICLASS "num_classes=None, " SEVERAL
#define LABELS \
  "num_labels, threshold=0.5, average='macro', multidim_average='global', ignore_index=None, validate_args=True"
#define ANY                                                                                                 \
  "threshold=0.5, num_classes=None, num_labels=None, average='micro', multidim_average='global', top_k=1, " \
  "ignore_index=None, validate_args=True"
#define ZERO ", zero_division=0"

const TaskRows::Options plain = {BINARY, MULTICLASS, LABELS, ANY},
                        with_zero = {BINARY ZERO, MULTICLASS ZERO, LABELS ZERO, ANY ZERO},
                        f1_options = {BINARY ZERO, "num_classes, " SEVERAL ZERO, LABELS ZERO, ANY ZERO},
                        with_beta = {"beta, " BINARY ZERO, "beta, num_classes, " SEVERAL ZERO, "beta, " LABELS ZERO,
                                     "beta=1.0, " ANY ZERO};

struct Scored : TaskRows {
  Scored(const char *name, const char *function, const Options &options, Score score, bool sees_top = false)
      : TaskRows(name, function, options, counted,
                 [=](Task task, const Arguments &o, const State &s) { return averaged(task, o, s, score, sees_top); }) {
  }
};
const Scored accuracy("Accuracy", "accuracy", plain, accuracy_of, true);
const Scored hamming("HammingDistance", "hamming_distance", plain, hamming_of);
const Scored specificity("Specificity", "specificity", plain, specificity_of);
const Scored precision("Precision", "precision", with_zero, precision_of, true);
const Scored recall("Recall", "recall", with_zero, recall_of, true);
const Scored negative_value("NegativePredictiveValue", "negative_predictive_value", with_zero, negative_value_of, true);
const Scored f1("F1Score", "f1_score", f1_options, f_score);
const Scored f_beta("FBetaScore", "fbeta_score", with_beta, f_score);
const TaskRows stat_scores("StatScores", "stat_scores", plain, counted, listed);

// ---- All positions of a sample, or all labels of a position, right at once.

State matched(Task task, const Arguments &options, const Arguments &in) {
  const Decisions d = decisions(task, options, in);
  const bool labels = task == Task::multilabel, samples = by_sample(options);
  const size_t groups = labels ? d.samples * d.positions : d.samples;
  std::vector<double> right(groups, 1);
  for (size_t i = 0; i < d.truth.size(); ++i) {
    const size_t group = labels ? i / (d.classes * d.positions) * d.positions + i % d.positions : i / d.positions;
    if (d.truth[i] >= 0 && d.truth[i] != d.decided[i]) right[group] = 0;
  }
  State state;
  if (samples) {
    const size_t each = labels ? d.positions : 1;
    Numbers share(std::vector<double>(d.samples));
    for (size_t g = 0; g < groups; ++g) share[g / each] += right[g] / static_cast<double>(each);
    state.list("share", share);
  } else {
    state.sum("right", sum(Numbers(right)));
    state.sum("total", static_cast<double>(groups));
  }
  return state;
}
const TaskRows exact_match(
    "ExactMatch", "exact_match",
    {"", "num_classes, multidim_average='global', ignore_index=None, validate_args=True",
     "num_labels, threshold=0.5, multidim_average='global', ignore_index=None, validate_args=True",
     "threshold=0.5, num_classes=None, num_labels=None, multidim_average='global', ignore_index=None, "
     "validate_args=True"},
    matched, [](Task, const Arguments &o, const State &s) {
      return result(by_sample(o) ? s["share"] : Numbers(ratio(s["right"][0], s["total"][0])));
    });

}  // namespace

const void *classification() { return &accuracy; }

}  // namespace saltern::metrics
