#include "runtime/tensor/view.h"

#include <algorithm>
#include <limits>

namespace saltern {

constexpr int64_t most = std::numeric_limits<int32_t>::max();

View::View(const Tensor &t) : memory_(t.memory()) {
  if (!t.defined()) fail("a kernel was called with an undefined tensor");
  buffer_.host = static_cast<uint8_t *>(t.address());
  buffer_.type = halide_type(t.type());
}

View::View(const Tensor &t, std::initializer_list<Dimension> dimensions) : View(t) {
  for (const Dimension &d : dimensions) add(d);
}

View::View(const Tensor &t, const std::vector<Dimension> &dimensions) : View(t) {
  for (const Dimension &d : dimensions) add(d);
}

void View::add(const Dimension &d) {
  if (buffer_.dimensions == max_rank) fail("kernels take tensors of rank ", max_rank, " at most");
  largest_ = std::max({largest_, d.extent, d.stride});
  const auto clamped = [](int64_t n) { return static_cast<int32_t>(std::min(n, most)); };
  dimensions_[buffer_.dimensions++] = halide_dimension_t(0, clamped(d.extent), clamped(d.stride));
}

halide_buffer_t *View::buffer() {
  if (largest_ > most) fail("an extent or stride of ", largest_, " is too large for a kernel");
  buffer_.dim = dimensions_.data();
  return &buffer_;
}

namespace {

void expect_rank(const Tensor &t, int rank, const char *what) {
  if (t.rank() != rank) fail(what, " has rank ", rank, "; this tensor is ", to_string(t.shape()));
}

int64_t per_group(const Tensor &t, int d, int64_t groups) {
  if (groups < 1 || t.extent(d) % groups != 0) fail(t.extent(d), " channels do not divide into ", groups, " groups");
  return t.extent(d) / groups;
}

}  // namespace

View image(const Tensor &t) {
  expect_rank(t, 4, "an image tensor");
  const Shape &e = t.shape(), &s = t.strides();
  return {t, {{e[1], s[1]}, {e[3], s[3]}, {e[2], s[2]}, {e[0], s[0]}}};
}

View grouped_image(const Tensor &t, int64_t groups) {
  expect_rank(t, 4, "an image tensor");
  const Shape &e = t.shape(), &s = t.strides();
  const int64_t each = per_group(t, 1, groups);
  return {t, {{each, s[1]}, {groups, each * s[1]}, {e[3], s[3]}, {e[2], s[2]}, {e[0], s[0]}}};
}

View grouped_weights(const Tensor &t, int64_t groups) {
  expect_rank(t, 4, "a convolution's weight");
  const Shape &e = t.shape(), &s = t.strides();
  const int64_t each = per_group(t, 0, groups);
  return {t, {{e[1], s[1]}, {e[3], s[3]}, {e[2], s[2]}, {each, s[0]}, {groups, each * s[0]}}};
}

View reversed(const Tensor &t) {
  View v(t);
  for (int d = t.rank() - 1; d >= 0; --d) v.add({t.extent(d), t.strides()[d]});
  return v;
}

View flat(const Tensor &t) {
  if (!t.is_dense()) fail("a tensor of ", to_string(t.shape()), " has holes; it cannot be read as one dimension");
  return {t, {{t.size(), 1}}};
}

View grouped_vector(const Tensor &t, int64_t groups) {
  expect_rank(t, 1, "a channel vector");
  const int64_t each = per_group(t, 0, groups);
  return {t, {{each, 1}, {groups, each}}};
}

}  // namespace saltern
