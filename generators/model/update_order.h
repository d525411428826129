#pragma once
// When state is written: a group that makes the next value of a state waits for all others that read the state, so that the
// value can be computed in the state's place (in_place.h). A training step has updates right behind the gradients that they
// take, and a kernel that reads a parameter may have moved behind those with what follows it (grouping.h).

#include "generators/model/grouping.h"

namespace saltern::generators {

// The same groups. Where two wait for each other, they stay as they were.
std::vector<Group> with_late_updates(const Graph &graph, std::vector<Group> groups);

}  // namespace saltern::generators
