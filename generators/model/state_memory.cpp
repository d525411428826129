#include "generators/model/state_memory.h"

#include <algorithm>
#include <cstring>

#include "generators/model/views.h"

namespace saltern::generators {

namespace {

int64_t aligned(int64_t bytes) { return (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment; }

}  // namespace

StateMemory::StateMemory(const Graph &graph) {
  int64_t bytes = 0;
  for (const Graph::State &s : graph.state) {
    numbers_.emplace(s.value, static_cast<int>(offsets_.size()));
    offsets_[s.value] = bytes;
    bytes += aligned(static_cast<int64_t>(s.initial.bytes()));
  }
  initial_ = Tensor::zeros({bytes}, Type::u8);
  for (const Graph::State &s : graph.state) {
    const Tensor laid = s.initial.in_layout(graph.value(s.value).layout);
    std::memcpy(initial_.data<uint8_t>() + offsets_[s.value], laid.raw(), laid.bytes());
  }
}

std::vector<StateCopy> copies_in_order(std::vector<StateCopy> left) {
  std::vector<StateCopy> all;
  while (!left.empty()) {
    const auto free = std::find_if(left.begin(), left.end(), [&](const StateCopy &c) {
      return std::none_of(left.begin(), left.end(), [&](const StateCopy &other) {
        return &other != &c && other.region == Region::state && other.from < c.to + c.bytes &&
               c.to < other.from + other.bytes;
      });
    });
    if (free == left.end()) unsupported("states become each other's values in a circle");
    all.push_back(*free);
    left.erase(free);
  }
  return all;
}

}  // namespace saltern::generators
