#include "generators/model/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace saltern::generators {

namespace {

constexpr int64_t alignment = 64;

int64_t aligned(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

bool meet(const Lifetime &a, const Lifetime &b) {
  if (a.stage >= 0 && a.stage == b.stage && a.lane != b.lane) return true;
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime> &lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });

  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    int64_t offset = 0;
    for (size_t p : placed) {
      if (!meet(lifetimes[i], lifetimes[p])) continue;
      if (offset + lifetimes[i].bytes <= plan.offsets[p]) break;
      offset = std::max(offset, aligned(plan.offsets[p] + lifetimes[p].bytes));
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, aligned(offset + lifetimes[i].bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  i);
  }
  return plan;
}

}  // namespace saltern::generators
