#pragma once
// The eight scalars of a kernel that slides a window, in the one order that every such kernel takes them.

#include <string>
#include <tuple>

#include "generators/kernel.h"
#include "schedules/forms/window.h"

namespace saltern::generators {

inline forms::Sliding2d sliding(Build &k) {
  forms::Sliding2d s;
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
