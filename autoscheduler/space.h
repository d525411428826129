#pragma once
// A search space: the knobs of a kernel and the values that each may take. A point is one choice of all of them.

#include <cstdint>
#include <random>
#include <vector>

#include "generators/call.h"
#include "schedules/knobs.h"

namespace saltern::autoscheduler {

using generators::Knobs;

class Space {
 public:
  // Fails where a knob has no values or two knobs share a name. A knob's own value is always one of its values.
  explicit Space(std::vector<schedules::Knob> knobs);

  const std::vector<schedules::Knob> &knobs() const { return knobs_; }
  int64_t size() const;

  // What the schedule uses by itself.
  Knobs own() const;
  // The point with this number, 0 <= number < size().
  Knobs point(int64_t number) const;
  Knobs random(std::mt19937_64 &random) const;
  // The points that differ by one step of one knob.
  std::vector<Knobs> neighbours(const Knobs &point) const;

 private:
  std::vector<schedules::Knob> knobs_;
};

}  // namespace saltern::autoscheduler
