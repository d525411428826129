#pragma once
// Dimensions that arguments name, counted from the end where they are negative.

#include <algorithm>

#include "runtime/layers/movement.h"
#include "runtime/nn/signature.h"

namespace saltern::nn {

// In their order, each once; all where the argument is None or an empty list. A number has a dimension 0 to PyTorch, and
// none here.
inline std::vector<int64_t> axes_of(const Arguments &a, int rank, const char *name = "dim") {
  std::vector<int64_t> axes;
  if (a.has(name))
    for (int64_t d : a.integers(name)) axes.push_back(dimension(d, std::max(rank, 1), a.owner()));
  if (rank == 0) return {};
  if (axes.empty())
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) a.refuse(name, "each dimension once");
  return axes;
}

inline std::vector<int> dimensions_of(const Arguments &a, int rank, const char *name = "dim") {
  const std::vector<int64_t> axes = axes_of(a, rank, name);
  return {axes.begin(), axes.end()};
}

// Without dimensions of extent 1.
inline Value squeezed(const Value &x, const std::vector<int> &axes) {
  std::vector<formula::Expression> extents;
  const auto is_left_out = [&](int d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); };
  for (int d = 0; d < x.rank(); ++d)
    if (!is_left_out(d)) extents.push_back(x.extent(d));
  return formula::inlined(extents, [&](const formula::Axes &at) {
    formula::Axes from;
    for (int d = 0, next = 0; d < x.rank(); ++d)
      from.push_back(is_left_out(d) ? formula::Expression(0) : at[static_cast<size_t>(next++)]);
    return x.at(from);
  });
}

}  // namespace saltern::nn
