#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

void expect_alike(const Tensor &a, const Tensor &b, int axis) {
  bool fits = a.type() == b.type() && a.rank() == b.rank();
  for (int d = 0; fits && d < a.rank(); ++d) fits = d == axis || a.extent(d) == b.extent(d);
  if (!fits)
    fail("cannot join ", facts(a.type()).name, " ", to_string(a.shape()), " and ", facts(b.type()).name, " ",
         to_string(b.shape()), " along dimension ", axis);
}

}  // namespace

Tensor joined(const std::vector<Tensor> &parts, int axis) {
  if (parts.empty()) fail("there is nothing to join");
  Shape shape = parts[0].shape();
  shape.at(static_cast<size_t>(axis)) = 0;
  for (const Tensor &p : parts) {
    expect_alike(parts[0], p, axis);
    shape[static_cast<size_t>(axis)] += p.extent(axis);
  }
  const Tensor all = Tensor::empty(shape, parts[0].type());
  int64_t at = 0;
  for (const Tensor &p : parts) {
    all.slice(axis, at, p.extent(axis)).copy_from(p);
    at += p.extent(axis);
  }
  return all;
}

Tensor stacked(const std::vector<Tensor> &parts, int64_t axis) {
  if (parts.empty()) fail("there is nothing to join");
  const int64_t rank = parts[0].rank() + 1;
  if (axis < -rank || axis >= rank) fail("axis ", axis, " of a result of rank ", rank);
  if (axis < 0) axis += rank;
  std::vector<Tensor> thick;
  for (const Tensor &p : parts) {
    if (p.rank() != parts[0].rank()) fail("cannot stack ", to_string(parts[0].shape()), " and ", to_string(p.shape()));
    Shape shape = p.shape(), strides = p.strides();
    shape.insert(shape.begin() + axis, 1);
    strides.insert(strides.begin() + axis, 1);
    thick.push_back(p.viewed(shape, strides));
  }
  return joined(thick, static_cast<int>(axis));
}

Tensor picked(const Tensor &x, int axis, const std::vector<int64_t> &which) {
  Shape shape = x.shape();
  shape.at(static_cast<size_t>(axis)) = static_cast<int64_t>(which.size());
  const Tensor y = Tensor::empty(shape, x.type());
  for (size_t i = 0; i < which.size(); ++i)
    y.slice(axis, static_cast<int64_t>(i), 1).copy_from(x.slice(axis, which[i], 1));
  return y;
}

Tensor taken(const Tensor &x, int axis, int64_t i) {
  const Tensor slot = x.slice(axis, i, 1);
  Shape shape = slot.shape(), strides = slot.strides();
  shape.erase(shape.begin() + axis);
  strides.erase(strides.begin() + axis);
  return slot.viewed(shape, strides).clone();
}

}  // namespace saltern
