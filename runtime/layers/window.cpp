#include "runtime/layers/window.h"

#include "runtime/tensor/open_extents.h"

namespace saltern {

Attributes window_attributes(Pair stride, Pair padding, Pair dilation) {
  return {{"strides", Shape{stride.y, stride.x}},
          {"pads", Shape{padding.y, padding.x, padding.y, padding.x}},
          {"dilations", Shape{dilation.y, dilation.x}}};
}

const std::vector<int64_t> &integers(const Attributes &a, const char *name, size_t count, int64_t least) {
  const std::vector<int64_t> &values = a.integers(name);
  bool right = values.size() == count;
  for (int64_t v : values) right &= v >= least;
  if (!right)
    fail("operation '", a.owner(), "': '", name, "' is ", to_string(values), "; expected ", count,
         " numbers of at least ", least);
  return values;
}

Window window(const Attributes &a) {
  const auto &s = integers(a, "strides", 2, 1), &d = integers(a, "dilations", 2, 1), &p = integers(a, "pads", 4, 0);
  return {{s[1], d[1], p[1], p[3]}, {s[0], d[0], p[0], p[2]}};
}

algorithms::Slides slides(const Attributes &a) {
  const auto slide = [](const Sliding<int64_t> &s) -> algorithms::Slide {
    return {s.stride, s.dilation, s.pad_before, s.pad_after};
  };
  const Window w = window(a);
  return {slide(w.y), slide(w.x)};
}

std::vector<formula::Expression> extents(const Attributes &a, const char *name) {
  return {a.integers(name).begin(), a.integers(name).end()};
}

int64_t positions(const char *who, int64_t extent, int64_t kernel, const Sliding<int64_t> &s) {
  const int64_t room = extent + s.pad_before + s.pad_after - s.dilation * (kernel - 1);
  if (room < 1)
    fail(who, ": a window of ", kernel, " (dilation ", s.dilation, ") does not fit into ", extent, " (padding ",
         s.pad_before, ", ", s.pad_after, ")");
  return extent_quotient(room - 1, s.stride) + 1;
}

void append(std::vector<KernelArgument> &arguments, const Window &w) {
  for (const Sliding<int64_t> *s : {&w.x, &w.y})
    for (int64_t v : {s->stride, s->dilation, s->pad_before, s->pad_after})
      arguments.emplace_back(static_cast<int32_t>(v));
}

void append(std::vector<KernelArgument> &arguments, std::initializer_list<int64_t> integers) {
  for (int64_t v : integers) arguments.emplace_back(static_cast<int32_t>(v));
}

}  // namespace saltern
