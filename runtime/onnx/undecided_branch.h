#pragma once
// An If whose condition is known at run time only, in a graph of fixed shapes: both branches are computed, and each
// result is taken from one of them.
//
// A branch need not fit the shapes that the model is lowered for (a network for another rate of samples, say): then it
// is the other one's, and results are NaN where data takes it nevertheless.

#include <functional>
#include <vector>

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

// `branch` lowers one of them; `left_out` hears of one that could not be, and why. Throws Unsupported where the results
// of both differ in shape, type or length, and what `branch` threw where neither can be lowered, or where there is no
// NaN for what is missing.
std::vector<Operand> either(Lowering n, const Operand &condition,
                            const std::function<std::vector<Operand>(bool then)> &branch,
                            const std::function<void(bool then, const std::string &why)> &left_out);

}  // namespace saltern
