// Panoptic quality (Kirillov et al., 2019): segments of things and of stuff, of which those match that have more than half of
// their union in common.

#include <map>
#include <set>

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

namespace {

using Segment = std::pair<double, double>;  // category and instance

struct Categories {
  std::set<int64_t> things, stuffs;
  std::map<double, size_t> place;
  Segment nothing;

  explicit Categories(const Arguments &o) {
    for (const int64_t t : o["things"].as<Argument::List>() && o["things"].as<Argument::List>()->empty()
                               ? std::vector<int64_t>()
                               : o.integers("things"))
      things.insert(t);
    for (const int64_t s : o["stuffs"].as<Argument::List>() && o["stuffs"].as<Argument::List>()->empty()
                               ? std::vector<int64_t>()
                               : o.integers("stuffs")) {
      if (things.count(s) > 0) o.refuse("stuffs", "other categories than 'things'");
      stuffs.insert(s);
    }
    if (things.empty() && stuffs.empty()) o.refuse("things", "a category, where 'stuffs' has none");
    int64_t most = 0;
    for (const auto *set : {&things, &stuffs})
      for (const int64_t c : *set) {
        place.emplace(static_cast<double>(c), place.size());
        most = std::max(most, c);
      }
    nothing = {static_cast<double>(most + 1), 0};
  }
  std::vector<Segment> segments(const Arguments &in, const char *name, const Numbers &n, bool allows_unknown) const {
    std::vector<Segment> all;
    for (size_t i = 0; i < n.size(); i += 2) {
      const auto category = static_cast<int64_t>(n[i]);
      if (things.count(category) > 0)
        all.emplace_back(category, n[i + 1]);
      else if (stuffs.count(category) > 0)
        all.emplace_back(category, 0);
      else if (allows_unknown)
        all.push_back(nothing);
      else
        in.refuse(name, "categories of 'things' and 'stuffs', and not " + std::to_string(category));
    }
    return all;
  }
};

// Of each category: sum of intersections over unions, true positives, false positives, false negatives.
State matched(const Arguments &o, const Arguments &in, bool modified) {
  const Categories categories(o);
  const auto [p, t] = alike(in);
  if (p.rank() < 3 || p.shape.back() != 2) in.refuse("preds", "[batch, ..., 2], categories and instances");
  const std::vector<Segment> preds = categories.segments(in, "preds", p, o.flag("allow_unknown_preds_category")),
                             targets = categories.segments(in, "target", t, true);
  Numbers all = Numbers::zeros({static_cast<int64_t>(categories.place.size()), 4});
  const auto count = [&](const Segment &s, size_t column) -> double & {
    return all[categories.place.at(s.first) * 4 + column];
  };
  const auto is_modified = [&](const Segment &s) {
    return modified && categories.stuffs.count(static_cast<int64_t>(s.first)) > 0;
  };
  const size_t positions = preds.size() / std::max<size_t>(static_cast<size_t>(p.extent(0)), 1);
  for (size_t begin = 0; begin < preds.size(); begin += positions) {
    std::map<Segment, double> of_pred, of_target;
    std::map<std::pair<Segment, Segment>, double> both;
    for (size_t i = begin; i < begin + positions; ++i) {
      ++of_pred[preds[i]];
      ++of_target[targets[i]];
      ++both[{preds[i], targets[i]}];
    }
    const auto common = [&](const Segment &a, const Segment &b) {
      const auto found = both.find({a, b});
      return found == both.end() ? 0 : found->second;
    };
    std::set<Segment> found_pred, found_target;
    for (const auto &[pair, area] : both) {
      const auto &[a, b] = pair;
      if (b == categories.nothing || a.first != b.first) continue;
      const double joined =
                       of_pred[a] - common(a, categories.nothing) + of_target[b] - common(categories.nothing, b) - area,
                   share = area / joined;
      if (!is_modified(b) && share > 0.5) {
        found_pred.insert(a);
        found_target.insert(b);
        count(b, 0) += share;
        ++count(b, 1);
      } else if (is_modified(b)) {
        count(b, 0) += share;
      }
    }
    for (const auto &[a, area] : of_pred)
      if (a != categories.nothing && found_pred.count(a) == 0 && !is_modified(a) &&
          common(a, categories.nothing) / area <= 0.5)
        ++count(a, 2);
    for (const auto &[b, area] : of_target) {
      if (b == categories.nothing) continue;
      if (is_modified(b))
        ++count(b, 1);
      else if (found_target.count(b) == 0 && common(categories.nothing, b) / area <= 0.5)
        ++count(b, 3);
    }
  }
  State s;
  s.sum("counts", all);
  return s;
}

Argument quality(const Arguments &o, const State &s) {
  const auto flag = [&](const char *name) { return o.signature().has(name) && o.flag(name); };
  const Numbers &c = s["counts"];
  std::vector<double> each, means(3);
  double seen = 0;
  for (size_t i = 0; i < c.size(); i += 4) {
    const double below = c[i + 1] + (c[i + 2] + c[i + 3]) / 2, segments = ratio(c[i], c[i + 1]),
                 recognised = ratio(c[i + 1], below);
    const double three[] = {segments * recognised, segments, recognised};
    for (size_t k = 0; k < (flag("return_sq_and_rq") ? 3 : 1); ++k) each.push_back(three[k]);
    if (below == 0) continue;
    ++seen;
    for (size_t k = 0; k < 3; ++k) means[k] += three[k];
  }
  for (double &m : means) m /= seen;
  const auto categories = static_cast<int64_t>(c.size() / 4);
  if (flag("return_per_class"))
    return result({flag("return_sq_and_rq") ? Shape{categories, 3} : Shape{1, categories}, each});
  return flag("return_sq_and_rq") ? result(means) : result(means[0]);
}
const MetricRow panoptic_quality(
    "PanopticQuality", "panoptic_quality",
    "things, stuffs, allow_unknown_preds_category=False, return_sq_and_rq=False, return_per_class=False",
    "preds, target", [](const Arguments &o, const Arguments &in) { return matched(o, in, false); }, quality);
const MetricRow modified(
    "ModifiedPanopticQuality", "modified_panoptic_quality", "things, stuffs, allow_unknown_preds_category=False",
    "preds, target", [](const Arguments &o, const Arguments &in) { return matched(o, in, true); }, quality);

}  // namespace

const void *panoptic() { return &panoptic_quality; }

}  // namespace saltern::metrics
