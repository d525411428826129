// Means of what numbers are apart, and shares of variance.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/metric.h"
#include "runtime/metrics/moments.h"

namespace saltern::metrics {

namespace {

constexpr double small = 1.17e-06;

// Numbers of outputs in columns, or all of them in one.
Numbers in_columns(Numbers n, bool one) {
  const int64_t columns = one || n.size() == 0 ? 1 : n.extent_from(1);
  n.shape = {static_cast<int64_t>(n.size()) / columns, columns};
  return n;
}
// Without the dimension of outputs where there is one.
Argument squeezed(std::vector<double> all) {
  return result(all.size() == 1 ? Numbers(all[0]) : Numbers(std::move(all)));
}

// ---- The mean of a term of each pair.

struct MeanRow : MetricRow {
  using Term = double (*)(const Arguments &options, double pred, double target);
  using Finish = double (*)(const Arguments &options, double mean);

  MeanRow(const char *name, const char *function, const char *options, Term term, Finish finish = nullptr,
          const char *second = "target", bool columns_by_shape = false)
      : MetricRow(
            name, function, options, std::string("preds, ") + second,
            [=](const Arguments &o, const Arguments &in) {
              auto [p, t] = alike(in, "preds", second);
              const bool has_outputs = o.signature().has("num_outputs");
              const bool one = !has_outputs || (o.integer("num_outputs") == 1 && !columns_by_shape);
              if (!one && o.integer("num_outputs") > 1 && p.extent(1) != o.integer("num_outputs"))
                in.refuse("preds", std::to_string(o.integer("num_outputs")) + " columns, as 'num_outputs' says");
              const Numbers shaped = in_columns(p, one);
              const auto columns = static_cast<size_t>(shaped.extent(1));
              Numbers total = Numbers::zeros({shaped.extent(1)});
              for (size_t i = 0; i < p.size(); ++i) total[i % columns] += term(o, p[i], t[i]);
              State s;
              s.sum("total", total);
              s.sum("count", static_cast<double>(shaped.extent(0)));
              return s;
            },
            [=](const Arguments &o, const State &s) {
              std::vector<double> all;
              for (const double x : s["total"]) {
                const double m = x / s["count"][0];
                all.push_back(finish ? finish(o, m) : m);
              }
              return squeezed(all);
            }) {}
};

const MeanRow absolute("MeanAbsoluteError", "mean_absolute_error", "num_outputs=1",
                       [](const Arguments &, double p, double t) { return std::abs(p - t); });
const MeanRow squared(
    "MeanSquaredError", "mean_squared_error", "squared=True, num_outputs=1",
    [](const Arguments &, double p, double t) { return (p - t) * (p - t); },
    [](const Arguments &o, double m) { return o.flag("squared") ? m : std::sqrt(m); });
const MeanRow squared_logarithm("MeanSquaredLogError", "mean_squared_log_error", "",
                                [](const Arguments &, double p, double t) {
                                  const double d = std::log1p(p) - std::log1p(t);
                                  return d * d;
                                });
const MeanRow percentage("MeanAbsolutePercentageError", "mean_absolute_percentage_error", "",
                         [](const Arguments &, double p, double t) {
                           return std::abs(p - t) / std::max(std::abs(t), small);
                         });
const MeanRow symmetric("SymmetricMeanAbsolutePercentageError", "symmetric_mean_absolute_percentage_error", "",
                        [](const Arguments &, double p, double t) {
                          return 2 * std::abs(p - t) / std::max(std::abs(t) + std::abs(p), small);
                        });
const MeanRow log_cosh(
    "LogCoshError", "log_cosh_error", "num_outputs=1",
    [](const Arguments &, double p, double t) {  // of large ones, without overflow
      const double d = std::abs(p - t);
      return d + std::log1p(std::exp(-2 * d)) - std::log(2.0);
    },
    nullptr, "target", true);

double deviance(const Arguments &o, double p, double t) {
  const double power = o.real("power");
  if (power > 0 && power < 1) o.refuse("power", "no number between 0 and 1");
  if (power == 0) return (t - p) * (t - p);
  if (!(p > 0)) fail(o.owner(), ": 'preds' has ", p, "; expected positive numbers, as the power is ", power);
  if (power >= 1 && (t < 0 || (power >= 2 && t == 0)))
    fail(o.owner(), ": 'targets' has ", t, "; expected positive numbers, as the power is ", power);
  if (power == 1) return 2 * (x_log_y(t, t / p) + p - t);
  if (power == 2) return 2 * (std::log(p / t) + t / p - 1);
  return 2 * (std::pow(std::max(t, 0.0), 2 - power) / ((1 - power) * (2 - power)) -
              t * std::pow(p, 1 - power) / (1 - power) + std::pow(p, 2 - power) / (2 - power));
}
const MeanRow tweedie("TweedieDevianceScore", "tweedie_deviance_score", "power=0.0", deviance, nullptr, "targets");

// ---- Sums of terms.

const MetricRow minkowski(
    "MinkowskiDistance", "minkowski_distance", "p", "preds, targets",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = alike(in, "preds", "targets");
      if (!(o.real("p") >= 1)) o.refuse("p", "at least 1");
      double all = 0;
      for (size_t i = 0; i < p.size(); ++i) all += std::pow(std::abs(p[i] - t[i]), o.real("p"));
      State s;
      s.sum("total", all);
      return s;
    },
    [](const Arguments &o, const State &s) { return result(std::pow(s["total"][0], 1 / o.real("p"))); });

const MetricRow weighted_percentage(
    "WeightedMeanAbsolutePercentageError", "weighted_mean_absolute_percentage_error", "", "preds, target",
    [](const Arguments &, const Arguments &in) {
      const auto [p, t] = alike(in);
      double apart = 0, scale = 0;
      for (size_t i = 0; i < p.size(); ++i) {
        apart += std::abs(p[i] - t[i]);
        scale += std::abs(t[i]);
      }
      State s;
      s.sum("apart", apart);
      s.sum("scale", scale);
      return s;
    },
    [](const Arguments &, const State &s) { return result(s["apart"][0] / std::max(s["scale"][0], small)); });

// Where both, or one of both, are at least a threshold.
const MetricRow critical_success(
    "CriticalSuccessIndex", "critical_success_index", "threshold, keep_sequence_dim=None", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = alike(in);
      const bool keeps = o.has("keep_sequence_dim");
      const int64_t d = keeps ? o.integer("keep_sequence_dim") : 0;
      if (keeps && (d < 0 || d >= p.rank())) o.refuse("keep_sequence_dim", "a dimension of 'preds'");
      const auto inner = static_cast<size_t>(p.extent_from(static_cast<int>(d) + 1)),
                 count = keeps ? static_cast<size_t>(p.extent(static_cast<int>(d))) : 1;
      Numbers both(std::vector<double>(count, 0.0)), either = both;
      for (size_t i = 0; i < p.size(); ++i) {
        const bool a = p[i] >= o.real("threshold"), b = t[i] >= o.real("threshold");
        const size_t at = keeps ? i / inner % count : 0;
        both[at] += a && b;
        either[at] += a || b;
      }
      State s;
      keeps ? s.list("both", both) : s.sum("both", both);
      keeps ? s.list("either", either) : s.sum("either", either);
      return s;
    },
    [](const Arguments &o, const State &s) {
      Numbers all = s["both"];
      for (size_t i = 0; i < all.size(); ++i) all[i] = ratio(all[i], s["either"][i]);
      return o.has("keep_sequence_dim") ? result(all) : result(all[0]);
    });

// ---- Of the moments of errors and targets.

State errors(const Arguments &in, bool one) {
  auto [p, t] = alike(in);
  if (p.rank() > 2 && !one) in.refuse("preds", "one or two dimensions");
  for (size_t i = 0; i < p.size(); ++i) p[i] = t[i] - p[i];
  State s;
  s.moments("errors", moments_of(in_columns(p, one), in_columns(t, one)));
  return s;
}
double squares(const Moments &m) { return m.xx + m.n * m.x * m.x; }

Numbers averaged(const Arguments &o, const std::vector<double> &scores, const std::vector<double> &weights) {
  const std::string &how = o.word("multioutput", {"raw_values", "uniform_average", "variance_weighted"});
  if (how == "raw_values") return scores.size() == 1 ? Numbers(scores[0]) : Numbers(scores);
  double all = 0, total = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const double w = how == "uniform_average" ? 1 : weights[i];
    all += w * scores[i];
    total += w;
  }
  return all / total;
}
// 1 - a / b: 1 of no error, 0 where only b is nothing.
double explained(double a, double b) { return a == 0 ? 1 : b == 0 ? 0 : 1 - a / b; }

const MetricRow explained_variance(
    "ExplainedVariance", "explained_variance", "multioutput='uniform_average'", "preds, target",
    [](const Arguments &, const Arguments &in) { return errors(in, false); },
    [](const Arguments &o, const State &s) {
      std::vector<double> scores, weights;
      for (size_t c = 0; c < columns_of(s["errors"]); ++c) {
        const Moments m = moments_at(s["errors"], c);
        scores.push_back(m.n == 0 ? nan : explained(m.xx / m.n, m.yy / m.n));
        weights.push_back(m.yy);
      }
      return result(averaged(o, scores, weights));
    });

// NaN of less than two samples.
const MetricRow r2(
    "R2Score", "r2_score", "adjusted=0, multioutput='uniform_average'", "preds, target",
    [](const Arguments &, const Arguments &in) { return errors(in, false); },
    [](const Arguments &o, const State &s) {
      const auto parameters = static_cast<double>(o.integer("adjusted"));
      if (parameters < 0) o.refuse("adjusted", "at least 0");
      std::vector<double> scores, weights;
      const double n = moments_at(s["errors"], 0).n;
      for (size_t c = 0; c < columns_of(s["errors"]); ++c) {
        const Moments m = moments_at(s["errors"], c);
        scores.push_back(m.n < 2 ? nan : explained(squares(m), m.yy));
        weights.push_back(m.yy);
      }
      Numbers score = averaged(o, scores, weights);
      if (parameters > 0 && parameters < n - 1)
        for (double &x : score) x = 1 - (1 - x) * (n - 1) / (n - parameters - 1);
      return result(score);
    });

const MetricRow relative_squared(
    "RelativeSquaredError", "relative_squared_error", "num_outputs=1, squared=True", "preds, target",
    [](const Arguments &, const Arguments &in) { return errors(in, false); },
    [](const Arguments &o, const State &s) {
      double all = 0;
      const size_t columns = columns_of(s["errors"]);
      for (size_t c = 0; c < columns; ++c) {
        const Moments m = moments_at(s["errors"], c);
        const double e = squares(m) / std::max(m.yy, 1.1920929e-07);
        all += o.flag("squared") ? e : std::sqrt(e);
      }
      return result(all / static_cast<double>(columns));
    });

const MetricRow normalized(
    "NormalizedRootMeanSquaredError", "normalized_root_mean_squared_error", "normalization='mean', num_outputs=1",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const bool one = o.integer("num_outputs") == 1;
      State s = errors(in, one);
      const Numbers t = in_columns(numbers(in, "target"), one);
      const auto columns = static_cast<size_t>(t.extent(1));
      Numbers most(std::vector<double>(columns, -infinity)), least(std::vector<double>(columns, infinity));
      for (size_t i = 0; i < t.size(); ++i) {
        most[i % columns] = std::max(most[i % columns], t[i]);
        least[i % columns] = std::min(least[i % columns], t[i]);
      }
      s.most("most", most);
      s.least("least", least);
      return s;
    },
    [](const Arguments &o, const State &s) {
      const std::string &by = o.word("normalization", {"mean", "range", "std", "l2"});
      std::vector<double> all;
      for (size_t c = 0; c < columns_of(s["errors"]); ++c) {
        const Moments m = moments_at(s["errors"], c);
        const double scale = by == "mean"    ? m.y
                             : by == "range" ? s["most"][c] - s["least"][c]
                             : by == "std"   ? std::sqrt(m.yy / m.n)
                                             : std::sqrt(m.yy + m.n * m.y * m.y);
        all.push_back(std::sqrt(squares(m) / m.n) / scale);
      }
      return squeezed(all);
    });

}  // namespace

const void *regression() { return &absolute; }

}  // namespace saltern::metrics
