#include "autoscheduler/space.h"

#include <algorithm>

#include "runtime/error.h"

namespace saltern::autoscheduler {

Space::Space(std::vector<schedules::Knob> knobs) : knobs_(std::move(knobs)) {
  for (size_t i = 0; i < knobs_.size(); ++i) {
    schedules::Knob &k = knobs_[i];
    if (k.values.empty()) fail("knob '", k.name, "' has no values to try");
    for (size_t j = 0; j < i; ++j)
      if (knobs_[j].name == k.name) fail("two knobs are called '", k.name, "'");
    k.values.push_back(k.own);
    std::sort(k.values.begin(), k.values.end());
    k.values.erase(std::unique(k.values.begin(), k.values.end()), k.values.end());
  }
}

int64_t Space::size() const {
  int64_t n = 1;
  for (const schedules::Knob &k : knobs_) n *= static_cast<int64_t>(k.values.size());
  return n;
}

Knobs Space::own() const {
  Knobs p;
  for (const schedules::Knob &k : knobs_) p[k.name] = k.own;
  return p;
}

Knobs Space::point(int64_t number) const {
  Knobs p;
  for (const schedules::Knob &k : knobs_) {
    const auto n = static_cast<int64_t>(k.values.size());
    p[k.name] = k.values[number % n];
    number /= n;
  }
  return p;
}

Knobs Space::random(std::mt19937_64 &random) const {
  // Not a standard distribution: those differ between libraries, and a seed must give the same search everywhere.
  return point(static_cast<int64_t>(random() % static_cast<uint64_t>(size())));
}

std::vector<Knobs> Space::neighbours(const Knobs &point) const {
  std::vector<Knobs> all;
  for (const schedules::Knob &k : knobs_) {
    const auto at = std::find(k.values.begin(), k.values.end(), point.at(k.name));
    if (at == k.values.end()) fail("knob '", k.name, "' has no value ", point.at(k.name));
    Knobs p = point;
    if (at != k.values.begin()) {
      p[k.name] = *(at - 1);
      all.push_back(p);
    }
    if (at + 1 != k.values.end()) {
      p[k.name] = *(at + 1);
      all.push_back(p);
    }
  }
  return all;
}

}  // namespace saltern::autoscheduler
