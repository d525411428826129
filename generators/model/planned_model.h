#pragma once
// From a graph to kernels and a plan that calls them: grouping, emission, equal kernels once, memory.

#include "generators/model/emit.h"
#include "generators/model/plan.h"

namespace saltern::generators {

struct PlannedModel {
  Plan plan;
  std::vector<EmittedKernel> kernels;  // numbered as the plan's steps say
};

// The variants of a model (plan.h), which must live as long as the kernels are built. They share kernels and weights.
// `state_outside`: as compile.h says.
PlannedModel planned(const std::vector<Graph> &variants, bool state_outside = false);

}  // namespace saltern::generators
