#include "generators/model/lives.h"

#include <algorithm>

namespace saltern::generators {

void Lives::touch(const std::string &value, int64_t bytes, const When &when) {
  const auto [it, is_new] = index_.emplace(value, lives_.size());
  if (is_new) {
    lives_.push_back({value, bytes, 0, 0});
    touched_.emplace_back();
  }
  touched_[it->second].push_back(when);
}

void Lives::plan() {
  for (size_t i = 0; i < lives_.size(); ++i) {
    Lifetime &life = lives_[i];
    const When &one = touched_[i].front();
    // What two lanes share, or what is there before or after them, is alive in all of their stage.
    const bool in_lane = one.lane >= 0 && std::all_of(touched_[i].begin(), touched_[i].end(), [&](const When &w) {
                           return w.stage == one.stage && w.lane == one.lane;
                         });
    if (in_lane) {
      life.stage = one.stage;
      life.lane = one.lane;
    }
    life.first = life.last = one.step;
    for (const When &w : touched_[i]) {
      life.first = std::min(life.first, in_lane ? w.step : w.first);
      life.last = std::max(life.last, in_lane ? w.step : w.last);
    }
  }
  plan_ = plan_memory(lives_);
}

}  // namespace saltern::generators
