#pragma once
// What normalisations of groups and of samples share: both are of rows, with a scale and a shift for each channel.

#include "runtime/nn/function.h"

namespace saltern::nn {

// x as so many rows, each less its mean and over its deviation.
Variable rows_normalised(const Variable &x, int64_t rows, double epsilon);
// y(n, c, ...) times weight(c), plus bias(c); either may be undefined.
Variable scaled_channels(const Variable &y, const Variable &weight, const Variable &bias);

}  // namespace saltern::nn
