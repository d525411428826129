#include "generators/model/recomputation.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "generators/model/emit.h"
#include "generators/model/grouping.h"
#include "generators/model/views.h"
#include "runtime/graph/flops.h"
#include "schedules/balance.h"

namespace saltern::generators {

namespace {

int64_t bytes_of(const Graph::Value &v) { return elements(v.shape) * facts(v.type).bytes(); }

// Elementwise kernels wait for memory, and what is not counted as products is not for nothing either.
double microseconds_of(const Graph &graph, const Group &group, const std::vector<std::string> &read) {
  double flops = 0, bytes = static_cast<double>(bytes_of(graph.value(group.output())));
  for (const Graph::Node &n : group.nodes) flops += saltern::flops(graph, n);
  for (const std::string &r : read) bytes += static_cast<double>(bytes_of(graph.value(r)));
  return 1 + schedules::estimated_microseconds(flops, bytes);
}

// Sorted thinly: a search goes through all of them.
std::vector<double> some_of(std::vector<double> all, size_t most) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<double> few;
  for (size_t i = 0; i < std::min(most, all.size()); ++i)
    few.push_back(all[all.size() <= most ? i : (i + 1) * all.size() / most - 1]);
  return few;
}

}  // namespace

Recomputation::Recomputation(const Graph &graph, const std::string &turn) {
  std::unordered_map<std::string, size_t> makers;
  std::set<std::string> nexts;
  for (const Graph::State &s : graph.state) nexts.insert(s.next);
  for (const Group &group : group_nodes(graph)) {
    const Graph::Node &anchor = group.anchor();
    if (group.nodes.size() == 1 && is_view(graph, anchor)) {
      const auto of = makers.find(anchor.inputs[0]);
      if (of == makers.end()) continue;
      makers[anchor.outputs[0]] = of->second;
      units_[of->second].values.push_back(anchor.outputs[0]);
      units_[of->second].to_the_end |= graph.is_output(anchor.outputs[0]);
      continue;
    }
    Unit unit;
    std::set<std::string> inside;
    std::vector<std::string> read;
    for (const Graph::Node &n : group.nodes)
      for (const std::string &o : n.outputs)
        if (!o.empty()) inside.insert(o);
    for (const Graph::Node &n : group.nodes)
      for (const std::string &i : n.inputs)
        if (!i.empty() && !inside.count(i) && std::find(read.begin(), read.end(), i) == read.end()) read.push_back(i);
    for (const std::string &r : read)
      if (const auto of = makers.find(r); of != makers.end()) unit.reads.push_back(of->second);
    unit.microseconds = microseconds_of(graph, group, read);
    unit.in_place = is_elementwise(graph, anchor);
    unit.values.assign(inside.begin(), inside.end());
    for (const std::string &o : group.nodes.back().outputs) {
      if (o.empty() || !graph.values.count(o)) continue;
      if (!nexts.count(o)) unit.bytes += bytes_of(graph.value(o));
      unit.to_the_end |= graph.is_output(o);
    }
    for (const std::string &o : inside) makers[o] = units_.size();
    if (inside.count(turn)) forward_ = units_.size() + 1;
    units_.push_back(std::move(unit));
  }
  // What is alive of forward where each unit of it is done.
  std::vector<size_t> last(forward_);
  for (size_t u = 0; u < forward_; ++u)
    for (size_t r : units_[u].reads) last[r] = u;
  std::vector<int64_t> ending(forward_, 0);
  int64_t alive = 0;
  for (size_t u = 0; u < forward_; ++u) {
    alive -= ending[u];
    units_[u].is_narrow = alive < units_[u].bytes / 8;  // but for statistics and such
    if (last[u] <= u) continue;
    alive += units_[u].bytes;
    ending[last[u]] += units_[u].bytes;
  }
}

std::unordered_set<std::string> Recomputation::values(const Choice &choice) const {
  std::unordered_set<std::string> all;
  for (size_t u = 0; u < forward_; ++u)
    if (choice[u]) all.insert(units_[u].values.begin(), units_[u].values.end());
  return all;
}

Recomputation::Cost Recomputation::of(const Choice &choice) const {
  const size_t count = units_.size();
  // What runs when: units, and from `count` on their second times. Of what is alive, the same numbers.
  std::vector<size_t> order;
  std::vector<bool> again(count, false);
  const auto source = [&](size_t reader, size_t read) {
    return (reader >= forward_ || reader >= count) && read < forward_ && choice[read] ? read + count : read;
  };
  Cost cost;
  std::vector<size_t> looked_at;
  for (size_t u = 0; u < count; ++u) {
    std::set<size_t> needed;
    if (u >= forward_) looked_at = units_[u].reads;
    while (!looked_at.empty()) {
      const size_t r = looked_at.back();
      looked_at.pop_back();
      if (r >= forward_ || !choice[r] || again[r]) continue;
      again[r] = true;
      needed.insert(r);
      looked_at.insert(looked_at.end(), units_[r].reads.begin(), units_[r].reads.end());
    }
    for (size_t r : needed) {
      order.push_back(r + count);
      cost.microseconds += units_[r].microseconds;
    }
    order.push_back(u);
  }
  std::vector<size_t> last(2 * count, 0);
  for (size_t t = 0; t < order.size(); ++t) {
    last[order[t]] = std::max(last[order[t]], units_[order[t] % count].to_the_end ? order.size() : t);
    for (size_t r : units_[order[t] % count].reads) {
      size_t &until = last[source(order[t], r)];
      until = std::max(until, t);
    }
  }
  std::vector<std::vector<size_t>> ends(order.size() + 1);
  for (size_t item : order) ends[last[item]].push_back(item);
  int64_t alive = 0;
  for (size_t t = 0; t < order.size(); ++t) {
    const Unit &unit = units_[order[t] % count];
    const bool takes_over = unit.in_place && std::any_of(unit.reads.begin(), unit.reads.end(), [&](size_t r) {
                              return last[source(order[t], r)] == t && units_[r].bytes == unit.bytes;
                            });
    alive += unit.bytes;
    cost.bytes = std::max(cost.bytes, alive - (takes_over ? unit.bytes : 0));
    for (size_t item : ends[t]) alive -= units_[item % count].bytes;
  }
  return cost;
}

// All that is not dearer than `most_dear` microseconds a byte is made again, but for what ends a segment of so many bytes.
Recomputation::Choice Recomputation::with_segments(double most_dear, double segment_bytes,
                                                   bool at_narrow_places) const {
  Choice choice(units_.size(), false);
  double since = 0;
  for (size_t u = 0; u < forward_; ++u) {
    const Unit &unit = units_[u];
    const auto bytes = static_cast<double>(unit.bytes);
    if (bytes == 0 || unit.to_the_end || unit.microseconds / bytes > most_dear) continue;
    since += bytes;
    if (since > segment_bytes && (!at_narrow_places || unit.is_narrow || since > 3 * segment_bytes))
      since = 0;
    else
      choice[u] = true;
  }
  return choice;
}

// What may be kept after all, the dearest first.
void Recomputation::keep_what_fits(Choice &choice, int64_t bytes) const {
  constexpr size_t most_tried = 300;
  std::vector<size_t> chosen;
  for (size_t u = 0; u < forward_; ++u)
    if (choice[u]) chosen.push_back(u);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](size_t a, size_t b) { return units_[a].microseconds > units_[b].microseconds; });
  chosen.resize(std::min(chosen.size(), most_tried));
  double microseconds = of(choice).microseconds;
  for (size_t u : chosen) {
    choice[u] = false;
    const Cost cost = of(choice);
    if (cost.bytes <= bytes && cost.microseconds <= microseconds)
      microseconds = cost.microseconds;
    else
      choice[u] = true;
  }
}

Recomputation::Choice Recomputation::cheapest(int64_t bytes) const {
  std::vector<double> dearness;
  double largest = 1, all = 1;
  for (size_t u = 0; u < forward_; ++u) {
    if (units_[u].bytes == 0) continue;
    const auto b = static_cast<double>(units_[u].bytes);
    dearness.push_back(units_[u].microseconds / b);
    largest = std::max(largest, b);
    all += b;
  }
  std::vector<double> segments = {std::numeric_limits<double>::infinity()};
  for (double s = all; s > largest / 8; s /= 1.5) segments.push_back(s);
  Choice best(units_.size(), false);
  Cost least = of(best);
  const auto is_better = [&](const Cost &c) {
    if (c.bytes > bytes || least.bytes > bytes) return c.bytes < least.bytes;
    return c.microseconds < least.microseconds;
  };
  for (double most_dear : some_of(std::move(dearness), 12))
    for (double segment : segments)
      for (bool narrow : {true, false}) {
        Choice choice = with_segments(most_dear, segment, narrow);
        const Cost cost = of(choice);
        if (!is_better(cost)) continue;
        best = std::move(choice);
        least = cost;
      }
  if (least.bytes <= bytes) keep_what_fits(best, bytes);
  return best;
}

}  // namespace saltern::generators
