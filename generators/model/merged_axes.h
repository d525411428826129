#pragma once
// Formulas with fewer dimensions: two neighbours are one where every stage goes through them together, as the height and
// the width of an image that is normalised, or all dimensions of what is elementwise. Rows get longer that way, and
// vectors full.

#include "dsl/value.h"

namespace saltern::generators {

struct MergedAxes {
  formula::Values inputs, outputs;  // as those given, row-major in the same memory
};

MergedAxes merged_axes(const formula::Values &inputs, const formula::Values &outputs);

}  // namespace saltern::generators
