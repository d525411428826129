#pragma once
// Results that take the memory of what they are computed from.

#include "generators/model/homes.h"

namespace saltern::generators {

struct GroupKernel {
  EmittedKernel kernel;
  const Group *group;  // whose nodes it computes
};

// A kernel that may write its result over an operand does so, where nobody reads the operand after it. A state's memory is
// taken by its next value and by nothing else: where the kernel may write over the state, or where it was read for the
// last time before.
void compute_in_place(const Graph &graph, const std::vector<GroupKernel> &calls, Homes &homes);

}  // namespace saltern::generators
