// How two kinds of classes go together, by chi squared or by entropy; and how raters agree.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

namespace {

// Counts without rows and columns that are empty.
struct Table {
  size_t rows = 0, columns = 0;
  std::vector<double> counts, of_row, of_column;
  double total = 0;

  explicit Table(const Numbers &matrix) {
    const auto side = static_cast<size_t>(matrix.extent(0));
    std::vector<double> row_sums(side), column_sums(side);
    for (size_t i = 0; i < matrix.size(); ++i) {
      row_sums[i / side] += matrix[i];
      column_sums[i % side] += matrix[i];
    }
    for (size_t i = 0; i < matrix.size(); ++i)
      if (row_sums[i / side] > 0 && column_sums[i % side] > 0) counts.push_back(matrix[i]);
    for (const double n : row_sums)
      if (n > 0) of_row.push_back(n);
    for (const double n : column_sums)
      if (n > 0) of_column.push_back(n);
    rows = of_row.size();
    columns = of_column.size();
    total = sum(matrix);
  }

  // Over the total; `corrected` for continuity where there are two by two.
  double chi_squared(bool corrected) const {
    double all = 0;
    const bool steps = corrected && rows == 2 && columns == 2;
    if (rows * columns + 1 == rows + columns) return 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const double expected = of_row[i / columns] * of_column[i % columns] / total, d = counts[i] - expected;
      const double apart = steps ? d - (d > 0 ? 0.5 : d < 0 ? -0.5 : 0) : d;
      all += apart * apart / expected;
    }
    return all / total;
  }
};

State counted(const Arguments &o, const Arguments &in) {
  const auto classes_of = [&](const char *name) {
    Numbers n = numbers(in, name);
    if (n.rank() != 2) return n;
    std::vector<double> best;
    const auto columns = static_cast<size_t>(n.extent(1));
    for (const double *row = n.begin(); row != n.end(); row += columns)
      best.push_back(static_cast<double>(std::max_element(row, row + columns) - row));
    return Numbers(best);
  };
  const Numbers p = classes_of("preds"), t = classes_of("target");
  if (p.size() != t.size()) in.refuse("target", "as many as 'preds' has");
  const bool replaces = o.word("nan_strategy", {"replace", "drop"}) == "replace";
  std::vector<std::pair<double, double>> pairs;
  double most = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (!replaces && (std::isnan(p[i]) || std::isnan(t[i]))) continue;
    const double a = std::isnan(t[i]) ? o.real("nan_replace_value") : t[i],
                 b = std::isnan(p[i]) ? o.real("nan_replace_value") : p[i];
    pairs.emplace_back(a, b);
    most = std::max({most, a, b});
  }
  const int64_t side = o.has("num_classes") ? o.integer("num_classes") : static_cast<int64_t>(most) + 1;
  if (side < 1) o.refuse("num_classes", "at least 1");
  Numbers all = Numbers::zeros({side, side});
  for (const auto &[a, b] : pairs) {
    if (!(a >= 0 && b >= 0 && std::max(a, b) < static_cast<double>(side)))
      in.refuse("preds", "classes from 0 to " + std::to_string(side - 1) + ", and so 'target'");
    ++all[static_cast<size_t>(a) * static_cast<size_t>(side) + static_cast<size_t>(b)];
  }
  State s;
  s.sum("matrix", all);
  return s;
}

#define NAN_OPTIONS "nan_strategy='replace', nan_replace_value=0.0"
struct Association : MetricRow {
  Association(const char *name, const char *function, const std::string &options,
              double (*of)(const Arguments &, const Table &))
      : MetricRow(
            name, function, "num_classes=None, " + options, "preds, target", counted,
            [of](const Arguments &o, const State &s) { return result(of(o, Table(s["matrix"]))); }, nullptr,
            "preds, target, " + options) {}
};

// What is left of phi squared, rows and columns when their bias is taken off.
struct Corrected {
  double phi, rows, columns;
  Corrected(const Table &t, double phi_squared) {
    const auto r = static_cast<double>(t.rows), c = static_cast<double>(t.columns);
    phi = std::max(0.0, phi_squared - (r - 1) * (c - 1) / (t.total - 1));
    rows = r - (r - 1) * (r - 1) / (t.total - 1);
    columns = c - (c - 1) * (c - 1) / (t.total - 1);
  }
};
double by_sizes(const Arguments &o, const Table &t, double (*of)(double rows, double columns)) {
  const bool corrected = o.flag("bias_correction");
  const double phi = t.chi_squared(corrected);
  const Corrected c(t, phi);
  if (corrected && std::min(c.rows, c.columns) == 1) return nan;
  const double value = corrected ? c.phi / of(c.rows - 1, c.columns - 1)
                                 : phi / of(static_cast<double>(t.rows) - 1, static_cast<double>(t.columns) - 1);
  return std::isnan(value) ? nan : std::clamp(std::sqrt(value), 0.0, 1.0);
}
const Association cramer("CramersV", "cramers_v", "bias_correction=True, " NAN_OPTIONS,
                         [](const Arguments &o, const Table &t) {
                           return by_sizes(o, t, [](double r, double c) { return std::min(r, c); });
                         });
const Association tschuprow("TschuprowsT", "tschuprows_t", "bias_correction=True, " NAN_OPTIONS,
                            [](const Arguments &o, const Table &t) {
                              return by_sizes(o, t, [](double r, double c) { return std::sqrt(r * c); });
                            });
const Association pearson("PearsonsContingencyCoefficient", "pearsons_contingency_coefficient", NAN_OPTIONS,
                          [](const Arguments &, const Table &t) {
                            const double phi = t.chi_squared(false);
                            return std::sqrt(phi / (1 + phi));
                          });
const Association theil("TheilsU", "theils_u", NAN_OPTIONS, [](const Arguments &, const Table &t) {
  double conditional = 0, entropy = 0;
  for (size_t i = 0; i < t.counts.size(); ++i)
    if (t.counts[i] > 0) conditional += t.counts[i] / t.total * std::log(t.of_row[i / t.columns] / t.counts[i]);
  for (const double n : t.of_column) entropy -= n / t.total * std::log(n / t.total);
  return entropy == 0 ? 0 : (entropy - conditional) / entropy;
});

// ---- Of several raters.

const MetricRow fleiss(
    "FleissKappa", "fleiss_kappa", "mode='counts'", "ratings",
    [](const Arguments &o, const Arguments &in) {
      Numbers r = numbers(in, "ratings");
      State s;
      if (o.word("mode", {"counts", "probs"}) == "counts") {
        if (r.rank() != 2 || !r.whole) in.refuse("ratings", "integers, [samples, categories]");
        s.list("counts", r);
        return s;
      }
      if (r.rank() != 3 || r.whole) in.refuse("ratings", "real numbers, [samples, categories, raters]");
      const auto categories = static_cast<size_t>(r.extent(1)), raters = static_cast<size_t>(r.extent(2));
      Numbers counts = Numbers::zeros({r.extent(0), r.extent(1)});
      for (size_t sample = 0; sample < static_cast<size_t>(r.extent(0)); ++sample)
        for (size_t rater = 0; rater < raters; ++rater) {
          size_t best = 0;
          const double *first = r.begin() + sample * categories * raters + rater;
          for (size_t c = 1; c < categories; ++c)
            if (first[c * raters] > first[best * raters]) best = c;
          ++counts[sample * categories + best];
        }
      s.list("counts", counts);
      return s;
    },
    [](const Arguments &, const State &s) {
      const Numbers &counts = s["counts"];
      const auto columns = static_cast<size_t>(counts.extent(1));
      const auto samples = static_cast<double>(counts.extent(0));
      double raters = 0, agreement = 0, by_chance = 0;
      std::vector<double> of_category(columns);
      for (size_t i = 0; i < counts.size(); i += columns) {
        double row = 0;
        for (size_t c = 0; c < columns; ++c) row += counts[i + c];
        raters = std::max(raters, row);
      }
      for (size_t i = 0; i < counts.size(); ++i) {
        of_category[i % columns] += counts[i] / (samples * raters);
        agreement += counts[i] * counts[i];
      }
      for (const double p : of_category) by_chance += p * p;
      const double mean = (agreement / samples - raters) / (raters * (raters - 1));
      return result((mean - by_chance) / (1 - by_chance + 1e-5));
    });

}  // namespace

const void *nominal() { return &cramer; }

}  // namespace saltern::metrics
