// Clusters beside others, by how often each pair of labels comes together, and by how far apart they lie.

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

namespace {

// Of truth by prediction, without labels that nobody has.
struct Contingency {
  size_t rows, columns;
  std::vector<double> counts, of_row, of_column;
  double total = 0, squares = 0;

  Contingency(const Numbers &preds, const Numbers &target) {
    std::map<double, size_t> a, b;
    for (const double t : target) a.emplace(t, 0);
    for (const double p : preds) b.emplace(p, 0);
    size_t i = 0, j = 0;
    for (auto &[_, place] : a) place = i++;
    for (auto &[_, place] : b) place = j++;
    rows = i, columns = j;
    counts.resize(rows * columns);
    of_row.resize(rows);
    of_column.resize(columns);
    for (size_t k = 0; k < preds.size(); ++k) {
      const size_t r = a[target[k]], c = b[preds[k]];
      ++counts[r * columns + c];
      ++of_row[r];
      ++of_column[c];
      ++total;
    }
    for (const double n : counts) squares += n * n;
  }
};

double entropy(const std::vector<double> &counts, double total) {
  double all = 0;
  for (const double n : counts) all -= x_log_y(n / total, n / total);
  return total == 0 ? 1 : counts.size() == 1 ? 0 : all;
}
double information(const Contingency &c) {
  if (c.rows == 1 || c.columns == 1) return 0;
  double all = 0;
  for (size_t i = 0; i < c.counts.size(); ++i) {
    const double n = c.counts[i];
    if (n > 0)
      all +=
          n / c.total *
          (std::log(c.total) + std::log(n) - std::log(c.of_row[i / c.columns]) - std::log(c.of_column[i % c.columns]));
  }
  return all;
}
// Of labels that are given out at random, as many of each.
double expected_information(const Contingency &c) {
  if (c.rows == 1 || c.columns == 1) return 0;
  double all = 0;
  const double n = c.total;
  for (const double a : c.of_row)
    for (const double b : c.of_column)
      for (double k = std::max(1.0, a + b - n); k <= std::min(a, b); ++k) {
        const double chance = std::lgamma(a + 1) + std::lgamma(b + 1) + std::lgamma(n - a + 1) +
                              std::lgamma(n - b + 1) - std::lgamma(k + 1) - std::lgamma(n + 1) -
                              std::lgamma(a - k + 1) - std::lgamma(b - k + 1) - std::lgamma(n - a - b + k + 1);
        all += k / n * std::log(n * k / (a * b)) * std::exp(chance);
      }
  return all;
}
double mean_entropy(const Arguments &o, const Contingency &c) {
  const std::string &how = o.word("average_method", {"min", "geometric", "arithmetic", "max"});
  const double a = entropy(c.of_row, c.total), b = entropy(c.of_column, c.total);
  return how == "min"         ? std::min(a, b)
         : how == "max"       ? std::max(a, b)
         : how == "geometric" ? std::sqrt(a * b)
                              : (a + b) / 2;
}

// ---- Beside other labels.

State kept(const Arguments &, const Arguments &in) {
  const auto [p, t] = alike(in);
  if (p.rank() != 1 || (p.size() > 0 && !(p.whole && t.whole)))
    in.refuse("preds", "integers of one dimension, and so 'target'");
  State s;
  s.list("preds", p);
  s.list("target", t);
  return s;
}
struct Labels : MetricRow {
  Labels(const char *name, const char *function, const char *options,
         double (*of)(const Arguments &, const Contingency &))
      : MetricRow(name, function, options, "preds, target", kept, [of](const Arguments &o, const State &s) {
          return result(of(o, Contingency(s["preds"], s["target"])));
        }) {}
};
const Labels mutual("MutualInfoScore", "mutual_info_score", "",
                    [](const Arguments &, const Contingency &c) { return information(c); });
const Labels normalized("NormalizedMutualInfoScore", "normalized_mutual_info_score", "average_method='arithmetic'",
                        [](const Arguments &o, const Contingency &c) {
                          const double m = information(c);
                          return std::abs(m) < 1.2e-7 ? m : m / mean_entropy(o, c);
                        });
const Labels adjusted("AdjustedMutualInfoScore", "adjusted_mutual_info_score", "average_method='arithmetic'",
                      [](const Arguments &o, const Contingency &c) {
                        const double expected = expected_information(c), below = mean_entropy(o, c) - expected;
                        const double small = 1.1920929e-07;
                        return (information(c) - expected) /
                               (below < 0 ? std::min(below, -small) : std::max(below, small));
                      });
double homogeneity_of(const Contingency &c) {
  const double h = entropy(c.of_row, c.total);
  return c.total == 0 ? 0 : h == 0 ? 1 : information(c) / h;
}
double completeness_of(const Contingency &c) {
  const double h = entropy(c.of_column, c.total);
  return c.total == 0 ? 0 : h == 0 ? 1 : information(c) / h;
}
const Labels homogeneity("HomogeneityScore", "homogeneity_score", "",
                         [](const Arguments &, const Contingency &c) { return homogeneity_of(c); });
const Labels completeness("CompletenessScore", "completeness_score", "",
                          [](const Arguments &, const Contingency &c) { return completeness_of(c); });
const Labels v_measure("VMeasureScore", "v_measure_score", "beta=1.0", [](const Arguments &o, const Contingency &c) {
  const double h = homogeneity_of(c), k = completeness_of(c), beta = o.real("beta");
  return h + k == 0 ? 1 : (1 + beta) * h * k / (beta * h + k);
});

// Pairs of samples that are together in both, in one, in none.
struct Pairs {
  double both, only_target, only_preds, none;
  explicit Pairs(const Contingency &c) {
    double rows = 0, columns = 0;
    for (const double n : c.of_row) rows += n * n;
    for (const double n : c.of_column) columns += n * n;
    both = c.squares - c.total;
    only_target = rows - c.squares;
    only_preds = columns - c.squares;
    none = c.total * c.total - only_target - only_preds - c.squares;
  }
};
const Labels rand_score("RandScore", "rand_score", "", [](const Arguments &, const Contingency &c) {
  const Pairs p(c);
  return ratio(p.both + p.none, p.both + p.none + p.only_target + p.only_preds, 1);
});
const Labels adjusted_rand("AdjustedRandScore", "adjusted_rand_score", "", [](const Arguments &, const Contingency &c) {
  const Pairs p(c);
  if (p.only_target == 0 && p.only_preds == 0) return 1.0;
  return 2 * (p.both * p.none - p.only_target * p.only_preds) /
         ((p.both + p.only_target) * (p.only_target + p.none) + (p.both + p.only_preds) * (p.only_preds + p.none));
});
const Labels fowlkes_mallows("FowlkesMallowsIndex", "fowlkes_mallows_index", "",
                             [](const Arguments &, const Contingency &c) {
                               const Pairs p(c);
                               return p.both == 0 ? 0
                                                  : std::sqrt(p.both / (p.both + p.only_target)) *
                                                        std::sqrt(p.both / (p.both + p.only_preds));
                             });

// Accuracy where each cluster has the class that suits best.
const MetricRow cluster_accuracy(
    "ClusterAccuracy", "cluster_accuracy", "num_classes", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = alike(in);
      const int64_t side = o.integer("num_classes");
      if (side < 2) o.refuse("num_classes", "at least 2");
      Numbers all = Numbers::zeros({side, side});
      for (size_t i = 0; i < p.size(); ++i)
        for (const auto &[name, x] : {std::make_pair("target", t[i]), std::make_pair("preds", p[i])})
          if (!(x >= 0 && x < static_cast<double>(side)))
            in.refuse(name, "classes from 0 to " + std::to_string(side - 1));
      for (size_t i = 0; i < p.size(); ++i)
        ++all[static_cast<size_t>(t[i]) * static_cast<size_t>(side) + static_cast<size_t>(p[i])];
      State s;
      s.sum("matrix", all);
      return s;
    },
    [](const Arguments &, const State &s) {
      const auto side = static_cast<size_t>(s["matrix"].extent(0));
      std::vector<double> costs(s["matrix"].begin(), s["matrix"].end());
      for (double &x : costs) x = -x;
      const std::vector<size_t> columns = assigned(costs, side);
      double right = 0;
      for (size_t r = 0; r < side; ++r) right += s["matrix"][r * side + columns[r]];
      return result(right / sum(s["matrix"]));
    });

// ---- By the places of samples.

struct Clusters {
  size_t dimensions;
  std::vector<std::vector<const double *>> members;
  std::vector<std::vector<double>> centres;
  std::vector<double> centre;
  double samples = 0;

  Clusters(const Numbers &data, const Numbers &labels)
      : dimensions(static_cast<size_t>(data.extent(1))), centre(dimensions) {
    std::map<double, std::vector<const double *>> by_label;
    for (size_t i = 0; i < labels.size(); ++i) by_label[labels[i]].push_back(data.begin() + i * dimensions);
    for (auto &[_, all] : by_label) {
      std::vector<double> mean(dimensions);
      for (const double *x : all)
        for (size_t d = 0; d < dimensions; ++d) {
          mean[d] += x[d] / static_cast<double>(all.size());
          centre[d] += x[d] / static_cast<double>(labels.size());
        }
      centres.push_back(mean);
      members.push_back(std::move(all));
    }
    samples = static_cast<double>(labels.size());
  }
  double apart(const double *a, const double *b, double p = 2) const {
    double all = 0;
    for (size_t d = 0; d < dimensions; ++d) all += std::pow(std::abs(a[d] - b[d]), p);
    return std::pow(all, 1 / p);
  }
};
struct Places : MetricRow {
  Places(const char *name, const char *function, const char *options, double (*of)(const Arguments &, const Clusters &))
      : MetricRow(
            name, function, options, "data, labels",
            [](const Arguments &, const Arguments &in) {
              const Numbers data = numbers(in, "data"), labels = numbers(in, "labels");
              if (data.rank() != 2) in.refuse("data", "two dimensions");
              if (labels.shape != Shape{data.extent(0)}) in.refuse("labels", "one of each sample");
              State s;
              s.list("data", data);
              s.list("labels", labels);
              return s;
            },
            [of](const Arguments &o, const State &s) {
              const Clusters c(s["data"], s["labels"]);  // NaN of one cluster, or of none that has two samples
              return result(c.members.size() < 2 ? nan : of(o, c));
            }) {}
};
const Places calinski_harabasz("CalinskiHarabaszScore", "calinski_harabasz_score", "",
                               [](const Arguments &, const Clusters &c) {
                                 double between = 0, within = 0;
                                 const auto count = static_cast<double>(c.centres.size());
                                 for (size_t k = 0; k < c.centres.size(); ++k) {
                                   between += std::pow(c.apart(c.centres[k].data(), c.centre.data()), 2) *
                                              static_cast<double>(c.members[k].size());
                                   for (const double *x : c.members[k])
                                     within += std::pow(c.apart(x, c.centres[k].data()), 2);
                                 }
                                 return within == 0 ? 1 : between * (c.samples - count) / (within * (count - 1));
                               });
const Places davies_bouldin("DaviesBouldinScore", "davies_bouldin_score", "", [](const Arguments &, const Clusters &c) {
  std::vector<double> spread;
  for (size_t k = 0; k < c.centres.size(); ++k) {
    double all = 0;
    for (const double *x : c.members[k]) all += c.apart(x, c.centres[k].data());
    spread.push_back(all / static_cast<double>(c.members[k].size()));
  }
  double total = 0;
  for (size_t i = 0; i < spread.size(); ++i) {
    double most = 0;
    for (size_t j = 0; j < spread.size(); ++j)
      if (i != j)
        most = std::max(most, ratio(spread[i] + spread[j], c.apart(c.centres[i].data(), c.centres[j].data())));
    total += most;
  }
  return total / static_cast<double>(spread.size());
});
const Places dunn("DunnIndex", "dunn_index", "p=2", [](const Arguments &o, const Clusters &c) {
  const double p = o.real("p");
  double least = infinity, most = 0;
  for (size_t i = 0; i < c.centres.size(); ++i) {
    for (size_t j = 0; j < i; ++j) least = std::min(least, c.apart(c.centres[i].data(), c.centres[j].data(), p));
    for (const double *x : c.members[i]) most = std::max(most, c.apart(x, c.centres[i].data(), p));
  }
  return least / most;
});

}  // namespace

const void *clustering() { return &mutual; }

}  // namespace saltern::metrics
