#pragma once
// The plain schedule, which every other one is compared with: each function that is not a simple expression is
// computed once, whole, in loop order.

#include <Halide.h>

#include <vector>

namespace saltern::schedules {

inline void plain(const std::vector<Halide::Func> &outputs) {
  for (const Halide::Func &out : outputs)
    for (auto &[name, function] : Halide::Internal::find_transitive_calls(out.function()))
      if (function.has_update_definition()) Halide::Func(function).compute_root();
}

}  // namespace saltern::schedules
