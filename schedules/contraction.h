#pragma once
// The schedule of a contraction on whatever machine a kernel is built for. `build` gives the knobs as they are tuned.

#include "schedules/gpu/contraction.h"
#include "schedules/patterns/contraction.h"

namespace saltern::schedules {

template <typename Build>
void contraction(Build &build, const Machine &m, const Contraction &c) {
  const bool convolution = c.staged.has_value();
  if (m.is_gpu())
    gpu::contraction(
        c, build.tuned(convolution ? gpu::ContractionKnobs::fitting_convolution() : gpu::ContractionKnobs::fitting()));
  else
    contraction(c, m,
                build.tuned(convolution ? ContractionKnobs::fitting_convolution(m) : ContractionKnobs::fitting(m)));
}

}  // namespace saltern::schedules
