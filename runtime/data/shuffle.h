#pragma once
// A permutation of 0 .. count - 1 that is a pure function of seed and epoch, on every machine: whoever resumes at an
// epoch gets its order without replaying those before.

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/tensor/random.h"

namespace saltern {

inline std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(Random(seed, epoch).bits());  // a stream for each epoch
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace saltern
