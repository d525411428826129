#pragma once
// A schedule from one of Halide's own autoschedulers, for a kernel whose declaration has none (Build::is_scheduled). Slower than a pattern
// by 2-45 times where there is one (convolution's gradients), but far from a plain loop nest: vectorised and parallel.
//
// Mullapudi2016 unless SALTERN_AUTOSCHEDULER says Adams2019. Both plan in the process that builds the kernel; Adams
// is held to a beam of 4, which bounds its time (a beam of 32 took 64 s for one convolution).

#include <Halide.h>

#include <string>

namespace saltern::autoscheduler {

// The one that the environment asks for. An unknown name is an error that lists those known.
std::string chosen_halide_autoscheduler();

// Schedules a pipeline whose inputs, scalars and outputs have estimates. The kernel still takes any extents.
void schedule_by_halide(const Halide::Pipeline &pipeline, const Halide::Target &target,
                        const std::string &name = chosen_halide_autoscheduler());

}  // namespace saltern::autoscheduler
