#pragma once
// The eight scalars of a kernel that slides a window, in the one order that every such kernel takes them.

#include <string>
#include <tuple>

#include "algorithms/sliding.h"
#include "generators/kernel.h"
#include "schedules/forms/window.h"

namespace saltern::generators {

// Of axes y and x.
inline algorithms::Slides slides(Build &k) {
  const auto along = [&](const std::string &axis, const char *before, const char *behind) {
    algorithms::Slide s;
    s.stride = k.count("stride_" + axis, 1);
    s.dilation = k.count("dilation_" + axis, 1);
    s.pad = k.count(before, 0);
    s.pad_behind = k.count(behind, 0);
    return s;
  };
  const algorithms::Slide x = along("x", "pad_left", "pad_right");
  return {along("y", "pad_top", "pad_bottom"), x};
}

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
