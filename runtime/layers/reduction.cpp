#include "runtime/layers/reduction.h"

#include <algorithm>

#include "runtime/kernels/kernels.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

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

// scale * (sum over the dimensions marked), which keep an extent of 1, in the memory order of x. One kernel call where
// the marked dimensions are neighbours in memory, as a channel vector's gradient is in an image: x(a, r, b) -> y(a, b).
Tensor sum_over(const Tensor &t, const std::vector<bool> &marked, double scale) {
  Tensor x = without_holes(t);
  const std::vector<int> order = memory_order(x.strides());
  std::vector<Group> groups;
  Shape shape = x.shape();
  for (int d : order) {
    if (x.extent(d) != 1) groups.push_back({x.extent(d), marked[d]});
    if (marked[d]) shape[d] = 1;
  }
  const Shape strides = dense_strides(shape, order);
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

}  // namespace

namespace operations {

const Operation sum(
    "sum",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      std::vector<bool> marked(in[0].shape().size(), false);
      for (int64_t d : a.integers("axes")) {
        const auto axis = static_cast<size_t>(dimension(d, in[0].rank(), "sum"));
        if (marked[axis]) fail("sum: dimension ", axis, " of ", to_string(in[0].shape()), " is named twice");
        marked[axis] = true;
      }
      return {sum_over(in[0], marked, a.real("scale", 1))};
    },
    [](const Values &in, const Attributes &a) -> Values {
      std::vector<int> axes;
      for (int64_t d : a.integers("axes")) axes.push_back(dimension(d, in.at(0).rank(), "sum"));
      const Value all = axes.empty() ? in.at(0) : formula::sum(in.at(0), axes);
      return {a.real("scale", 1) == 1 ? named("sum", all) : all * a.real("scale")};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const double scale = t.attributes().real("scale", 1);
      return {saltern::expand(scale == 1 ? dy[0] : saltern::sum(dy[0], {}, scale), t.shape(0))};
    });

const Operation expand(
    "expand",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Tensor y = Tensor::empty(a.integers("shape"), in[0].type());
      copy(y, in[0]);
      return {y};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {sum_to(dy[0], t.shape(0))};
    });

}  // namespace operations

Variable sum(const Variable &x, const std::vector<int64_t> &axes, double scale) {
  return apply_one(operations::sum, {x}, {{"axes", axes}, {"scale", scale}});
}

Variable mean(const Variable &x, const std::vector<int64_t> &axes) {
  int64_t count = 1;  // sum() refuses a dimension that is named twice
  for (int64_t d : axes) count *= x.shape()[dimension(d, x.rank(), "mean")];
  if (count == 0) fail("mean: there are no elements to take it of in ", to_string(x.shape()));
  return sum(x, axes, 1.0 / static_cast<double>(count));
}

Variable sum(const Variable &x) { return reshape(sum(x, all_dimensions(x)), {}); }
Variable mean(const Variable &x) { return reshape(mean(x, all_dimensions(x)), {}); }

Variable expand(const Variable &x, const Shape &shape) {
  return x.shape() == shape ? x : apply_one(operations::expand, {x}, {{"shape", shape}});
}

Variable sum_to(const Variable &x, const Shape &shape) {
  if (x.shape() == shape) return x;
  const size_t more = x.shape().size() - shape.size();
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.shape().size(); ++d)
    if (d < more || (shape[d - more] == 1 && x.shape()[d] != 1)) axes.push_back(static_cast<int64_t>(d));
  const Variable y = sum(x, axes);
  return y.shape() == shape ? y : reshape(y, shape);
}

}  // namespace saltern
