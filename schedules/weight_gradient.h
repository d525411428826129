#pragma once
// The schedule of a convolution's weight gradient on whatever machine a kernel is built for.

#include "schedules/gpu/weight_gradient.h"
#include "schedules/patterns/weight_gradient.h"

namespace saltern::schedules {

template <typename Build>
void weight_gradient(Build &build, const Machine &m, const WeightGradient &c) {
  if (m.is_gpu())
    gpu::weight_gradient(c, build.tuned(gpu::WeightGradientKnobs::fitting()));
  else
    weight_gradient(c, m, build.tuned(WeightGradientKnobs::fitting(m, c)));
}

}  // namespace saltern::schedules
