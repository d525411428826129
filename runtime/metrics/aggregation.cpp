// Numbers as they come: their mean, sum, extremes, all of them, and the same of the last few batches.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

namespace {

constexpr char options[] = "nan_strategy='warn'";

struct Weighted {
  Numbers values, weights;
};

// NaN is an error, left out, another number, or stays ('disable').
Weighted values(const Arguments &o, const Arguments &in) {
  Weighted all{numbers(in, "value"), {}};
  const bool has_weight = in.signature().has("weight") && in.has("weight");
  Numbers given = has_weight ? numbers(in, "weight") : Numbers(1.0);
  if (given.size() != 1 && given.shape != all.values.shape)
    in.refuse("weight", "one number, or the shape " + to_string(all.values.shape));
  const auto *word = o["nan_strategy"].as<std::string>();
  const std::string how = word ? o.word("nan_strategy", {"error", "warn", "ignore", "disable"}) : "other";
  std::vector<double> x, w;
  for (size_t i = 0; i < all.values.size(); ++i) {
    double value = all.values[i], weight = given[given.size() == 1 ? 0 : i];
    if ((std::isnan(value) || std::isnan(weight)) && how != "disable") {
      if (how == "error") in.refuse("value", "no NaN");
      if (how != "other") continue;
      value = o.real("nan_strategy");
      weight = 1;
    }
    x.push_back(value);
    w.push_back(weight);
  }
  const Shape shape =
      x.size() == all.values.size() && all.values.rank() > 0 ? all.values.shape : Shape{static_cast<int64_t>(x.size())};
  return {{shape, x}, {shape, w}};
}
double dot(const Weighted &w) {
  double all = 0;
  for (size_t i = 0; i < w.values.size(); ++i) all += w.values[i] * w.weights[i];
  return all;
}

const MetricRow mean_metric(
    "MeanMetric", "", options, "value, weight=None",
    [](const Arguments &o, const Arguments &in) {
      const Weighted w = values(o, in);
      State s;
      s.sum("value", dot(w));
      s.sum("weight", sum(w.weights));
      return s;
    },
    [](const Arguments &, const State &s) { return result(s["value"][0] / s["weight"][0]); });

const MetricRow sum_metric(
    "SumMetric", "", options, "value",
    [](const Arguments &o, const Arguments &in) {
      State s;
      s.sum("value", sum(values(o, in).values));
      return s;
    },
    [](const Arguments &, const State &s) { return result(s["value"][0]); });

const MetricRow max_metric(
    "MaxMetric", "", options, "value",
    [](const Arguments &o, const Arguments &in) {
      double most = -infinity;
      for (const double x : values(o, in).values) most = std::isnan(x) ? x : std::max(most, x);
      State s;
      s.most("value", most);
      return s;
    },
    [](const Arguments &, const State &s) { return result(s["value"][0]); });

const MetricRow min_metric(
    "MinMetric", "", options, "value",
    [](const Arguments &o, const Arguments &in) {
      double least = infinity;
      for (const double x : values(o, in).values) least = std::isnan(x) ? x : std::min(least, x);
      State s;
      s.least("value", least);
      return s;
    },
    [](const Arguments &, const State &s) { return result(s["value"][0]); });

const MetricRow cat_metric(
    "CatMetric", "", options, "value",
    [](const Arguments &o, const Arguments &in) {
      State s;
      s.list("value", values(o, in).values);
      return s;
    },
    [](const Arguments &, const State &s) { return result(s["value"]); });

// Sums and counts of batches; the last ones count.
State batch(const Arguments &o, const Arguments &in) {
  const Weighted w = values(o, in);
  State s;
  s.list("batch", Numbers({1, 2}, {dot(w), sum(w.weights)}));
  return s;
}
std::pair<double, double> last(const Arguments &o, const State &s) {
  if (o.integer("window") < 1) o.refuse("window", "at least 1");
  const Numbers &all = s["batch"];
  const size_t count = std::min(static_cast<size_t>(all.extent(0)), static_cast<size_t>(o.integer("window")));
  double total = 0, weights = 0;
  for (size_t i = all.size() - 2 * count; i < all.size(); i += 2) {
    total += all[i];
    weights += all[i + 1];
  }
  return {total, weights};
}
const MetricRow running_mean("RunningMean", "", "window=5, nan_strategy='warn'", "value, weight=None", batch,
                             [](const Arguments &o, const State &s) {
                               const auto [total, weights] = last(o, s);
                               return result(total / weights);
                             });
const MetricRow running_sum("RunningSum", "", "window=5, nan_strategy='warn'", "value", batch,
                            [](const Arguments &o, const State &s) { return result(last(o, s).first); });

}  // namespace

const void *aggregation() { return &mean_metric; }

}  // namespace saltern::metrics
