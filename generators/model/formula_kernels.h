#pragma once
// Formulas compiled while the program runs, for runtime/formula/just_in_time.h: scheduled by structure, and kept as
// loaded_kernel.h does.
//
// Programs need not call anything here: linking Saltern::compiler is enough.

#include "dsl/value.h"
#include "runtime/formula/just_in_time.h"

namespace saltern::generators {

// Takes the kernel from the cache, or compiles it first. Extents of inputs are numbers or sizes. Throws an Error where it cannot.
FormulaKernel formula_kernel(const formula::Values &inputs, const formula::Values &outputs, Device device);

}  // namespace saltern::generators
