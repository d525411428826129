#include "generators/model/stages.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace saltern::generators {

namespace {

// Less is not worth a word to another thread, which takes a microsecond or two.
constexpr double least_microseconds = 10;
// Looks for lanes go over all steps that are left. In a model of a hundred thousand steps there may be as many looks:
// when so many steps were looked at in all, the rest runs step by step.
constexpr size_t most_looked_at = 4 << 20;

using Steps = std::set<size_t>;

// What touched one memory so far.
class Touched {
 public:
  // Adds to `waits` what a step that touches it waits for, and the step to what others do.
  void touch(size_t step, const Touch &t, Steps &waits) {
    const bool too_many = read_.size() + written_.size() >= most_touches;
    const auto wait_for = [&](const std::vector<Earlier> &all) {
      for (const Earlier &e : all)
        if (e.step != step && (too_many || may_meet(e.piece, t.piece))) waits.insert(e.step);
    };
    wait_for(written_);
    if (t.writes || too_many) wait_for(read_);
    if (too_many) {
      // Whoever comes next waits for this one, and so for all.
      read_.clear();
      written_ = {{step, all_of_it}};
    } else {
      (t.writes ? written_ : read_).push_back({step, t.piece});
    }
  }

 private:
  // So many are compared one by one: a join can have a hundred thousand parts.
  static constexpr size_t most_touches = 256;
  static constexpr Piece all_of_it = {0, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max(),
                                      std::numeric_limits<int64_t>::max()};
  struct Earlier {
    size_t step;
    Piece piece;
  };
  std::vector<Earlier> read_, written_;
};

// The steps that each one waits for, all of them earlier.
std::vector<Steps> waits_of(const std::vector<StageStep> &steps) {
  std::unordered_map<std::string, Touched> memories;
  std::vector<Steps> waits(steps.size());
  for (size_t s = 0; s < steps.size(); ++s)
    for (const Touch &t : steps[s].touches) memories[t.home].touch(s, t, waits[s]);
  return waits;
}

class Order {
 public:
  explicit Order(const std::vector<StageStep> &steps) : steps_(steps), waits_(waits_of(steps)) {
    for (size_t s = 0; s < steps.size(); ++s) left_.insert(s);
  }

  std::vector<Stage> stages() {
    while (!left_.empty()) {
      // The first step of all is always ready.
      if (!steps_[*left_.begin()].one_task || !run_lanes()) run(*left_.begin());
    }
    return std::move(stages_);
  }

 private:
  bool is_ready(size_t s) const {
    return std::none_of(waits_[s].begin(), waits_[s].end(), [&](size_t before) { return left_.count(before) > 0; });
  }
  void run(size_t s) {
    left_.erase(s);
    stages_.push_back({{{s}}});
  }

  // Chains of steps of one task that wait for none but their own, when `early` have run; the longest come first. A step
  // that waits for two chains ends both, unless one is too short to be worth a lane.
  std::vector<std::vector<size_t>> lanes(const Steps &early) const {
    std::map<size_t, size_t> above;  // a tree for each chain
    std::map<size_t, double> time;   // of a chain, at the top of its tree
    const auto top = [&](size_t s) {
      while (above.at(s) != s) s = above[s] = above.at(above.at(s));
      return s;
    };
    for (size_t s : left_) {
      if (!steps_[s].one_task) continue;
      Steps joined;
      bool waits = false;
      for (size_t before : waits_[s]) {
        if (left_.count(before) == 0 || early.count(before) > 0) continue;
        waits |= above.count(before) == 0;
        if (above.count(before) > 0) joined.insert(top(before));
      }
      const auto is_worth_a_lane = [&](size_t chain) { return time.at(chain) >= least_microseconds; };
      if (waits || std::count_if(joined.begin(), joined.end(), is_worth_a_lane) > 1) continue;
      above[s] = s;
      time[s] = steps_[s].microseconds;
      for (size_t chain : joined) {
        above[chain] = s;
        time[s] += time.at(chain);
      }
    }
    std::map<size_t, std::vector<size_t>> by_top;
    for (const auto &[s, up] : std::map<size_t, size_t>(above)) by_top[top(s)].push_back(s);
    std::vector<size_t> tops;
    for (const auto &[t, chain] : by_top) tops.push_back(t);
    std::stable_sort(tops.begin(), tops.end(), [&](size_t a, size_t b) { return time.at(a) > time.at(b); });
    if (tops.size() < 2 || time.at(tops[1]) < least_microseconds) return {};
    std::vector<std::vector<size_t>> sorted;
    for (size_t t : tops) sorted.push_back(std::move(by_top.at(t)));
    return sorted;
  }

  // Runs what can run side by side; false where nothing can.
  bool run_lanes() {
    if (checked_) return --checked_, false;
    looked_at_ += left_.size();
    if (looked_at_ > most_looked_at) return false;
    // What other lanes wait for is ready, perhaps, but comes later: an LSTM's other direction begins with a product.
    Steps early;
    for (size_t s : left_)
      if (!steps_[s].one_task && is_ready(s)) early.insert(s);
    std::vector<std::vector<size_t>> found = lanes(early);
    if (found.empty()) {
      // Nor can the steps up to the next one of more tasks.
      for (auto s = std::next(left_.begin()); s != left_.end() && steps_[*s].one_task; ++s) ++checked_;
      return false;
    }
    for (size_t s : early) run(s);
    for (const std::vector<size_t> &lane : found)
      for (size_t s : lane) left_.erase(s);
    stages_.push_back({std::move(found)});
    return true;
  }

  const std::vector<StageStep> &steps_;
  std::vector<Steps> waits_;
  Steps left_;          // to run
  size_t checked_ = 0;  // how many of the next steps run one by one
  size_t looked_at_ = 0;
  std::vector<Stage> stages_;
};

}  // namespace

bool may_meet(const Piece &a, const Piece &b) {
  const auto end = [](const Piece &p) { return p.offset + (p.count / p.run - 1) * p.pitch + p.run; };
  if (a.count == 0 || b.count == 0 || a.offset >= end(b) || b.offset >= end(a)) return false;
  if (a.is_dense() || b.is_dense() || a.pitch != b.pitch) return true;
  // Both have the same rows, of which they take columns.
  const int64_t first = a.offset % a.pitch, second = b.offset % b.pitch;
  if (first + a.run > a.pitch || second + b.run > b.pitch) return true;
  return first < second + b.run && second < first + a.run;
}

std::vector<Stage> stages_of(const std::vector<StageStep> &steps) { return Order(steps).stages(); }

}  // namespace saltern::generators
