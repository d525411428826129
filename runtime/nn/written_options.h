#pragma once
// What a written call (written.h) tells an optimizer or a schedule (runtime/optim/options.h): StepLR(10, gamma=0.5).

#include "runtime/nn/written.h"
#include "runtime/optim/options.h"

namespace saltern::nn {

// By place in the order of `options`, and by name; None is the default. Throws where there are more, or one is there twice.
Attributes written_options(const WrittenCall &call, const Options &options);

}  // namespace saltern::nn
