#include "runtime/transforms/beside.h"

#include <algorithm>
#include <cmath>

#include "runtime/tensor/element.h"

namespace saltern::transforms {

namespace {

Tensor expect_rows(const Arguments &in, const char *name, int64_t extent) {
  const Tensor t = in.variable(name).value();
  if (t.rank() < 1 || t.shape().back() != extent || !facts(t.type()).is_arithmetic() || t.type() == Type::boolean)
    in.refuse(name, "numbers (..., " + std::to_string(extent) + ")");
  return t;
}

// Of the shape and type of another.
Tensor with_values(const Tensor &like, const std::vector<double> &values) {
  const Tensor t = Tensor::empty(like.shape(), like.type());
  for (int64_t i = 0; i < t.size(); ++i) {
    const double v = values[static_cast<size_t>(i)];
    set_element(t.type(), t.raw(), i, is_real(t.type()) ? v : std::trunc(v));
  }
  return t;
}

Argument boxes_around(const Tensor &given, const Image &y) {
  std::vector<double> all;
  for (size_t i = 0; i < y.corners.size(); i += 4) {
    const auto of_x = [](const Place &a, const Place &b) { return a.x < b.x; };
    const auto of_y = [](const Place &a, const Place &b) { return a.y < b.y; };
    const auto first = y.corners.begin() + static_cast<std::ptrdiff_t>(i), last = first + 4;
    const auto across = std::minmax_element(first, last, of_x), down = std::minmax_element(first, last, of_y);
    const auto inside = [](double v, int64_t extent) { return std::clamp(v, 0.0, static_cast<double>(extent)); };
    for (const auto &[x, at] :
         {std::pair(across.first->x, down.first->y), std::pair(across.second->x, down.second->y)}) {
      all.push_back(inside(x, y.width));
      all.push_back(inside(at, y.height));
    }
  }
  return with_values(given, all);
}

Argument points_of(const Tensor &given, const Image &y) {
  std::vector<double> all;
  for (const Place &p : y.keypoints) all.insert(all.end(), {p.x, p.y});
  return with_values(given, all);
}

Argument given_of(const Argument &x, const Argument &boxes, const Argument &keypoints) {
  if (boxes.is_none() && keypoints.is_none()) return x;
  Argument::List all = {x};
  for (const Argument &a : {boxes, keypoints})
    if (!a.is_none()) all.push_back(a);
  return all;
}

}  // namespace

void take_places(const Arguments &in, Image &x) {
  if (!in.signature().has("boxes")) return;
  if (in.has("boxes")) {
    const std::vector<double> b = expect_rows(in, "boxes", 4).reals();
    for (size_t i = 0; i < b.size(); i += 4)
      x.corners.insert(x.corners.end(),
                       {{b[i], b[i + 1]}, {b[i + 2], b[i + 1]}, {b[i + 2], b[i + 3]}, {b[i], b[i + 3]}});
  }
  if (in.has("keypoints")) {
    const std::vector<double> k = expect_rows(in, "keypoints", 2).reals();
    for (size_t i = 0; i < k.size(); i += 2) x.keypoints.push_back({k[i], k[i + 1]});
  }
}

Argument with_places(const Arguments &in, const Image &y) {
  const Tensor picture = tensor_of(y);
  if (!y.has_moved || !in.signature().has("boxes")) return as_given(picture, in);
  return given_of(picture, in.has("boxes") ? boxes_around(in.variable("boxes").value(), y) : Argument(),
                  in.has("keypoints") ? points_of(in.variable("keypoints").value(), y) : Argument());
}

Argument as_given(const Argument &x, const Arguments &in) {
  if (!in.signature().has("boxes")) return x;
  return given_of(x, in["boxes"], in["keypoints"]);
}

}  // namespace saltern::transforms
