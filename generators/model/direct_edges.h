#pragma once
// Which inputs and outputs of a model kernels may find in the caller's memory: a model that reads much and computes
// little, as a mean of images is, would spend most of its time on copies. Row-major ones: inputs that nothing writes over
// and no output is a part of, and outputs that are all of a value that is made here.

#include <map>
#include <set>
#include <string>

#include "generators/model/homes.h"

namespace saltern::generators {

// By the values in whose memory they lie, their numbers, inputs first. `written` are values in whose memory kernels
// write.
std::map<std::string, int> direct_edges(const Graph &graph, const Homes &homes, const std::set<std::string> &written);

}  // namespace saltern::generators
