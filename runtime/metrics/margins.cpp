// Of scores of classes: calibration, hinge loss, the ranking of labels, and rates of groups.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/tasks.h"

namespace saltern::metrics {

namespace {

#define CHECKED "ignore_index=None, validate_args=True"

// ---- Whether things happen as often as was said: chances in bins beside the share that came true.

size_t bin_of(double chance, size_t bins) {
  size_t i =
      static_cast<size_t>(chance * static_cast<double>(bins));  // near by, then by the bounds in f32, as chances are
  const auto bound = [&](size_t b) { return static_cast<double>(static_cast<float>(b) / static_cast<float>(bins)); };
  while (i > 0 && chance < bound(i)) --i;
  while (i < bins && chance >= bound(i + 1)) ++i;
  return std::min(i, bins);  // 1 has one of its own
}
State calibrated(Task task, const Arguments &o, const Arguments &in) {
  const auto bins = static_cast<size_t>(o.integer("n_bins"));
  if (o.integer("n_bins") < 1) o.refuse("n_bins", "at least 1");
  const Scores s = scores(task, o, in);
  Numbers all = Numbers::zeros({static_cast<int64_t>(bins) + 1, 3});
  for (size_t r = 0; r < s.rows; ++r) {
    const double *row = s.scores.begin() + r * s.classes;
    const auto best = static_cast<size_t>(std::max_element(row, row + s.classes) - row);
    double *bin = all.begin() + bin_of(row[best], bins) * 3;
    bin[0] += 1;
    bin[1] += row[best];
    bin[2] += task == Task::binary ? static_cast<double>(s.truth[r]) : s.truth[r] == static_cast<int64_t>(best);
  }
  State state;
  state.sum("bins", all);
  return state;
}
const TaskRows calibration(
    "CalibrationError", "calibration_error",
    {"n_bins=15, norm='l1', " CHECKED, "num_classes, n_bins=15, norm='l1', " CHECKED, "",
     "n_bins=15, norm='l1', num_classes=None, " CHECKED},
    calibrated, [](Task, const Arguments &o, const State &s) {
      const std::string &norm = o.word("norm", {"l1", "l2", "max"});
      const Numbers &bins = s["bins"];
      double count = 0, sum = 0, squares = 0, most = 0;
      for (size_t i = 0; i < bins.size(); i += 3) {
        if (bins[i] == 0) continue;
        const double apart = std::abs(bins[i + 1] - bins[i + 2]) / bins[i];
        count += bins[i];
        sum += apart * bins[i];
        squares += apart * apart * bins[i];
        most = std::max(most, apart);
      }
      return result(count == 0 ? nan : norm == "max" ? most : norm == "l1" ? sum / count : std::sqrt(squares / count));
    });

// ---- Hinge loss: of the margin to the best other class, or of each class against all others.

State hinged(Task task, const Arguments &o, const Arguments &in) {
  const Scores s = scores(task, o, in);
  const bool each =
      task == Task::multiclass && o.word("multiclass_mode", {"crammer-singer", "one-vs-all"}) == "one-vs-all";
  Numbers total(std::vector<double>(each ? s.classes : 1, 0.0));
  const auto loss = [&](double margin) {
    const double x = std::max(1 - margin, 0.0);
    return o.flag("squared") ? x * x : x;
  };
  for (size_t r = 0; r < s.rows; ++r) {
    const double *row = s.scores.begin() + r * s.classes;
    const auto truth = static_cast<size_t>(s.truth[r]);
    if (task == Task::binary) {
      total[0] += loss(truth == 1 ? row[0] : -row[0]);
      continue;
    }
    double other = -infinity;
    for (size_t c = 0; c < s.classes; ++c) {
      if (each) total[c] += loss(c == truth ? row[c] : -row[c]);
      if (c != truth) other = std::max(other, row[c]);
    }
    if (!each) total[0] += loss(row[truth] - other);
  }
  State state;
  state.sum("total", total);
  state.sum("count", static_cast<double>(s.rows));
  return state;
}
const TaskRows hinge_rows("HingeLoss", "hinge_loss",
                          {"squared=False, " CHECKED,
                           "num_classes, squared=False, multiclass_mode='crammer-singer', " CHECKED, "",
                           "num_classes=None, squared=False, multiclass_mode='crammer-singer', " CHECKED},
                          hinged, [](Task, const Arguments &, const State &s) {
                            Numbers all = s["total"];
                            for (double &x : all) x /= s["count"][0];
                            return all.size() == 1 ? result(all[0]) : result(all);
                          });

// ---- How labels are ranked: a number of each row.

// Scores and truth of a row; those that are ignored have less than any score, and are not true.
using OfRow = bool (*)(const double *score, const int64_t *truth, size_t labels, double &value);
struct Ranking : MetricRow {
  Ranking(const char *name, const char *function, OfRow of)
      : MetricRow(
            name, function, "num_labels, " CHECKED, "preds, target",
            [of](const Arguments &o, const Arguments &in) {
              Scores s = scores(Task::multilabel, o, in);
              for (size_t i = 0; i < s.truth.size(); ++i)
                if (s.truth[i] < 0) s.scores[i] = -4 * static_cast<double>(s.classes);
              double total = 0;
              size_t used = 0;
              for (size_t r = 0; r < s.rows; ++r) {
                double value = 0;
                used += of(s.scores.begin() + r * s.classes, &s.truth[r * s.classes], s.classes, value);
                total += value;
              }
              State state;
              state.sum("total", total);
              state.sum("count", used == 0 ? 1 : static_cast<double>(s.rows));
              return state;
            },
            [](const Arguments &, const State &s) { return result(s["total"][0] / s["count"][0]); }) {}
};

// How far down the ranking one has to go for all that are true.
const Ranking coverage("MultilabelCoverageError", "multilabel_coverage_error",
                       [](const double *score, const int64_t *truth, size_t labels, double &value) {
                         double least = infinity;
                         for (size_t l = 0; l < labels; ++l)
                           if (truth[l] != 0) least = std::min(least, score[l]);
                         for (size_t l = 0; l < labels; ++l) value += score[l] >= least;
                         return true;
                       });
double not_below(const double *score, const int64_t *truth, size_t labels, size_t at, bool only_true) {
  double count = 0;
  for (size_t l = 0; l < labels; ++l) count += score[l] >= score[at] && (!only_true || truth[l] == 1);
  return count;
}
const Ranking average_precision("MultilabelRankingAveragePrecision", "multilabel_ranking_average_precision",
                                [](const double *score, const int64_t *truth, size_t labels, double &value) {
                                  const auto relevant = std::count(truth, truth + labels, 1);
                                  value = relevant == 0 || relevant == static_cast<int64_t>(labels) ? 1 : 0;
                                  for (size_t l = 0; l < labels && value != 1; ++l) {
                                    if (truth[l] != 1) continue;
                                    value += not_below(score, truth, labels, l, true) /
                                             not_below(score, truth, labels, l, false) / static_cast<double>(relevant);
                                  }
                                  return true;
                                });
// The share of pairs of a true and a false label that stand the wrong way round.
const Ranking ranking_loss("MultilabelRankingLoss", "multilabel_ranking_loss",
                           [](const double *score, const int64_t *truth, size_t labels, double &value) {
                             const auto relevant = static_cast<double>(std::count(truth, truth + labels, 1));
                             if (relevant == 0 || relevant == static_cast<double>(labels)) return false;
                             const std::vector<size_t> order = sorted_places(score, score + labels);
                             double all = 0;
                             for (size_t i = 0; i < labels; ++i)
                               all += truth[order[i]] == 1 ? static_cast<double>(labels - i) : 0;
                             value = (all - relevant * (relevant + 1) / 2) /
                                     (relevant * (static_cast<double>(labels) - relevant));
                             return true;
                           });

// ---- Rates of groups of people, and how equal they are.

State grouped(const Arguments &o, const Arguments &in) {
  const int64_t count = o.integer("num_groups");
  if (count < 2) o.refuse("num_groups", "at least 2");
  const Numbers groups = numbers(in, "groups");
  const Decisions d = decisions(Task::binary, o, in);
  if (groups.size() != d.truth.size()) in.refuse("groups", "as many as 'preds' has");
  Numbers all = Numbers::zeros({count, 4});  // true and false positives, true and false negatives
  for (size_t i = 0; i < d.truth.size(); ++i) {
    const auto g = static_cast<int64_t>(groups[i]);
    if (g < 0 || g >= count || static_cast<double>(g) != groups[i])
      in.refuse("groups", "groups from 0 to " + std::to_string(count - 1));
    if (d.truth[i] < 0) continue;
    const size_t at = d.truth[i] ? d.decided[i] ? 0 : 3 : d.decided[i] ? 1 : 2;
    ++all[static_cast<size_t>(g) * 4 + at];
  }
  State s;
  s.sum("groups", all);
  return s;
}
const MetricRow group_rates("BinaryGroupStatRates", "binary_groups_stat_rates", "num_groups, threshold=0.5, " CHECKED,
                            "preds, target, groups", grouped, [](const Arguments &, const State &s) {
                              std::vector<std::pair<std::string, Numbers>> all;
                              for (size_t g = 0; g * 4 < s["groups"].size(); ++g) {
                                const double *four = s["groups"].begin() + g * 4;
                                const double total = four[0] + four[1] + four[2] + four[3];
                                std::vector<double> rates;
                                for (size_t i = 0; i < 4; ++i) rates.push_back(four[i] / total);
                                all.emplace_back("group_" + std::to_string(g), rates);
                              }
                              return results(all);
                            });

// The least rate as a share of the largest, under the names of both groups.
std::pair<std::string, Numbers> equality(const std::string &name, const std::vector<double> &rates) {
  const auto least = std::min_element(rates.begin(), rates.end()), most = std::max_element(rates.begin(), rates.end());
  return {name + "_" + std::to_string(least - rates.begin()) + "_" + std::to_string(most - rates.begin()),
          ratio(*least, *most)};
}
const MetricRow fairness("BinaryFairness", "binary_fairness", "num_groups, task='all', threshold=0.5, " CHECKED,
                         "preds, target, groups", grouped, [](const Arguments &o, const State &s) {
                           const std::string &task = o.word("task", {"demographic_parity", "equal_opportunity", "all"});
                           std::vector<double> positive, true_positive;
                           for (size_t i = 0; i < s["groups"].size(); i += 4) {
                             const double *g = s["groups"].begin() + i;
                             positive.push_back(ratio(g[0] + g[1], g[0] + g[1] + g[2] + g[3]));
                             true_positive.push_back(ratio(g[0], g[0] + g[3]));
                           }
                           std::vector<std::pair<std::string, Numbers>> all;
                           if (task != "equal_opportunity") all.push_back(equality("DP", positive));
                           if (task != "demographic_parity") all.push_back(equality("EO", true_positive));
                           return results(all);
                         });

}  // namespace

const void *margins() { return &calibration; }

}  // namespace saltern::metrics
