// What a search finds, of one query or of many: samples with one index are of one query.

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/metrics/curves.h"

namespace saltern::metrics {

namespace {

// By falling score; of equal ones the first stands first.
struct Query {
  std::vector<double> scores, truth;
  double relevant = 0;

  Query(const std::vector<double> &s, const std::vector<double> &t) {
    std::vector<double> falling;
    for (const double x : s) falling.push_back(-x);
    for (const size_t i : sorted_places(falling.data(), falling.data() + falling.size())) {
      scores.push_back(s[i]);
      truth.push_back(t[i]);
      relevant += t[i];
    }
  }
  size_t size() const { return scores.size(); }
  // How many of the first k are true; `scored`: of those with a positive score.
  double found(size_t k, bool scored) const {
    double all = 0;
    for (size_t i = 0; i < std::min(k, size()); ++i) all += scored && scores[i] <= 0 ? 0 : truth[i];
    return all;
  }
};

std::vector<Query> queries(const State &s) {
  std::map<double, std::pair<std::vector<double>, std::vector<double>>> by_index;
  for (size_t i = 0; i < s["preds"].size(); ++i) {
    auto &[scores, truth] = by_index[s["indexes"][i]];
    scores.push_back(s["preds"][i]);
    truth.push_back(s["target"][i]);
  }
  std::vector<Query> all;
  for (const auto &[_, q] : by_index) all.emplace_back(q.first, q.second);
  return all;
}

State kept(const Arguments &o, const Arguments &in, bool graded) {
  const auto [p, t] = alike(in);
  const Numbers index = in.has("indexes") ? numbers(in, "indexes") : Numbers::zeros(p.shape);
  if (index.shape != p.shape) in.refuse("indexes", "the shape that 'preds' has");
  const std::optional<int64_t> ignore = ignored(o);
  std::vector<double> scores, truth, places;
  for (size_t i = 0; i < p.size(); ++i) {
    if (ignore && t[i] == static_cast<double>(*ignore)) continue;
    if (!graded && t[i] != 0 && t[i] != 1) in.refuse("target", "0 or 1 of each");
    scores.push_back(p[i]);
    truth.push_back(t[i]);
    places.push_back(index[i]);
  }
  State s;
  s.list("preds", scores);
  s.list("target", truth);
  s.list("indexes", places);
  return s;
}

double aggregated(const Arguments &o, std::vector<double> all) {
  const std::string &how = o.word("aggregation", {"mean", "median", "min", "max"});
  if (all.empty()) return 0;
  if (how == "mean") return mean(Numbers(all));
  std::stable_sort(all.begin(), all.end());
  return how == "min" ? all.front() : how == "max" ? all.back() : all[(all.size() - 1) / 2];
}
// Of a query without any that is true: 0, 1, none, or an error.
bool stands_for_empty(const Arguments &o, double &value) {
  const std::string &how = o.word("empty_target_action", {"error", "skip", "neg", "pos"});
  if (how == "error")
    fail(o.owner(), ": a query has no sample that is true, or for RetrievalFallOut none that is false");
  value = how == "pos";
  return how != "skip";
}

size_t top(const Arguments &o, const Query &q) {
  if (!o.has("top_k")) return q.size();
  if (o.integer("top_k") < 1) o.refuse("top_k", "at least 1, or None");
  return static_cast<size_t>(o.integer("top_k"));
}

struct Retrieval : MetricRow {
  using Of = double (*)(const Arguments &, const Query &);
  // `options` are those between ignore_index and aggregation; `graded`: truth may be any number.
  Retrieval(const char *name, const char *function, const std::string &options, Of of, const std::string &empty = "neg",
            bool graded = false)
      : MetricRow(
            name, function,
            "empty_target_action='" + empty + "', ignore_index=None" + (options.empty() ? "" : ", " + options) +
                ", aggregation='mean'",
            "preds, target, indexes=None", [=](const Arguments &o, const Arguments &in) { return kept(o, in, graded); },
            [=](const Arguments &o, const State &s) {
              std::vector<double> all;
              for (const Query &q : queries(s)) {
                const bool is_empty = empty == "pos" ? q.relevant == static_cast<double>(q.size()) : q.relevant == 0;
                double value = 0;
                if (!is_empty) value = of(o, q);
                if (!is_empty || stands_for_empty(o, value)) all.push_back(value);
              }
              return result(aggregated(o, all));
            },
            nullptr, "preds, target" + (options.empty() ? "" : ", " + options)) {}
};

const Retrieval mean_average_precision("RetrievalMAP", "retrieval_average_precision", "top_k=None",
                                       [](const Arguments &o, const Query &q) {
                                         double all = 0, found = 0;
                                         for (size_t i = 0; i < std::min(top(o, q), q.size()); ++i)
                                           if (q.truth[i] > 0 && q.scores[i] > 0)
                                             all += ++found / static_cast<double>(i + 1);
                                         return ratio(all, found);
                                       });
const Retrieval reciprocal("RetrievalMRR", "retrieval_reciprocal_rank", "top_k=None",
                           [](const Arguments &o, const Query &q) {
                             for (size_t i = 0; i < std::min(top(o, q), q.size()); ++i)
                               if (q.truth[i] > 0 && q.scores[i] > 0) return 1 / static_cast<double>(i + 1);
                             return 0.0;
                           });
const Retrieval hit_rate("RetrievalHitRate", "retrieval_hit_rate", "top_k=None",
                         [](const Arguments &o, const Query &q) { return double(q.found(top(o, q), false) > 0); });
const Retrieval recall("RetrievalRecall", "retrieval_recall", "top_k=None",
                       [](const Arguments &o, const Query &q) { return q.found(top(o, q), true) / q.relevant; });
const Retrieval precision("RetrievalPrecision", "retrieval_precision", "top_k=None, adaptive_k=False",
                          [](const Arguments &o, const Query &q) {
                            const size_t k = o.flag("adaptive_k") ? std::min(top(o, q), q.size()) : top(o, q);
                            return q.found(k, true) / static_cast<double>(k);
                          });
const Retrieval r_precision("RetrievalRPrecision", "retrieval_r_precision", "", [](const Arguments &, const Query &q) {
  return q.found(static_cast<size_t>(q.relevant), false) / q.relevant;
});
const Retrieval fall_out(
    "RetrievalFallOut", "retrieval_fall_out", "top_k=None",
    [](const Arguments &o, const Query &q) {
      const size_t k = std::min(top(o, q), q.size());
      return (static_cast<double>(k) - q.found(k, false)) / (static_cast<double>(q.size()) - q.relevant);
    },
    "pos");

double gain(const std::vector<double> &truth, const std::vector<double> &scores, size_t k) {
  double all = 0;
  for (size_t i = 0, j; i < truth.size(); i = j) {  // those of equal score share their places
    double discounts = 0, total = 0;
    for (j = i; j == i || (j < truth.size() && scores[j] == scores[i]); ++j) {
      discounts += j < k ? 1 / std::log2(static_cast<double>(j) + 2) : 0;
      total += truth[j];
    }
    all += discounts * total / static_cast<double>(j - i);
  }
  return all;
}
const Retrieval normalized_gain(
    "RetrievalNormalizedDCG", "retrieval_normalized_dcg", "top_k=None",
    [](const Arguments &o, const Query &q) {
      std::vector<double> best = q.truth;
      std::stable_sort(best.rbegin(), best.rend());
      const size_t k = top(o, q);
      return ratio(gain(q.truth, q.scores, k), gain(best, best, k));
    },
    "neg", true);

const Retrieval auroc(
    "RetrievalAUROC", "retrieval_auroc", "top_k=None, max_fpr=None", [](const Arguments &o, const Query &q) {
      const auto k = static_cast<int64_t>(std::min(top(o, q), q.size()));
      const Curve c = exact_curve({q.scores.begin(), q.scores.begin() + k}, {q.truth.begin(), q.truth.begin() + k});
      if (c.positives == 0 || c.negatives == 0) return 0.0;
      const double most = o.has("max_fpr") ? o.real("max_fpr") : 1;
      return most == 1 ? area(roc(c).x, roc(c).y) : partial_area(roc(c), most);
    });

// ---- Precision and recall of the first 1, 2, ... of each query, and the means.

struct Means {
  std::vector<double> precision, recall, k;
};
Means means(const Arguments &o, const State &s) {
  const std::vector<Query> all = queries(s);
  size_t most = 0;
  for (const Query &q : all) most = std::max(most, q.size());
  if (o.has("max_k")) {
    if (o.integer("max_k") < 1) o.refuse("max_k", "at least 1, or None");
    most = static_cast<size_t>(o.integer("max_k"));
  }
  Means m;
  for (size_t k = 1; k <= most; ++k) {
    std::vector<double> precisions, recalls;
    for (const Query &q : all) {
      double precision = 0, recall = 0;
      if (q.relevant > 0) {
        const double found = q.found(k, false);
        precision = found / static_cast<double>(o.flag("adaptive_k") ? std::min(k, q.size()) : k);
        recall = found / q.relevant;
      } else if (!stands_for_empty(o, precision)) {
        continue;
      } else {
        recall = precision;
      }
      precisions.push_back(precision);
      recalls.push_back(recall);
    }
    m.precision.push_back(aggregated(o, precisions));
    m.recall.push_back(aggregated(o, recalls));
    m.k.push_back(static_cast<double>(k));
  }
  return m;
}
#define CURVE "max_k=None, adaptive_k=False, empty_target_action='neg', ignore_index=None, aggregation='mean'"
State binary(const Arguments &o, const Arguments &in) { return kept(o, in, false); }
const MetricRow curve(
    "RetrievalPrecisionRecallCurve", "retrieval_precision_recall_curve", CURVE, "preds, target, indexes=None", binary,
    [](const Arguments &o, const State &s) {
      const Means m = means(o, s);
      Numbers k = m.k;
      k.whole = true;
      return Argument::List{result(m.precision), result(m.recall), result(k)};
    },
    nullptr, "preds, target, max_k=None, adaptive_k=False");
const MetricRow recall_at("RetrievalRecallAtFixedPrecision", "", "min_precision=0.0, " CURVE,
                          "preds, target, indexes=None", binary, [](const Arguments &o, const State &s) {
                            const Means m = means(o, s);
                            double recall = 0, best = static_cast<double>(m.k.size());
                            for (size_t i = 0; i < m.k.size(); ++i)
                              if (m.precision[i] >= o.real("min_precision") && m.recall[i] > 0 && m.recall[i] >= recall)
                                recall = m.recall[i], best = m.k[i];
                            return Argument::List{result(recall), result(Numbers({}, {best}, true))};
                          });

}  // namespace

const void *retrieval() { return &reciprocal; }

}  // namespace saltern::metrics
