#include "runtime/nn/images.h"

#include <algorithm>

#include "runtime/layers/movement.h"
#include "runtime/layers/window.h"
#include "runtime/tensor/open_extents.h"

namespace saltern::nn {

std::string with_axes(const std::string &name, int axes) { return name + std::to_string(axes) + "d"; }

Images::Images(const Arguments &a, std::string_view name, int axes) : batch_(a.variable(name)) {
  const int rank = batch_.rank();
  if (rank != axes + 1 && rank != axes + 2)
    a.refuse(name, "(N, C, ...) or (C, ...) with " + std::to_string(axes) + " further dimensions");
  is_alone_ = rank == axes + 1;
  if (!is_alone_) return;
  Shape shape = batch_.shape();
  shape.insert(shape.begin(), 1);
  batch_ = reshape(batch_, shape);
}

Variable Images::as_given(const Variable &y) const {
  return is_alone_ ? reshape(y, Shape(y.shape().begin() + 1, y.shape().end())) : y;
}

Argument Images::as_given(const std::vector<Variable> &all) const {
  std::vector<Variable> given;
  for (const Variable &y : all) given.push_back(as_given(y));
  return given;
}

Shape integers_from(const Arguments &a, std::string_view name, size_t count, int64_t least) {
  Shape all = a.integers(name, count);
  constexpr int64_t most = INT32_MAX;
  for (int64_t i : all)
    if (i < least || i > most) a.refuse(name, "integers from " + std::to_string(least) + " to " + std::to_string(most));
  return all;
}

void Windows::fit(const Arguments &a, const Shape &extents, bool rounds_up) {
  positions.clear();
  rounded_up = rounds_up;
  for (size_t d = 0; d < axes(); ++d) {
    const int64_t room = extents[d] + before[d] + after[d] - reach(d);
    if (room < 0)
      fail(a.owner(), ": a window of ", kernel[d], " (dilation ", dilations[d], ") does not fit into ", extents[d],
           " (padding ", before[d], ", ", after[d], ")");
    int64_t count = extent_quotient(room + (rounds_up ? strides[d] - 1 : 0), strides[d]) + 1;
    if (rounds_up && (count - 1) * strides[d] >= extents[d] + before[d]) --count;
    positions.push_back(count);
  }
}

Windows Windows::with_more_behind(const Shape &extents) const {
  Windows w = *this;
  for (size_t d = 0; d < axes() && rounded_up; ++d)
    w.after[d] = std::max<int64_t>((positions[d] - 1) * strides[d] + reach(d) - extents[d] - before[d], 0);
  return w;
}

namespace {

Shape joined(Shape a, const Shape &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Shape behind(int64_t first, const Shape &rest) { return rest.size() == 1 ? Shape{first, rest[0]} : rest; }

}  // namespace

Attributes Windows::attributes() const {
  return {{"kernel", kernel},
          {"strides", strides},
          {"dilations", dilations},
          {"pads", joined(before, after)},
          {"positions", positions}};
}

Attributes Windows::attributes_of_two_axes() const {
  return {{"kernel", behind(1, kernel)},
          {"strides", behind(1, strides)},
          {"dilations", behind(1, dilations)},
          {"pads", joined(behind(0, before), behind(0, after))}};
}

algorithms::Slides slides_of(const Attributes &a) {
  const Shape &strides = a.integers("strides"), &dilations = a.integers("dilations"), &pads = a.integers("pads"),
              &positions = a.integers("positions");
  std::vector<algorithms::Slide> all;
  for (size_t d = 0; d < strides.size(); ++d)
    all.push_back({strides[d], dilations[d], pads[d], pads[d + strides.size()], positions[d]});
  return all;
}

bool has_kernels(const std::vector<Variable> &all, size_t axes) {
  const auto serves = [](const Variable &v) {
    return !v.defined() || (v.type() == Type::f32 && v.size() > 0);
  };
  return axes <= 2 && std::all_of(all.begin(), all.end(), serves);
}

Variable with_two_axes(const Variable &x) {
  const Shape &s = x.shape();
  return s.size() == 3 ? reshape(x, {s[0], s[1], 1, s[2]}) : x;
}

Variable with_axes_of(const Windows &w, const Variable &y) {
  const Shape &s = y.shape();
  return w.axes() == 1 ? reshape(y, {s[0], s[1], s[3]}) : y;
}

}  // namespace saltern::nn
