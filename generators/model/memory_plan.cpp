#include "generators/model/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "generators/model/timeline.h"

namespace saltern::generators {

namespace {

constexpr int64_t alignment = 64;
// A lifetime that meets more than so many is put behind all of them, without a search for a gap.
constexpr size_t most_compared = 4096;

int64_t aligned(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

struct Range {
  int64_t begin, end;
};

// Memory that is taken, as ranges that do not touch.
class Taken {
 public:
  void add(Range r) {
    auto after = ranges_.upper_bound(r.begin);
    if (after != ranges_.begin() && std::prev(after)->second >= r.begin) --after;
    while (after != ranges_.end() && after->first <= r.end) {
      r = {std::min(r.begin, after->first), std::max(r.end, after->second)};
      after = ranges_.erase(after);
    }
    ranges_.emplace(r.begin, r.end);
  }
  void add_to(std::vector<Range> &all) const {
    for (const auto &[begin, end] : ranges_) all.push_back({begin, end});
  }

 private:
  std::map<int64_t, int64_t> ranges_;
};

class Planning {
 public:
  explicit Planning(const std::vector<Lifetime> &lifetimes)
      : lifetimes_(lifetimes), earliest_(earliest(lifetimes)), placed_(latest(lifetimes) - earliest_ + 1) {
    plan_.offsets.assign(lifetimes.size(), 0);
  }

  MemoryPlan run() {
    std::vector<size_t> order(lifetimes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return lifetimes_[a].bytes > lifetimes_[b].bytes; });
    for (size_t i : order) place(i);
    return std::move(plan_);
  }

 private:
  static int earliest(const std::vector<Lifetime> &all) {
    int step = 0;
    for (const Lifetime &l : all) step = std::min(step, l.first);
    return step;
  }
  static int latest(const std::vector<Lifetime> &all) {
    int step = 0;
    for (const Lifetime &l : all) step = std::max(step, l.last);
    return step;
  }

  Range range_of(size_t i) const {
    return {plan_.offsets[i], aligned(plan_.offsets[i] + std::max<int64_t>(lifetimes_[i].bytes, 0))};
  }

  // The lowest place behind or between what it meets.
  int64_t free_place(const Lifetime &l) const {
    std::vector<Range> taken;
    if (l.stage >= 0)
      for (const auto &[lane, memory] : lanes_.at(l.stage))
        if (lane != l.lane) memory.add_to(taken);
    const size_t in_lanes = taken.size();
    const int first = l.first - earliest_, last = l.last - earliest_;
    placed_.for_each_meeting(first, last, [&](size_t p) {
      taken.push_back(range_of(p));
      return taken.size() <= in_lanes + most_compared;
    });
    int64_t offset = 0;
    if (taken.size() > in_lanes + most_compared) {
      offset = placed_.end_of_all(first, last);
      taken.resize(in_lanes);
    }
    std::sort(taken.begin(), taken.end(), [](const Range &a, const Range &b) { return a.begin < b.begin; });
    for (const Range &r : taken) {
      if (offset + l.bytes <= r.begin) break;
      offset = std::max(offset, r.end);
    }
    return offset;
  }

  void place(size_t i) {
    const Lifetime &l = lifetimes_[i];
    if (l.stage >= 0) lanes_.try_emplace(l.stage);
    plan_.offsets[i] = free_place(l);
    const Range r = range_of(i);
    plan_.bytes = std::max(plan_.bytes, r.end);
    placed_.add(i, l.first - earliest_, l.last - earliest_, r.end);
    if (l.stage >= 0) lanes_[l.stage][l.lane].add(r);
  }

  const std::vector<Lifetime> &lifetimes_;
  int earliest_;
  Timeline placed_;
  // What each lane of a stage has taken: those of the others meet it all.
  std::map<int, std::map<int, Taken>> lanes_;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime> &lifetimes) { return Planning(lifetimes).run(); }

}  // namespace saltern::generators
