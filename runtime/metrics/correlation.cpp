// How two series of numbers go together: of their values, of their ranks, and what two distributions are apart.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "runtime/metrics/metric.h"
#include "runtime/metrics/moments.h"

namespace saltern::metrics {

namespace {

Argument squeezed(std::vector<double> all) {
  return result(all.size() == 1 ? Numbers(all[0]) : Numbers(std::move(all)));
}
std::pair<Numbers, Numbers> series(const Arguments &in) {
  auto pair = alike(in);
  if (pair.first.rank() > 2) in.refuse("preds", "one or two dimensions");
  for (Numbers *n : {&pair.first, &pair.second})
    if (n->rank() < 2) n->shape = {static_cast<int64_t>(n->size()), 1};
  return pair;
}

// ---- Of values.

struct MomentRow : MetricRow {
  MomentRow(const char *name, const char *function, double (*of)(const Moments &))
      : MetricRow(
            name, function, "num_outputs=1", "preds, target",
            [](const Arguments &, const Arguments &in) {
              const auto [p, t] = series(in);
              State s;
              s.moments("moments", moments_of(p, t));
              return s;
            },
            [of](const Arguments &, const State &s) {
              std::vector<double> all;
              for (size_t c = 0; c < columns_of(s["moments"]); ++c) all.push_back(of(moments_at(s["moments"], c)));
              return squeezed(all);
            }) {}
};
double correlation_of(const Moments &m) {
  return m.n < 2 || m.xx == 0 || m.yy == 0 ? nan : std::clamp(m.xy / std::sqrt(m.xx * m.yy), -1.0, 1.0);
}
const MomentRow pearson("PearsonCorrCoef", "pearson_corrcoef", correlation_of);
const MomentRow concordance("ConcordanceCorrCoef", "concordance_corrcoef", [](const Moments &m) {
  const double n = m.n - 1, apart = m.x - m.y;
  return 2 * correlation_of(m) * std::sqrt(m.xx / n) * std::sqrt(m.yy / n) / (m.xx / n + m.yy / n + apart * apart);
});

// ---- Of ranks: all numbers are kept.

State kept_pairs(const Arguments &, const Arguments &in) {
  const auto [p, t] = series(in);
  State s;
  s.list("preds", p);
  s.list("target", t);
  return s;
}
std::vector<double> column(const Numbers &n, size_t c) {
  std::vector<double> all;
  for (size_t i = c; i < n.size(); i += static_cast<size_t>(n.extent(1))) all.push_back(n[i]);
  return all;
}
// From 1; those that are equal share the mean of theirs.
std::vector<double> ranks(const std::vector<double> &x) {
  const std::vector<size_t> order = sorted_places(x.data(), x.data() + x.size());
  std::vector<double> all(x.size());
  for (size_t i = 0, j; i < order.size(); i = j) {
    for (j = i + 1; j < order.size() && x[order[j]] == x[order[i]];) ++j;
    for (size_t k = i; k < j; ++k) all[order[k]] = static_cast<double>(i + j + 1) / 2;
  }
  return all;
}

const MetricRow spearman("SpearmanCorrCoef", "spearman_corrcoef", "num_outputs=1", "preds, target", kept_pairs,
                         [](const Arguments &, const State &s) {
                           std::vector<double> all;
                           for (size_t c = 0; c < static_cast<size_t>(s["preds"].extent(1)); ++c) {
                             const Numbers one =
                                 moments_of(ranks(column(s["preds"], c)), ranks(column(s["target"], c)));
                             const Moments m = moments_at(one, 0);
                             const double deviations = std::sqrt(m.xx / m.n) * std::sqrt(m.yy / m.n);
                             all.push_back(std::clamp(m.xy / m.n / (deviations + 1e-6), -1.0, 1.0));
                           }
                           return squeezed(all);
                         });

// How many pairs have rising x and rising y, or falling: a merge sort counts those that have not.
double inversions(std::vector<double> y) {
  std::vector<double> other(y.size());
  double count = 0;
  for (size_t width = 1; width < y.size(); width *= 2) {
    for (size_t begin = 0; begin < y.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, y.size()), end = std::min(begin + 2 * width, y.size());
      size_t a = begin, b = middle;
      for (size_t to = begin; to < end; ++to) {
        const bool from_b = a == middle || (b < end && y[b] < y[a]);
        if (from_b) count += static_cast<double>(middle - a);
        other[to] = y[from_b ? b++ : a++];
      }
    }
    y.swap(other);
  }
  return count;
}

struct Ties {
  double pairs = 0, third = 0, fifth = 0, distinct = 0;
};
Ties ties(const std::vector<double> &x) {
  std::map<double, double> counts;
  for (const double v : x) ++counts[v];
  Ties t;
  t.distinct = static_cast<double>(counts.size());
  for (const auto &[_, n] : counts) {
    t.pairs += n * (n - 1) / 2;
    t.third += n * (n - 1) * (n - 2);
    t.fifth += n * (n - 1) * (2 * n + 5);
  }
  return t;
}

struct Tau {
  double value, chance;
};
Tau tau(const Arguments &o, const std::vector<double> &x, const std::vector<double> &y) {
  const std::string &variant = o.word("variant", {"a", "b", "c"});
  std::vector<size_t> order(x.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::make_pair(x[a], y[a]) < std::make_pair(x[b], y[b]); });
  std::vector<double> sorted;
  std::map<std::pair<double, double>, double> pairs;
  for (const size_t i : order) {
    sorted.push_back(y[i]);
    ++pairs[{x[i], y[i]}];
  }
  double both = 0;
  for (const auto &[_, k] : pairs) both += k * (k - 1) / 2;
  const auto n = static_cast<double>(x.size());
  const Ties of_x = ties(x), of_y = ties(y);
  const double all = n * (n - 1) / 2, discordant = inversions(sorted),
               concordant = all - of_x.pairs - of_y.pairs + both - discordant, apart = concordant - discordant;
  const double least = std::min(of_x.distinct, of_y.distinct);
  const double value = variant == "a"   ? apart / (concordant + discordant)
                       : variant == "b" ? apart / std::sqrt((all - of_x.pairs) * (all - of_y.pairs))
                                        : 2 * apart / ((least - 1) / least * n * n);
  const double base = n * (n - 1) * (2 * n + 5), m = n * (n - 1);
  double z = variant == "a"
                 ? 3 * apart / std::sqrt(base / 2)
                 : apart / std::sqrt((base - of_x.fifth - of_y.fifth) / 18 + 2 * of_x.pairs * of_y.pairs / m +
                                     of_x.third * of_y.third / (9 * m * (n - 2)));
  const std::string &side = o.word("alternative", {"two-sided", "less", "greater"});
  if (side == "two-sided") z = -std::abs(z);
  if (side == "greater") z = -z;
  const double below = std::erfc(-z / std::sqrt(2.0)) / 2;
  return {std::isnan(value) ? nan : std::clamp(value, -1.0, 1.0), side == "two-sided" ? 2 * below : below};
}
const MetricRow kendall("KendallRankCorrCoef", "kendall_rank_corrcoef",
                        "variant='b', t_test=False, alternative='two-sided', num_outputs=1", "preds, target",
                        kept_pairs, [](const Arguments &o, const State &s) -> Argument {
                          std::vector<double> values, chances;
                          for (size_t c = 0; c < static_cast<size_t>(s["preds"].extent(1)); ++c) {
                            const Tau t = tau(o, column(s["preds"], c), column(s["target"], c));
                            values.push_back(t.value);
                            chances.push_back(t.chance);
                          }
                          if (o.flag("t_test")) return Argument::List{squeezed(values), squeezed(chances)};
                          return squeezed(values);
                        });

// ---- Of rows: a number of each, which are summed, averaged or listed.

struct PerRow : MetricRow {
  using Of = double (*)(const Arguments &options, const double *a, const double *b, size_t columns);
  PerRow(const char *name, const char *function, const char *options, const char *first, const char *second, Of of)
      : MetricRow(
            name, function, options, std::string(first) + ", " + second,
            [=](const Arguments &o, const Arguments &in) {
              const auto [a, b] = alike(in, first, second);
              if (a.rank() != 2) in.refuse(first, "two dimensions");
              const auto columns = static_cast<size_t>(a.extent(1));
              std::vector<double> each;
              for (size_t i = 0; i < a.size(); i += columns)
                each.push_back(of(o, a.begin() + i, b.begin() + i, columns));
              State s;
              const bool keeps = word_or_none(o, "reduction", {"sum", "mean"}) == "none";
              keeps ? s.list("each", each) : s.sum("total", sum(Numbers(each)));
              s.sum("count", static_cast<double>(each.size()));
              return s;
            },
            [](const Arguments &o, const State &s) {
              const std::string how = word_or_none(o, "reduction", {"sum", "mean"});
              return how == "none" ? result(s["each"]) : result(s["total"][0] / (how == "mean" ? s["count"][0] : 1));
            }) {}
};

double cosine(const Arguments &, const double *a, const double *b, size_t columns) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t c = 0; c < columns; ++c) {
    dot += a[c] * b[c];
    aa += a[c] * a[c];
    bb += b[c] * b[c];
  }
  return dot / (std::sqrt(aa) * std::sqrt(bb));
}
// Of rows that need not sum to 1, or of logarithms.
double divergence(const Arguments &o, const double *p, const double *q, size_t columns) {
  double all = 0, sum_p = 0, sum_q = 0;
  for (size_t c = 0; c < columns; ++c) {
    sum_p += p[c];
    sum_q += q[c];
  }
  for (size_t c = 0; c < columns; ++c)
    all += o.flag("log_prob") ? std::exp(p[c]) * (p[c] - q[c]) : x_log_y(p[c] / sum_p, (p[c] / sum_p) / (q[c] / sum_q));
  return all;
}
double shared_divergence(const Arguments &o, const double *p, const double *q, size_t columns) {
  double sum_p = 0, sum_q = 0;
  for (size_t c = 0; c < columns; ++c) {
    sum_p += p[c];
    sum_q += q[c];
  }
  std::vector<double> middle(columns);
  for (size_t c = 0; c < columns; ++c) {
    const double most = std::max(p[c], q[c]);
    middle[c] = o.flag("log_prob") ? most + std::log(std::exp(p[c] - most) + std::exp(q[c] - most)) - std::log(2.0)
                                   : (p[c] / sum_p + q[c] / sum_q) / 2;
  }
  return (divergence(o, p, middle.data(), columns) + divergence(o, q, middle.data(), columns)) / 2;
}
const PerRow cosine_similarity("CosineSimilarity", "cosine_similarity", "reduction='sum'", "preds", "target", cosine);
const PerRow kl("KLDivergence", "kl_divergence", "log_prob=False, reduction='mean'", "p", "q", divergence);
const PerRow js("JensenShannonDivergence", "jensen_shannon_divergence", "log_prob=False, reduction='mean'", "p", "q",
                shared_divergence);

// What members of an ensemble are from the truth, less what they are from each other.
const MetricRow ranked_probability(
    "ContinuousRankedProbabilityScore", "continuous_ranked_probability_score", "", "preds, target",
    [](const Arguments &, const Arguments &in) {
      const Numbers p = numbers(in, "preds"), t = numbers(in, "target");
      if (p.rank() != 2 || p.extent(1) < 2) in.refuse("preds", "two members or more of each");
      if (t.shape != Shape{p.extent(0)}) in.refuse("target", "a number of each row");
      const auto members = static_cast<size_t>(p.extent(1));
      double all = 0;
      for (size_t r = 0; r < t.size(); ++r) {
        const double *row = p.begin() + r * members;
        double apart = 0, inside = 0;
        for (size_t i = 0; i < members; ++i) {
          apart += std::abs(row[i] - t[r]);
          for (size_t j = 0; j < i; ++j) inside += std::abs(row[i] - row[j]);
        }
        const auto n = static_cast<double>(members);
        all += apart / n - inside / (n * n);
      }
      State s;
      s.sum("total", all);
      s.sum("count", static_cast<double>(t.size()));
      return s;
    },
    [](const Arguments &, const State &s) { return result(s["total"][0] / s["count"][0]); });

}  // namespace

const void *correlation() { return &pearson; }

}  // namespace saltern::metrics
