#pragma once
// What is known of the sizes of stages while they are scheduled: those of compiled models are numbers.

#include <algorithm>
#include <set>
#include <vector>

#include "dsl/structure.h"

namespace saltern::schedules {

// The number that an extent is, else 0.
inline int64_t known(const formula::Expression &e) {
  return e->kind == formula::Expression::Kind::constant ? e->integer : 0;
}

// Whether something is loaded that varies with the innermost axis only, of which nobody knows yet how long it is.
inline bool is_of_columns(const formula::Stage &s) {
  if (s.rank < 2 || !s.is_map() || known(s.extents[static_cast<size_t>(s.rank) - 1]) > 0) return false;
  const std::vector<formula::Expression> loads = formula::loads_in(s.element);
  return std::any_of(loads.begin(), loads.end(),
                     [&](const formula::Expression &l) { return formula::axes_in(l) == std::set<int>{s.rank - 1}; });
}

// Elements that a chain goes through for what lies at one place of the dimensions that are not `inner`, all of which
// are steps or inner ones: 0 where they are not known.
inline int64_t elements_at(const std::vector<const formula::Stage *> &chain, const std::set<int> &inner) {
  int64_t most = 1;
  for (const formula::Stage *c : chain) {
    int64_t all = 1;
    for (int d = 0; d < static_cast<int>(c->extents.size()); ++d)
      if (d >= c->rank || inner.count(d) > 0) all *= known(c->extents[static_cast<size_t>(d)]);
    if (all == 0) return 0;
    most = std::max(most, all);
  }
  return most;
}

}  // namespace saltern::schedules
