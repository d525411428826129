#pragma once
// Where the values of a compiled model live: one static workspace, in which values that are never alive at the same
// time share memory.
//
// A value is alive from the step that writes it to the last step that reads it, both included: a kernel never reads
// and writes the same memory. Steps in lanes (stages.h) run at the same time as those in others: what is alive in a lane
// meets all that is alive in another lane of that stage.

#include <cstdint>
#include <string>
#include <vector>

namespace saltern::generators {

struct Lifetime {
  std::string value;
  int64_t bytes;
  int first, last;  // steps
  // Where all steps that touch it are in one lane of one stage; a stage that has more lanes than one has a number.
  int stage = -1, lane = -1;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // of each lifetime, multiples of 64
  int64_t bytes = 0;             // of the whole workspace
};

// Largest first, each at the lowest place that is free throughout its life.
MemoryPlan plan_memory(const std::vector<Lifetime> &lifetimes);

}  // namespace saltern::generators
