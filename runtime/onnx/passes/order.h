#pragma once
// The `perm` of a Transpose: dimension d of the result is dimension order[d] of x.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace saltern {

using Order = std::vector<int64_t>;

inline bool is_order(const Order &order) {
  std::vector<bool> seen(order.size(), false);
  for (const int64_t d : order) {
    if (d < 0 || d >= static_cast<int64_t>(order.size()) || seen[static_cast<size_t>(d)]) return false;
    seen[static_cast<size_t>(d)] = true;
  }
  return true;
}

inline bool moves_nothing(const Order &order) { return std::is_sorted(order.begin(), order.end()); }

// Of one Transpose that does what two do, one after the other; empty where they do not fit each other.
inline Order merged(const Order &first, const Order &then) {
  if (first.size() != then.size() || !is_order(first) || !is_order(then)) return {};
  Order both;
  for (const int64_t d : then) both.push_back(first[static_cast<size_t>(d)]);
  return both;
}

}  // namespace saltern
