#pragma once
// The eight scalars of a kernel that slides a window, in the one order that every such kernel takes them.

#include <string>
#include <tuple>

#include "algorithms/window.h"
#include "generators/kernel.h"

namespace saltern::generators {

inline algorithms::Sliding2d sliding(Build &k) {
  algorithms::Sliding2d s;
  for (auto [axis, dimension, before, after] :
       {std::tuple{&s.x, "_x", "pad_left", "pad_right"}, std::tuple{&s.y, "_y", "pad_top", "pad_bottom"}}) {
    axis->stride = k.integer(std::string("stride") + dimension);
    axis->dilation = k.integer(std::string("dilation") + dimension);
    axis->pad_before = k.integer(before);
    axis->pad_after = k.integer(after);
  }
  return s;
}

}  // namespace saltern::generators
