#pragma once
// The schedules of contractions and of convolutions on whatever machine a kernel is built for. `build` gives the knobs
// as they are tuned.

#include "schedules/gpu/contraction.h"
#include "schedules/patterns/contraction.h"
#include "schedules/patterns/convolution.h"

namespace saltern::schedules {

template <typename Build>
void contraction(Build &build, const Machine &m, const Contraction &c) {
  if (m.is_gpu())
    gpu::contraction(c, build.tuned(gpu::ContractionKnobs::fitting()));
  else
    contraction(c, m, build.tuned(ContractionKnobs::fitting(m)));
}

template <typename Build>
void convolution(Build &build, const Machine &m, const Convolution &c) {
  if (m.is_gpu())
    gpu::convolution(c, build.tuned(gpu::ContractionKnobs::fitting()));
  else
    convolution(c, m, build.tuned(ContractionKnobs::fitting_convolution(m)));
}

}  // namespace saltern::schedules
