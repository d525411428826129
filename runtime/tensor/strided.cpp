#include "runtime/tensor/strided.h"

#include <algorithm>

#include "runtime/kernels/kernels.h"

namespace saltern {

namespace {

constexpr size_t kernel_rank = 5;

Tensor copied(const Tensor &t, const Shape &strides) {
  const Tensor to = Tensor::empty(t.shape(), t.type()).viewed(t.shape(), strides);
  copy(to, t);
  return to;
}

// Dimensions of all operands under the shape of the first, innermost first, merged where they can be in all of them.
std::vector<std::vector<View::Dimension>> merged(const std::vector<Tensor> &operands, const std::string &who) {
  const Shape &shape = operands.at(0).shape();
  std::vector<Shape> strides;
  for (const Tensor &t : operands) strides.push_back(broadcast_strides(t, shape, who));

  std::vector<std::vector<View::Dimension>> dimensions(operands.size());
  for (int d : memory_order(strides[0])) {
    if (shape[d] == 1) continue;
    bool merges = !dimensions[0].empty();
    for (size_t i = 0; merges && i < operands.size(); ++i) {
      const View::Dimension &inner = dimensions[i].back();
      merges = strides[i][d] == inner.stride * inner.extent;
    }
    for (size_t i = 0; i < operands.size(); ++i)
      if (merges)
        dimensions[i].back().extent *= shape[d];
      else
        dimensions[i].push_back({shape[d], strides[i][d]});
  }
  return dimensions;
}

}  // namespace

Shape broadcast_shape(const Shape &a, const Shape &b, const std::string &who) {
  Shape shape(std::max(a.size(), b.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t of_a = d < a.size() ? a[a.size() - 1 - d] : 1, of_b = d < b.size() ? b[b.size() - 1 - d] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1)
      fail(who, ": shapes ", to_string(a), " and ", to_string(b), " do not broadcast");
    shape[shape.size() - 1 - d] = of_a == 1 ? of_b : of_a;
  }
  return shape;
}

Shape broadcast_strides(const Tensor &t, const Shape &shape, const std::string &who) {
  const size_t rank = t.shape().size();
  if (rank > shape.size()) fail(who, ": ", to_string(t.shape()), " does not broadcast to ", to_string(shape));
  Shape strides(shape.size(), 0);
  for (size_t d = 0; d < rank; ++d) {
    const size_t at = shape.size() - rank + d;
    if (t.shape()[d] == shape[at])
      strides[at] = t.strides()[d];
    else if (t.shape()[d] != 1)
      fail(who, ": ", to_string(t.shape()), " does not broadcast to ", to_string(shape));
  }
  return strides;
}

std::vector<View> strided_views(const std::vector<Tensor> &operands, const std::string &who) {
  std::vector<std::vector<View::Dimension>> dimensions = merged(operands, who);
  std::vector<View> views;
  for (size_t i = 0; i < operands.size(); ++i) {
    while (dimensions[i].size() < kernel_rank) dimensions[i].push_back({1, 1});
    views.emplace_back(operands[i], dimensions[i]);
  }
  return views;
}

namespace {

// What has more dimensions than kernels take is several calls, one for each place along the first that has several.
void call_along_first(const std::string &kernel, const std::vector<Tensor> &operands) {
  const Shape &shape = operands.at(0).shape();
  const auto d =
      static_cast<int>(std::find_if(shape.begin(), shape.end(), [](int64_t e) { return e > 1; }) - shape.begin());
  for (int64_t i = 0; i < shape[static_cast<size_t>(d)]; ++i) {
    std::vector<Tensor> parts;
    for (const Tensor &t : operands)
      parts.push_back(t.viewed(shape, broadcast_strides(t, shape, kernel)).slice(d, i, 1));
    call_strided(kernel, parts[0], {parts.begin() + 1, parts.end()});
  }
}

}  // namespace

void call_strided(const std::string &kernel, const Tensor &output, const std::vector<Tensor> &inputs) {
  if (output.size() == 0) return;
  std::vector<Tensor> operands = {output};
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  if (merged(operands, kernel)[0].size() > kernel_rank) return call_along_first(kernel, operands);
  std::vector<View> views = strided_views(operands, kernel);
  std::vector<KernelArgument> arguments(views.begin() + 1, views.end());
  arguments.emplace_back(views[0]);
  call(kernel, std::move(arguments));
}

Tensor called_strided(const std::string &kernel, const std::vector<Tensor> &inputs, const Shape &at_least) {
  Shape shape = at_least;
  for (const Tensor &t : inputs) shape = broadcast_shape(shape, t.shape(), kernel);
  const auto like =
      std::find_if(inputs.begin(), inputs.end(), [&](const Tensor &t) { return t.shape() == shape && t.is_dense(); });
  const Tensor y = like == inputs.end() ? Tensor::empty(shape) : Tensor::like(*like);
  call_strided(kernel, y, inputs);
  return y;
}

Tensor called_flat(const std::string &kernel, const std::vector<Tensor> &inputs) {
  const Tensor x = without_holes(inputs.at(0)), y = Tensor::like(x);
  std::vector<KernelArgument> arguments = {flat(x)};
  for (size_t i = 1; i < inputs.size(); ++i) arguments.emplace_back(flat(arranged_like(inputs[i], x)));
  arguments.emplace_back(flat(y));
  call(kernel, std::move(arguments));
  return y;
}

void copy(const Tensor &to, const Tensor &from) {
  if (to.type() != from.type()) fail("copy: ", facts(from.type()).name, " into ", facts(to.type()).name);
  const Tensor repeated = from.viewed(to.shape(), broadcast_strides(from, to.shape(), "copy"));
  // The kernel is for f32 of few dimensions; what is laid out alike is copied at once anyway.
  if (to.type() == Type::f32 && to.strides() != repeated.strides() &&
      merged({to, repeated}, "copy")[0].size() <= kernel_rank)
    call_strided("copy", to, {repeated});
  else
    to.copy_from(repeated);
}

Tensor row_major(const Tensor &t) {
  return t.has_layout(Layout::row_major) ? t.in_layout(Layout::row_major)
                                         : copied(t, dense_strides(t.shape(), Layout::row_major));
}

Tensor channels_last(const Tensor &t) {
  return t.has_layout(Layout::channels_last) ? t.in_layout(Layout::channels_last)
                                             : copied(t, dense_strides(t.shape(), Layout::channels_last));
}

Tensor arranged_like(const Tensor &t, const Tensor &other) {
  for (int d = 0; d < t.rank(); ++d)
    if (t.extent(d) > 1 && t.strides()[d] != other.strides()[d]) return copied(t, other.strides());
  return t;
}

Tensor without_holes(const Tensor &t) { return t.is_dense() ? t : row_major(t); }

Tensor innermost(const Tensor &t, int d) {
  if (t.is_dense() && (t.strides()[d] == 1 || t.extent(d) == 1)) return t;
  std::vector<int> order = {d};
  for (int other = t.rank() - 1; other >= 0; --other)
    if (other != d) order.push_back(other);
  return copied(t, dense_strides(t.shape(), order));
}

}  // namespace saltern
