#include "runtime/metrics/curves.h"

#include <algorithm>
#include <cmath>

namespace saltern::metrics {

namespace {

// In f32, as scores mostly are: 0.7 is to be at the threshold 0.7.
std::vector<double> thresholds_of(const Arguments &options) {
  std::vector<double> all;
  if (options["thresholds"].as<int64_t>()) {
    const int64_t n = options.integer("thresholds");
    if (n < 2) options.refuse("thresholds", "at least 2");
    for (int64_t i = 0; i < n; ++i) all.push_back(static_cast<float>(i) / static_cast<float>(n - 1));
  } else {
    const Numbers given = numbers(options, "thresholds");
    all.assign(given.begin(), given.end());
  }
  for (double &t : all) t = static_cast<float>(t);
  return all;
}

std::vector<double> reversed(std::vector<double> v) {
  std::reverse(v.begin(), v.end());
  return v;
}

// Whether the score of a row and class is of one that is true, or -1.
double truth_of(Task task, const Scores &s, size_t row, size_t c) {
  return task == Task::multiclass ? double(s.truth[row] == static_cast<int64_t>(c))
                                  : static_cast<double>(s.truth[row * s.classes + c]);
}

}  // namespace

State curve_state(Task task, const Arguments &options, const Arguments &in, bool micro) {
  const bool as_chances = !options.signature().has("normalization") || options.has("normalization");
  const Scores s = scores(task, options, in, as_chances);
  const size_t classes = micro ? 1 : s.classes;
  Numbers truth;
  for (size_t r = 0; r < s.rows; ++r)
    for (size_t c = 0; c < s.classes; ++c) truth.all.push_back(truth_of(task, s, r, c));
  State state;
  if (!options.has("thresholds")) {
    const auto columns = static_cast<int64_t>(classes), rows = static_cast<int64_t>(truth.size()) / columns;
    state.list("scores", Numbers({rows, columns}, s.scores.all));
    state.list("truth", Numbers({rows, columns}, truth.all));
    return state;
  }
  const std::vector<double> limits = thresholds_of(options);
  Numbers bins = Numbers::zeros({static_cast<int64_t>(limits.size()), static_cast<int64_t>(classes), 4});
  for (size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0) continue;
    for (size_t t = 0; t < limits.size(); ++t) {
      const size_t reaches = is_not_below(s.scores[i], limits[t]);
      ++bins[(t * classes + i % classes) * 4 + 2 * static_cast<size_t>(truth[i]) + reaches];
    }
  }
  state.sum("bins", bins);
  return state;
}

Curve exact_curve(const std::vector<double> &scores, const std::vector<double> &truth) {
  std::vector<size_t> order = sorted_places(scores.data(), scores.data() + scores.size());
  std::reverse(order.begin(), order.end());
  Curve c;
  for (size_t i = 0; i < order.size(); ++i) {
    const double t = truth[order[i]], score = scores[order[i]];
    if (t < 0) continue;
    (t > 0 ? c.positives : c.negatives) += 1;
    if (c.thresholds.empty() || c.thresholds.back() != score) {
      c.thresholds.push_back(score);
      c.tp.push_back(0);
      c.fp.push_back(0);
    }
    c.tp.back() = c.positives;
    c.fp.back() = c.negatives;
  }
  return c;
}

std::vector<Curve> curves(Task task, const Arguments &options, const State &s, bool micro) {
  std::vector<Curve> all;
  if (!options.has("thresholds")) {
    const Numbers &scores = s["scores"], &truth = s["truth"];
    const auto columns = micro ? size_t{1} : static_cast<size_t>(scores.extent(1));
    for (size_t c = 0; c < columns; ++c) {
      std::vector<double> x, t;
      for (size_t i = c; i < scores.size(); i += columns) {
        x.push_back(scores[i]);
        t.push_back(truth[i]);
      }
      all.push_back(exact_curve(x, t));
      all.back().is_of_several = task == Task::multiclass && !micro;
    }
    return all;
  }
  const Numbers &bins = s["bins"];
  const std::vector<double> limits = reversed(thresholds_of(options));
  const auto columns = static_cast<size_t>(bins.extent(1));
  all.resize(micro ? 1 : columns);
  for (size_t c = 0; c < columns; ++c) {
    Curve &to = all[micro ? 0 : c];
    to.is_binned = true;
    to.thresholds = limits;
    to.tp.resize(limits.size());
    to.fp.resize(limits.size());
    for (size_t t = 0; t < limits.size(); ++t) {
      const double *four = bins.begin() + ((limits.size() - 1 - t) * columns + c) * 4;
      to.tp[t] += four[3];
      to.fp[t] += four[1];
      if (t == 0) {
        to.positives += four[2] + four[3];
        to.negatives += four[0] + four[1];
      }
    }
  }
  return all;
}

Points precision_recall(const Curve &c) {
  Points p;
  for (size_t i = c.tp.size(); i-- > 0;) {
    p.x.push_back(c.tp[i] / (c.tp[i] + c.fp[i]));
    p.y.push_back(c.positives == 0 && !c.is_binned && !c.is_of_several ? 1 : c.tp[i] / c.positives);
  }
  p.x.push_back(1);
  p.y.push_back(0);
  p.thresholds = reversed(c.thresholds);
  return p;
}

Points roc(const Curve &c) {
  Points p;
  if (!c.is_binned) p = {{0}, {0}, {1}};
  for (size_t i = 0; i < c.tp.size(); ++i) {
    p.x.push_back(ratio(c.fp[i], c.negatives));
    p.y.push_back(ratio(c.tp[i], c.positives));
    p.thresholds.push_back(c.thresholds[i]);
  }
  return p;
}

double area(const std::vector<double> &x, const std::vector<double> &y) {
  double all = 0;
  for (size_t i = 1; i < x.size(); ++i) all += (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2;
  return all;
}

double partial_area(const Points &p, double most) {
  const auto stop = static_cast<size_t>(std::upper_bound(p.x.begin(), p.x.end(), most) - p.x.begin());
  std::vector<double> x(p.x.begin(), p.x.begin() + static_cast<int64_t>(stop)),
      y(p.y.begin(), p.y.begin() + static_cast<int64_t>(stop));
  const double share = (most - p.x[stop - 1]) / (p.x[stop] - p.x[stop - 1]);
  x.push_back(most);
  y.push_back(p.y[stop - 1] + share * (p.y[stop] - p.y[stop - 1]));
  const double chance = most * most / 2;
  return (1 + (area(x, y) - chance) / (most - chance)) / 2;
}

double average_precision(const Curve &c) {
  const Points p = precision_recall(c);
  const auto or_zero = [&](double x) { return std::isnan(x) && !c.is_of_several ? 0 : x; };
  double all = 0;
  for (size_t i = 1; i < p.x.size(); ++i) all += (or_zero(p.y[i - 1]) - or_zero(p.y[i])) * or_zero(p.x[i - 1]);
  return all;
}

double interpolated(double at, const std::vector<double> &x, const std::vector<double> &y) {
  if (x.size() < 2) return x.empty() ? nan : y[0];
  // As torchmetrics has it, for which x need not rise: the piece behind as many points as are not above.
  const auto below = std::count_if(x.begin(), x.end(), [&](double p) { return at >= p; });
  const auto i = static_cast<size_t>(std::clamp<int64_t>(below - 1, 0, static_cast<int64_t>(x.size()) - 2));
  const double slope = ratio(y[i + 1] - y[i], x[i + 1] - x[i]);
  return y[i] + slope * (at - x[i]);
}

}  // namespace saltern::metrics
