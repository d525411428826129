#include "autoscheduler/search.h"

namespace saltern::autoscheduler {

Search::Search(Space space, uint64_t seed, Prior prior)
    : space_(std::move(space)), random_(seed), prior_(std::move(prior)) {}

std::optional<Knobs> Search::liked_most(const std::vector<Knobs> &candidates) const {
  std::optional<Knobs> liked;
  double most = 0;
  for (const Knobs &c : candidates) {
    if (!is_new(c)) continue;
    const double p = prior_ ? prior_(c) : 0;
    if (!liked || p > most) {
      liked = c;
      most = p;
    }
  }
  return liked;
}

std::optional<Knobs> Search::climb() {
  if (!best_) return std::nullopt;
  return liked_most(space_.neighbours(*best_));
}

std::optional<Knobs> Search::explore() {
  constexpr int draws = 8;
  std::vector<Knobs> drawn;
  for (int i = 0; i < draws; ++i) drawn.push_back(space_.random(random_));
  if (const auto liked = liked_most(drawn)) return liked;
  // All drawn are known: take the first that is not, counting on from a random point.
  const int64_t size = space_.size(), from = static_cast<int64_t>(random_() % static_cast<uint64_t>(size));
  for (int64_t i = 0; i < size; ++i)
    if (Knobs p = space_.point((from + i) % size); is_new(p)) return p;
  return std::nullopt;
}

std::optional<Knobs> Search::next() {
  if (Knobs own = space_.own(); is_new(own)) return own;
  climb_next_ = !climb_next_;
  if (!climb_next_)
    if (auto c = climb()) return c;
  return explore();
}

void Search::report(const Knobs &candidate, double score) {
  scores_[candidate] = score;
  if (!best_ || score > best_score_) {
    best_ = candidate;
    best_score_ = score;
  }
}

}  // namespace saltern::autoscheduler
