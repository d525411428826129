// How much of a signal is left, in decibels: of each signal, the last dimension, whose mean is the value.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

namespace {

constexpr double small = 1.1920929e-07;  // of f32, as signals mostly are

using Signal = std::vector<double>;
double dot(const Signal &a, const Signal &b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
Signal centred(Signal s) {
  const double m = mean(Numbers(s));
  for (double &x : s) x -= m;
  return s;
}
double decibels(double ratio) { return 10 * std::log10(ratio); }
double beside_noise(const Signal &pred, const Signal &target) {
  double noise = 0;
  for (size_t i = 0; i < pred.size(); ++i) noise += (target[i] - pred[i]) * (target[i] - pred[i]);
  return decibels((dot(target, target) + small) / (noise + small));
}
double scale_invariant(const Signal &pred, Signal target) {
  const double scale = (dot(pred, target) + small) / (dot(target, target) + small);
  for (double &x : target) x *= scale;
  return beside_noise(pred, target);
}

// A symmetric Toeplitz system, by Levinson's recursion: r(|i - j|) x(j) = b(i).
Signal solved(const Signal &r, const Signal &b) {
  const size_t n = b.size();
  Signal forward(n), x(n);
  forward[0] = 1 / r[0];
  x[0] = b[0] / r[0];
  for (size_t k = 1; k < n; ++k) {
    double error = 0, rest = 0;
    for (size_t i = 0; i < k; ++i) {
      error += r[k - i] * forward[i];
      rest += r[k - i] * x[i];
    }
    const double scale = 1 / (1 - error * error);
    const Signal before(forward.begin(), forward.begin() + static_cast<int64_t>(k));
    for (size_t i = 0; i <= k; ++i)
      forward[i] = scale * ((i < k ? before[i] : 0) - (i > 0 ? error * before[k - i] : 0));
    for (size_t i = 0; i <= k; ++i) x[i] += (b[k] - rest) * forward[k - i];
  }
  return x;
}
// What a filter of the target cannot explain is distortion.
double distortion(const Arguments &o, Signal pred, Signal target) {
  const auto length = static_cast<size_t>(o.integer("filter_length"));
  if (o.integer("filter_length") < 1) o.refuse("filter_length", "at least 1");
  for (Signal *s : {&pred, &target}) {
    const double norm = std::max(std::sqrt(dot(*s, *s)), 1e-6);
    for (double &x : *s) x /= norm;
  }
  const auto correlated = [&](const Signal &a) {
    Signal all(length);
    for (size_t lag = 0; lag < std::min(length, target.size()); ++lag)
      all[lag] = std::inner_product(target.begin(), target.end() - static_cast<int64_t>(lag),
                                    a.begin() + static_cast<int64_t>(lag), 0.0);
    return all;
  };
  Signal own = correlated(target);
  const Signal cross = correlated(pred);
  if (o.has("load_diag")) own[0] += o.real("load_diag");
  const double explained = dot(cross, solved(own, cross));
  return decibels(explained / (1 - explained));
}

// A number of each signal; `together`: how many of the last dimensions are one signal.
struct Decibels : MetricRow {
  using Of = double (*)(const Arguments &, const Signal &pred, const Signal &target);
  Decibels(const char *name, const char *function, const char *options, Of of, int together = 1)
      : MetricRow(
            name, function, options, "preds, target",
            [=](const Arguments &o, const Arguments &in) {
              const auto [p, t] = alike(in);
              if (p.rank() < together) in.refuse("preds", std::to_string(together) + " dimensions or more");
              const auto length = static_cast<size_t>(p.extent_from(p.rank() - together));
              if (length == 0) in.refuse("preds", "signals of one number or more");
              Numbers each({p.shape.begin(), p.shape.end() - together}, {});
              for (size_t i = 0; i < p.size(); i += length)
                each.all.push_back(
                    of(o, {p.begin() + i, p.begin() + i + length}, {t.begin() + i, t.begin() + i + length}));
              if (each.rank() == 0) each.shape = {1};
              State s;
              s.list("each", each);
              return s;
            },
            [](const Arguments &, const State &s) { return result(mean(s["each"])); }, nullptr, "",
            [](const Arguments &, const State &s) {
              return s["each"].shape == Shape{1} ? result(s["each"][0]) : result(s["each"]);
            }) {}
};
// Both less their means where that is asked for.
template <typename F>
double of_centred(const Arguments &o, const Signal &p, const Signal &t, const F &f) {
  return o.flag("zero_mean") ? f(centred(p), centred(t)) : f(p, t);
}
const Decibels snr("SignalNoiseRatio", "signal_noise_ratio", "zero_mean=False",
                   [](const Arguments &o, const Signal &p, const Signal &t) {
                     return of_centred(o, p, t, beside_noise);
                   });
double invariant(const Arguments &o, const Signal &p, const Signal &t) { return of_centred(o, p, t, scale_invariant); }
const Decibels si_sdr("ScaleInvariantSignalDistortionRatio", "scale_invariant_signal_distortion_ratio",
                      "zero_mean=False", invariant);
const Decibels si_snr("ScaleInvariantSignalNoiseRatio", "scale_invariant_signal_noise_ratio", "",
                      [](const Arguments &, const Signal &p, const Signal &t) {
                        return scale_invariant(centred(p), centred(t));
                      });
// Of spectra: frequency, time, and a pair of real and imaginary parts.
const Decibels complex_si_snr("ComplexScaleInvariantSignalNoiseRatio", "complex_scale_invariant_signal_noise_ratio",
                              "zero_mean=False", invariant, 3);
const Decibels sdr("SignalDistortionRatio", "signal_distortion_ratio",
                   "use_cg_iter=None, filter_length=512, zero_mean=False, load_diag=None",
                   [](const Arguments &o, const Signal &p, const Signal &t) {
                     return of_centred(o, p, t, [&](const Signal &a, const Signal &b) { return distortion(o, a, b); });
                   });

// Of all sources of a mixture at once.
const MetricRow aggregated(
    "SourceAggregatedSignalDistortionRatio", "source_aggregated_signal_distortion_ratio",
    "scale_invariant=True, zero_mean=False", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = alike(in);
      if (p.rank() < 2) in.refuse("preds", "[..., sources, time]");
      const auto time = static_cast<size_t>(p.shape.back()), both = static_cast<size_t>(p.extent_from(p.rank() - 2));
      std::vector<double> each;
      for (size_t i = 0; i < p.size(); i += both) {
        Signal a, b;
        for (size_t k = i; k < i + both; k += time) {
          Signal x(p.begin() + k, p.begin() + k + time), y(t.begin() + k, t.begin() + k + time);
          if (o.flag("zero_mean")) x = centred(x), y = centred(y);
          a.insert(a.end(), x.begin(), x.end());
          b.insert(b.end(), y.begin(), y.end());
        }
        each.push_back(o.flag("scale_invariant") ? scale_invariant(a, b) : beside_noise(a, b));
      }
      State s;
      s.list("each", each);
      return s;
    },
    [](const Arguments &, const State &s) { return result(mean(s["each"])); }, nullptr, "",
    [](const Arguments &, const State &s) { return result(s["each"]); });

// ---- A metric of sources in the order that suits best.

Numbers part(const Numbers &n, size_t source) {
  const auto sources = static_cast<size_t>(n.extent(1)), inner = static_cast<size_t>(n.extent_from(2));
  Numbers one;
  one.shape = n.shape;
  one.shape.erase(one.shape.begin() + 1);
  for (size_t b = 0; b < static_cast<size_t>(n.extent(0)); ++b) {
    const double *from = n.begin() + (b * sources + source) * inner;
    one.all.insert(one.all.end(), from, from + inner);
  }
  return one;
}
State best_orders(const Arguments &o, const Arguments &in) {
  const auto [p, t] = alike(in);
  if (p.rank() < 2) in.refuse("preds", "[batch, sources, ...]");
  const MetricRow *of = find_metric(o.word("metric_func"));
  if (!of || of->function().empty()) o.refuse("metric_func", "a function of saltern.metrics.functional, or its name");
  const bool most = o.word("eval_func", {"max", "min"}) == "max",
             pairs = o.word("mode", {"speaker-wise", "permutation-wise"}) == "speaker-wise";
  const auto batch = static_cast<size_t>(p.extent(0)), sources = static_cast<size_t>(p.extent(1));
  const auto values = [&](const Numbers &a, const Numbers &b) {  // the mean of what there is of each sample
    const Numbers all = {{}, variable_of(of->call({result(a), result(b)})).value().reals()};
    if (batch == 0 || all.size() % batch != 0) o.refuse("metric_func", "a function that gives a number of each sample");
    std::vector<double> each(batch);
    for (size_t i = 0; i < all.size(); ++i)
      each[i / (all.size() / batch)] += all[i] * static_cast<double>(batch) / static_cast<double>(all.size());
    return each;
  };
  std::vector<double> best(batch, most ? -infinity : infinity);
  Numbers orders = Numbers::zeros({p.extent(0), p.extent(1)});
  if (pairs) {
    std::vector<std::vector<double>> costs(batch, std::vector<double>(sources * sources));
    for (size_t i = 0; i < sources; ++i)
      for (size_t j = 0; j < sources; ++j) {
        const std::vector<double> each = values(part(p, j), part(t, i));
        for (size_t b = 0; b < batch; ++b) costs[b][i * sources + j] = most ? -each[b] : each[b];
      }
    for (size_t b = 0; b < batch; ++b) {
      const std::vector<size_t> order = assigned(costs[b], sources);
      double total = 0;
      for (size_t i = 0; i < sources; ++i) {
        total += costs[b][i * sources + order[i]] * (most ? -1 : 1);
        orders[b * sources + i] = static_cast<double>(order[i]);
      }
      best[b] = total / static_cast<double>(sources);
    }
  } else {
    std::vector<size_t> order(sources);
    std::iota(order.begin(), order.end(), size_t{0});
    const auto inner = static_cast<size_t>(p.extent_from(2));
    do {
      Numbers other = p;
      for (size_t b = 0; b < batch; ++b)
        for (size_t i = 0; i < sources; ++i)
          std::copy_n(p.begin() + (b * sources + order[i]) * inner, inner, other.begin() + (b * sources + i) * inner);
      const std::vector<double> each = values(other, t);
      for (size_t b = 0; b < batch; ++b)
        if (most ? each[b] > best[b] : each[b] < best[b]) {
          best[b] = each[b];
          for (size_t i = 0; i < sources; ++i) orders[b * sources + i] = static_cast<double>(order[i]);
        }
    } while (std::next_permutation(order.begin(), order.end()));
  }
  State s;
  s.list("best", best);
  s.list("orders", orders);
  return s;
}
const MetricRow invariant_training(
    "PermutationInvariantTraining", "permutation_invariant_training",
    "metric_func, mode='speaker-wise', eval_func='max'", "preds, target", best_orders,
    [](const Arguments &, const State &s) { return result(mean(s["best"])); }, nullptr, "",
    [](const Arguments &, const State &s) {
      Numbers orders = s["orders"];
      orders.whole = true;
      return Argument::List{result(s["best"]), result(orders)};
    });

}  // namespace

const void *audio() { return &snr; }

}  // namespace saltern::metrics
