// Classes of pixels: Dice scores, intersection over union, the distance of edges.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

namespace {

// Masks of classes, [samples, classes, positions], and the extents of positions.
struct Masks {
  Numbers preds, target;
  size_t samples, classes, positions;
  Shape extents;
};

Numbers one_hot(const Arguments &in, const char *name, const Numbers &n, int64_t classes) {
  const auto positions = static_cast<size_t>(n.extent_from(1)), count = static_cast<size_t>(classes);
  Shape shape = n.shape;
  shape.insert(shape.begin() + 1, classes);
  Numbers out = Numbers::zeros(shape);
  for (size_t i = 0; i < n.size(); ++i) {
    if (!(n[i] >= 0 && n[i] < static_cast<double>(classes)))
      in.refuse(name, "classes from 0 to " + std::to_string(classes - 1));
    out[(i / positions * count + static_cast<size_t>(n[i])) * positions + i % positions] = 1;
  }
  return out;
}
Numbers without_first(const Numbers &n) {
  const auto classes = static_cast<size_t>(n.extent(1)), inner = static_cast<size_t>(n.extent_from(2));
  if (classes < 2) return n;
  Numbers out;
  out.shape = n.shape;
  --out.shape[1];
  for (size_t i = 0; i < n.size(); i += classes * inner)
    out.all.insert(out.all.end(), n.begin() + i + inner, n.begin() + i + classes * inner);
  return out;
}
Masks masks(const Arguments &o, const Arguments &in) {
  Numbers p = numbers(in, "preds"), t = numbers(in, "target");
  const std::string &format = o.word("input_format", {"one-hot", "index", "mixed"});
  if (format == "index")
    for (Numbers *n : {&p, &t})
      while (n->rank() > 0 && n->rank() < 3) n->shape.insert(n->shape.begin(), 1);
  const bool indexes_p = format == "index" || (format == "mixed" && p.rank() < t.rank()),
             indexes_t = format == "index" || (format == "mixed" && t.rank() < p.rank());
  const int64_t classes = o.has("num_classes") ? o.integer("num_classes")
                          : indexes_p          ? (indexes_t ? 0 : t.extent(1))
                                               : p.extent(1);
  if (classes < 1) o.refuse("num_classes", "at least 1");
  if (indexes_p) p = one_hot(in, "preds", p, classes);
  if (indexes_t) t = one_hot(in, "target", t, classes);
  if (p.shape != t.shape || p.rank() < 2) in.refuse("target", "masks as 'preds' has them");
  if (!o.flag("include_background")) p = without_first(p), t = without_first(t);
  const Masks m{p,
                t,
                static_cast<size_t>(p.extent(0)),
                static_cast<size_t>(p.extent(1)),
                static_cast<size_t>(p.extent_from(2)),
                {p.shape.begin() + 2, p.shape.end()}};
  return m;
}
// Of each sample and class: what both have, and each.
struct Areas {
  Numbers both, preds, target;
  explicit Areas(const Masks &m) {
    both = preds = target = Numbers::zeros({static_cast<int64_t>(m.samples), static_cast<int64_t>(m.classes)});
    for (size_t i = 0; i < m.preds.size(); ++i) {
      both[i / m.positions] += m.preds[i] * m.target[i];
      preds[i / m.positions] += m.preds[i];
      target[i / m.positions] += m.target[i];
    }
  }
};

#define FORMAT "input_format='one-hot'"

// ---- Dice: twice what both have, over the sum; NaN of a class that neither has, which means leave out.

// Of each sample, or of all at once.
Numbers dice_rows(const Arguments &o, const State &s) {
  const std::string average = word_or_none(o, "average", {"micro", "macro", "weighted"});
  const bool at_once = o.word("aggregation_level", {"samplewise", "global"}) == "global";
  const auto classes = static_cast<size_t>(s["both"].extent(1)), rows = static_cast<size_t>(s["both"].extent(0));
  Numbers out;
  for (size_t row = 0; row < (at_once ? 1 : rows); ++row) {
    double twice = 0, all = 0, total = 0, count = 0;
    for (size_t c = 0; c < classes; ++c) {
      double both = 0, sum = 0, support = 0;
      for (size_t r = at_once ? 0 : row; r < (at_once ? rows : row + 1); ++r) {
        both += 2 * s["both"][r * classes + c];
        sum += s["preds"][r * classes + c] + s["target"][r * classes + c];
        support += s["target"][r * classes + c];
      }
      twice += both;
      all += sum;
      if (average == "none") out.all.push_back(both / sum);
      const double w = average == "weighted" ? support : 1;
      if (sum == 0) continue;
      total += w * both / sum;
      count += w;
    }
    if (average != "none") out.all.push_back(average == "micro" ? twice / all : total / count);
  }
  out.shape = {static_cast<int64_t>(at_once ? 1 : rows)};
  if (average == "none") out.shape.push_back(static_cast<int64_t>(classes));
  return out;
}
const MetricRow dice(
    "DiceScore", "dice_score",
    "num_classes, include_background=True, average='macro', aggregation_level='samplewise', " FORMAT, "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const Areas a(masks(o, in));
      State s;
      s.list("both", a.both);
      s.list("preds", a.preds);
      s.list("target", a.target);
      return s;
    },
    [](const Arguments &o, const State &s) {
      const Numbers rows = dice_rows(o, s);
      const auto columns = static_cast<size_t>(rows.extent_from(1));
      std::vector<double> total(columns), count(columns);
      for (size_t i = 0; i < rows.size(); ++i)
        if (!std::isnan(rows[i])) total[i % columns] += rows[i], ++count[i % columns];
      for (size_t c = 0; c < columns; ++c) total[c] /= count[c];
      return rows.rank() == 1 ? result(total[0]) : result(total);
    },
    nullptr,
    "preds, target, num_classes, include_background=True, average='macro', " FORMAT ", aggregation_level='samplewise'",
    [](const Arguments &o, const State &s) { return result(dice_rows(o, s)); });

// A number of each sample, or of each class of it, whose mean over samples is the value.
Argument mean_of_samples(const State &s) {
  const auto columns = static_cast<size_t>(s["each"].extent_from(1));
  std::vector<double> all(columns);
  for (size_t i = 0; i < s["each"].size(); ++i)
    all[i % columns] += s["each"][i] / static_cast<double>(s["each"].extent(0));
  return s["each"].rank() == 1 ? result(all[0]) : result(all);
}
Argument each(const Arguments &, const State &s) { return result(s["each"]); }

const MetricRow generalized(
    "GeneralizedDiceScore", "generalized_dice_score",
    "num_classes, include_background=True, per_class=False, weight_type='square', " FORMAT, "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const Masks m = masks(o, in);
      const Areas a(m);
      const std::string &type = o.word("weight_type", {"square", "simple", "linear"});
      std::vector<double> weights, most(m.classes);
      for (size_t i = 0; i < a.target.size(); ++i) {  // a class that is not there weighs as the rarest sample of it
        const double n = a.target[i], w = type == "linear" ? 1 : n == 0 ? 0 : 1 / (type == "simple" ? n : n * n);
        weights.push_back(w);
        most[i % m.classes] = std::max(most[i % m.classes], w);
      }
      const bool per_class = o.flag("per_class");
      Numbers out({static_cast<int64_t>(m.samples)}, {});
      if (per_class) out.shape.push_back(static_cast<int64_t>(m.classes));
      for (size_t s = 0; s < m.samples; ++s) {
        double above = 0, below = 0;
        for (size_t c = 0; c < m.classes; ++c) {
          const size_t i = s * m.classes + c;
          const double w = weights[i] == 0 ? most[c] : weights[i];
          const double x = 2 * a.both[i] * w, y = (a.preds[i] + a.target[i]) * w;
          if (per_class) out.all.push_back(ratio(x, y));
          above += x;
          below += y;
        }
        if (!per_class) out.all.push_back(ratio(above, below));
      }
      State s;
      s.list("each", out);
      return s;
    },
    [](const Arguments &, const State &s) { return mean_of_samples(s); }, nullptr, "", each);

// Classes that neither has do not count; -1 where they are listed.
const MetricRow mean_iou(
    "MeanIoU", "mean_iou", "num_classes=None, include_background=True, per_class=False, " FORMAT, "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const Areas a(masks(o, in));
      Numbers all = a.both;
      for (size_t i = 0; i < all.size(); ++i) all[i] = a.both[i] / (a.preds[i] + a.target[i] - a.both[i]);
      State s;
      s.list("each", all);
      return s;
    },
    [](const Arguments &o, const State &s) {
      const auto classes = static_cast<size_t>(s["each"].extent(1));
      std::vector<double> total(classes), count(classes);
      for (size_t i = 0; i < s["each"].size(); ++i)
        if (!std::isnan(s["each"][i])) total[i % classes] += s["each"][i], ++count[i % classes];
      double sum = 0, valid = 0;
      for (size_t c = 0; c < classes; ++c) {
        sum += total[c];
        valid += count[c];
        total[c] = count[c] > 0 ? total[c] / count[c] : -1;
      }
      return o.flag("per_class") ? result(total) : result(sum / valid);
    },
    nullptr, "",
    [](const Arguments &o, const State &s) {
      const auto classes = static_cast<size_t>(s["each"].extent(1));
      Numbers all = s["each"];
      std::vector<double> means;
      for (size_t i = 0; i < all.size(); i += classes) {
        double sum = 0, valid = 0;
        for (size_t c = i; c < i + classes; ++c)
          if (!std::isnan(all[c])) sum += all[c], ++valid;
        means.push_back(sum / valid);
      }
      for (double &x : all) x = std::isnan(x) ? -1 : x;
      return o.flag("per_class") ? result(all) : result(means);
    });

// ---- How far edges are apart.

using Point = std::vector<double>;
// Points of a mask with a neighbour that is not in it.
std::vector<Point> edges(const double *mask, const Shape &extents, const std::vector<double> &spacing) {
  std::vector<Point> all;
  const int64_t count = elements(extents);
  for (int64_t i = 0; i < count; ++i) {
    if (mask[i] == 0) continue;
    Point p(extents.size());
    bool is_edge = false;
    int64_t stride = 1;
    for (size_t d = extents.size(); d-- > 0; stride *= extents[d]) {
      const int64_t at = i / stride % extents[d];
      p[d] = static_cast<double>(at) * spacing[d];
      is_edge = is_edge || at == 0 || at == extents[d] - 1 || mask[i - stride] == 0 || mask[i + stride] == 0;
    }
    if (is_edge) all.push_back(p);
  }
  return all;
}
double farthest(const std::vector<Point> &from, const std::vector<Point> &to, const std::string &metric) {
  double most = from.empty() && !to.empty() ? infinity : 0;
  for (const Point &a : from) {
    double least = infinity;
    for (const Point &b : to) {
      double far = 0;
      for (size_t d = 0; d < a.size(); ++d) {
        const double x = std::abs(a[d] - b[d]);
        far = metric == "chessboard" ? std::max(far, x) : far + (metric == "taxicab" ? x : x * x);
      }
      least = std::min(least, far);
    }
    most = std::max(most, least);
  }
  return metric == "euclidean" ? std::sqrt(most) : most;
}
const MetricRow hausdorff(
    "HausdorffDistance", "hausdorff_distance",
    "num_classes, include_background=False, distance_metric='euclidean', spacing=None, directed=False, " FORMAT,
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const Masks m = masks(o, in);
      const std::string &metric = o.word("distance_metric", {"euclidean", "chessboard", "taxicab"});
      std::vector<double> spacing(m.extents.size(), 1.0);
      if (o.has("spacing")) spacing = o.reals("spacing", m.extents.size());
      Numbers all({static_cast<int64_t>(m.samples), static_cast<int64_t>(m.classes)}, {});
      for (size_t i = 0; i < m.preds.size(); i += m.positions) {
        const std::vector<Point> a = edges(m.preds.begin() + i, m.extents, spacing),
                                 b = edges(m.target.begin() + i, m.extents, spacing);
        const double forth = farthest(a, b, metric);
        all.all.push_back(o.flag("directed") ? forth : std::max(forth, farthest(b, a, metric)));
      }
      State s;
      s.list("each", all);
      return s;
    },
    [](const Arguments &, const State &s) { return result(mean(s["each"])); }, nullptr, "", each);

}  // namespace

const void *segmentation() { return &dice; }

}  // namespace saltern::metrics
