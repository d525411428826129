#include "runtime/formula/in_memory_order.h"

#include <algorithm>
#include <array>
#include <map>

namespace saltern {

using formula::Expression;
using formula::Value;

namespace {

constexpr int image_rank = 4;
// Which dimension of an image each dimension of memory is.
constexpr std::array<int, image_rank> order = {0, 2, 3, 1};

int place_of(int dimension) {
  return static_cast<int>(std::find(order.begin(), order.end(), dimension) - order.begin());
}

template <typename T>
std::vector<T> ordered(const std::vector<T> &of) {
  std::vector<T> all = of;
  for (size_t d = 0; d < order.size(); ++d) all[d] = of[static_cast<size_t>(order[d])];
  return all;
}

}  // namespace

bool has_images_with_channels_last(const std::vector<Tensor> &tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor &t) {
    return t.rank() == image_rank && t.has_layout(Layout::channels_last) && !t.has_layout(Layout::row_major);
  });
}

formula::Values in_memory_order(const formula::Values &values) {
  std::map<const formula::Stage *, Value> seen;
  for (const auto &s : stages_of(values)) {
    const bool is_image = s->rank == image_rank;
    const auto changed = [&](const Expression &e) {
      return formula::replaced(e, [&](const Expression &leaf) -> Expression {
        if (leaf->kind == Expression::Kind::load) {
          const Value &from = seen.at(leaf->stage.get());
          return from.at(from.rank() == image_rank ? ordered(leaf->arguments) : leaf->arguments);
        }
        return is_image && leaf->number < image_rank ? formula::axis(place_of(leaf->number)) : Expression();
      });
    };
    formula::Stage t = *s;
    t.rule = nullptr;
    if (!s->is_input()) t.element = changed(s->element);
    for (Expression &target : t.targets) target = changed(target);
    if (s->is_scan()) t.before = changed(s->before);
    if (s->is_scan() && is_image) t.along = place_of(s->along);
    if (is_image) t.extents = ordered(t.extents);
    if (is_image && s->is_scatter()) t.targets = ordered(t.targets);
    seen[s.get()] = stage(std::move(t));
  }
  formula::Values all;
  for (const Value &v : values) all.push_back(seen.at(v.get()));
  return all;
}

Tensor as_in_memory(const Tensor &t) {
  if (t.rank() != image_rank) return t.in_layout(Layout::row_major);
  const Tensor image = t.in_layout(Layout::channels_last);
  return image.viewed(ordered(image.shape()), ordered(image.strides()));
}

Tensor as_image(const Tensor &t) {
  if (t.rank() != image_rank) return t;
  Shape shape(image_rank), strides(image_rank);
  for (size_t d = 0; d < order.size(); ++d) {
    shape[static_cast<size_t>(order[d])] = t.shape()[d];
    strides[static_cast<size_t>(order[d])] = t.strides()[d];
  }
  return t.viewed(shape, strides);
}

}  // namespace saltern
