#pragma once
// When the values of a model are alive, by name, and from that, where they lie in its workspace.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "generators/model/memory_plan.h"

namespace saltern::generators {

// When a value is touched: the step, all steps of its stage, and where that has several lanes (stages.h), which.
struct When {
  int step, first, last;
  int stage = -1, lane = -1;

  static When alone(int step) { return {step, step, step}; }
};

class Lives {
 public:
  // Notes that a value is touched, which may be the first time.
  void touch(const std::string &value, int64_t bytes, const When &when);
  // To be called when all is noted.
  void plan();
  int64_t offset(const std::string &value) const { return plan_.offsets[index_.at(value)]; }
  int64_t bytes() const { return plan_.bytes; }

 private:
  std::unordered_map<std::string, size_t> index_;
  std::vector<Lifetime> lives_;
  std::vector<std::vector<When>> touched_;
  MemoryPlan plan_;
};

}  // namespace saltern::generators
