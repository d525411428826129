#pragma once
// Which lifetimes meet another one, found without a look at all of them: a tree over the steps of a model. A lifetime
// stands in the few nodes that cover its steps.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace saltern::generators {

class Timeline {
 public:
  // Of steps 0 to `steps` - 1.
  explicit Timeline(int steps) {
    while (leaves_ < steps) leaves_ *= 2;
    const auto nodes = static_cast<size_t>(2 * leaves_);
    covering_.resize(nodes);
    starting_.resize(static_cast<size_t>(leaves_));
    highest_.assign(nodes, 0);
    highest_below_.assign(nodes, 0);
  }

  // A lifetime from step `first` to step `last`, both included, whose memory ends at `end`.
  void add(size_t life, int first, int last, int64_t end) {
    starting_[static_cast<size_t>(first)].push_back(life);
    for_each_cover(first, last, [&](size_t node) {
      covering_[node].push_back(life);
      highest_[node] = std::max(highest_[node], end);
      for (size_t up = node; up > 0; up /= 2) highest_below_[up] = std::max(highest_below_[up], end);
    });
  }

  // Calls visit(life) for all that meet the steps from `first` to `last`, until it returns false.
  template <typename Visit>
  void for_each_meeting(int first, int last, const Visit &visit) const {
    for (size_t up = leaf(first); up > 0; up /= 2)
      for (size_t life : covering_[up])
        if (!visit(life)) return;
    for (int step = first + 1; step <= last; ++step)
      for (size_t life : starting_[static_cast<size_t>(step)])
        if (!visit(life)) return;
  }

  // Where the memory of all that meet these steps ends.
  int64_t end_of_all(int first, int last) const {
    int64_t end = 0;
    for_each_cover(first, last, [&](size_t node) {
      end = std::max(end, highest_below_[node]);
      for (size_t up = node; up > 0; up /= 2) end = std::max(end, highest_[up]);
    });
    return end;
  }

 private:
  size_t leaf(int step) const { return static_cast<size_t>(leaves_ + step); }

  // The largest nodes that together are these steps.
  template <typename Visit>
  void for_each_cover(int first, int last, const Visit &visit) const {
    for (size_t low = leaf(first), high = leaf(last) + 1; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) visit(low++);
      if (high % 2 == 1) visit(--high);
    }
  }

  int leaves_ = 1;
  std::vector<std::vector<size_t>> covering_, starting_;
  // The ends of what covers all steps of a node, and of what covers any of them.
  std::vector<int64_t> highest_, highest_below_;
};

}  // namespace saltern::generators
