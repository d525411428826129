#include <algorithm>

#include "runtime/layers/reduction.h"

namespace saltern {

namespace {

struct Group {
  int64_t extent;
  bool marked;
};

// Dimensions, innermost first, neighbours of one kind merged.
std::vector<Group> merged(const std::vector<Group> &groups) {
  std::vector<Group> result;
  for (const Group &g : groups)
    if (!result.empty() && result.back().marked == g.marked)
      result.back().extent *= g.extent;
    else
      result.push_back(g);
  return result;
}

int64_t extent_of(const std::vector<Group> &groups, size_t begin, size_t end) {
  int64_t n = 1;
  for (size_t i = begin; i < end; ++i) n *= groups[i].extent;
  return n;
}

}  // namespace

Tensor sum_over(const Tensor &t, const std::vector<bool> &marked, double scale) {
  Tensor x = without_holes(t);
  std::vector<int> order(x.shape().size());
  for (int d = 0; d < x.rank(); ++d) order[d] = x.rank() - 1 - d;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x.strides()[a] < x.strides()[b]; });

  std::vector<Group> groups;
  Shape shape = x.shape(), strides(x.shape().size());
  int64_t stride = 1;
  for (int d : order) {
    if (x.extent(d) != 1) groups.push_back({x.extent(d), marked[d]});
    if (marked[d]) shape[d] = 1;
    strides[d] = stride;
    stride *= shape[d];
  }
  if (x.size() == 0) return Tensor::zeros(shape).viewed(shape, strides);
  groups = merged(groups);
  size_t left =
      static_cast<size_t>(std::count_if(groups.begin(), groups.end(), [](const Group &g) { return g.marked; }));
  if (left == 0) {  // scaling only
    groups.push_back({1, true});
    left = 1;
  }
  // The outermost marked group first: its rows are longest.
  for (; left > 0; --left) {
    size_t at = groups.size() - 1;
    while (!groups[at].marked) --at;
    const int64_t a = extent_of(groups, 0, at), r = groups[at].extent, b = extent_of(groups, at + 1, groups.size());
    const Tensor y = Tensor::empty({a * b});
    call("sum", {View(x, {{a, 1}, {r, a}, {b, a * r}}), static_cast<float>(left == 1 ? scale : 1.0),
                 View(y, {{a, 1}, {b, a}})});
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(at));
    groups = merged(groups);
    x = y;
  }
  return x.viewed(shape, strides);
}

}  // namespace saltern
