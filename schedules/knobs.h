#pragma once
// Knobs: the plain numbers of a schedule, each with the values worth trying. A knob struct lists its fields once,
//
//   struct TileKnobs {
//     int rows;
//     static std::vector<KnobField<TileKnobs>> fields() { return {{"rows", &TileKnobs::rows, {2, 4, 6}}}; }
//   };
//
// and that list is both its search space and the way in which a tuned build overrides it. Nothing here needs Halide.

#include <map>
#include <string>
#include <vector>

namespace saltern::schedules {

template <typename Struct>
struct KnobField {
  std::string name;
  int Struct::*member;
  std::vector<int> values;
};

// One knob of a kernel: its name, the values to try, and the one that the schedule has by itself.
struct Knob {
  std::string name;
  std::vector<int> values;
  int own;
};

// The knobs of `defaults` where `overrides` says nothing, else what it says.
template <typename Struct>
Struct overridden(Struct defaults, const std::map<std::string, int> &overrides) {
  for (const KnobField<Struct> &field : Struct::fields())
    if (const auto it = overrides.find(field.name); it != overrides.end()) defaults.*field.member = it->second;
  return defaults;
}

template <typename Struct>
void add_to_space(const Struct &defaults, std::vector<Knob> &space) {
  for (const KnobField<Struct> &field : Struct::fields())
    space.push_back({field.name, field.values, defaults.*field.member});
}

}  // namespace saltern::schedules
