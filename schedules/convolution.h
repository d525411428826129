#pragma once
// The schedule of a convolution on whatever machine a kernel is built for. `build` gives the knobs as they are tuned.

#include "schedules/gpu/contraction.h"
#include "schedules/patterns/convolution.h"

namespace saltern::schedules {

template <typename Build>
void convolution(Build &build, const Machine &m, const Convolution &c) {
  if (m.is_gpu())
    gpu::convolution(c, build.tuned(gpu::ContractionKnobs::fitting()));
  else
    convolution(c, m, build.tuned(ContractionKnobs::fitting_convolution(m)));
}

}  // namespace saltern::schedules
