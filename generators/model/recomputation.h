#pragma once
// What a training step costs in time and memory where some of what its forward half makes is made again for its backward
// half (with_recomputed() in passes/passes.h) instead of being kept. Estimates, quick enough to compare hundreds of choices:
// memory_budget.h asks the planner what the one that is taken really needs.

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern::generators {

class Recomputation {
 public:
  // Which units are made again, by number.
  using Choice = std::vector<bool>;
  struct Cost {
    int64_t bytes = 0;        // alive at the same time, at most
    double microseconds = 0;  // of what is made twice
  };
  // What one kernel computes.
  struct Unit {
    int64_t bytes = 0;  // of what it makes; none where that is state, in the state's place
    double microseconds = 0;
    bool in_place = false;            // it may write over what it reads
    bool to_the_end = false;          // it makes an output
    bool is_narrow = false;           // whatever forward goes on after it reads, of all before, nothing but this
    std::vector<size_t> reads;        // units
    std::vector<std::string> values;  // all that it makes, and views of that
  };

  // A graph as passes leave it, whose nodes behind the one that makes `turn` are the backward half.
  Recomputation(const Graph &prepared, const std::string &turn);

  const std::vector<Unit> &units() const { return units_; }
  // Of the forward half: these come first, and only they can be chosen.
  size_t forward() const { return forward_; }
  Cost of(const Choice &choice) const;
  std::unordered_set<std::string> values(const Choice &choice) const;

  // The choice of the least time that is estimated to need no more than so many bytes; where none does, the one of the
  // fewest bytes.
  Choice cheapest(int64_t bytes) const;

 private:
  Choice with_segments(double most_dear, double segment_bytes, bool at_narrow_places) const;
  void keep_what_fits(Choice &choice, int64_t bytes) const;

  std::vector<Unit> units_;
  size_t forward_ = 0;
};

}  // namespace saltern::generators
