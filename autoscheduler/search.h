#pragma once
// Which candidate to measure next. The schedule's own knobs come first; then, in turn, the unmeasured neighbour of the
// best so far that the prior likes most (hill climbing), and the one of a few random points that it likes most
// (so that one hill is not the end). The same seed and the same scores give the same candidates.

#include <functional>
#include <map>
#include <optional>
#include <random>

#include "autoscheduler/space.h"

namespace saltern::autoscheduler {

class Search {
 public:
  using Prior = std::function<double(const Knobs &)>;  // higher is tried earlier

  Search(Space space, uint64_t seed, Prior prior = nullptr);

  // Nothing when every point has a score.
  std::optional<Knobs> next();
  // Higher is better; a candidate that failed has the score 0.
  void report(const Knobs &candidate, double score);

  const std::optional<Knobs> &best() const { return best_; }
  double best_score() const { return best_score_; }
  int64_t measured() const { return static_cast<int64_t>(scores_.size()); }

 private:
  bool is_new(const Knobs &candidate) const { return scores_.count(candidate) == 0; }
  std::optional<Knobs> climb();
  std::optional<Knobs> explore();
  std::optional<Knobs> liked_most(const std::vector<Knobs> &candidates) const;

  Space space_;
  std::mt19937_64 random_;
  Prior prior_;
  std::map<Knobs, double> scores_;
  std::optional<Knobs> best_;
  double best_score_ = 0;
  bool climb_next_ = true;
};

}  // namespace saltern::autoscheduler
