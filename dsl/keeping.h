#pragma once
// What a gradient need not make again, since the forward has made it: whoever computes both keeps it in between.

#include "dsl/value.h"

namespace saltern::formula {

// Stages of `outputs` that their `gradients` read and that are dear to make: contractions, windows and scans. Sums along
// rows and columns are not: a kernel has them by the way, and to write them down would take it apart.
Values worth_giving(const Values &outputs, const Values &gradients);

// The same values, which read `given` instead of making `stages`.
Values with_given(const Values &values, const Values &stages, const Values &given);

}  // namespace saltern::formula
