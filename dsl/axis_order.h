#pragma once
// The same formula with its axes in another order: how results lie in memory is none of an algorithm's business.

#include "dsl/value.h"

namespace saltern::formula {

// Axis d of each value is what axis order[d] was; so it is of all stages of as many axes that are made on the way.
// permuted() makes a copy of what is there; this makes it in the other order at once. No scatters and no scans.
Values in_order(const Values &values, const std::vector<int> &order);
inline Value in_order(const Value &v, const std::vector<int> &order) { return in_order(Values{v}, order)[0]; }

}  // namespace saltern::formula
