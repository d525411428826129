#pragma once
// Whether a model does with each sample of a batch what it does with one alone: then a batch of any size goes through
// kernels made for some samples at once, and for one.
//
// It is shown on the graph, for two sizes of the batch. A value is sample-major if its memory is as many equal blocks
// as there are samples, and a block depends on its sample only. The inputs are, by their first dimension; every
// operation that keeps it so is a rule in samples.cpp, and the same node must be there for one sample.

#include "runtime/graph/graph.h"

namespace saltern::generators {

// The number of samples in `many`; in `one` there is one. Throws an Unsupported that names the input, node or output
// where it cannot be shown.
int64_t check_samples_are_independent(const Graph &many, const Graph &one);

}  // namespace saltern::generators
