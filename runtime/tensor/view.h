#pragma once
// Tensors as kernels see them. Here, and only here, the order that users know (N, C, H, W) becomes Halide's
// (innermost first, channels innermost of all).

#include <HalideRuntime.h>

#include <array>

#include "runtime/tensor/tensor.h"

namespace saltern {

// An element type as Halide's run time knows it.
inline halide_type_t halide_type(Type type) {
  const StoredAs &s = facts(type).storage;
  return {static_cast<halide_type_code_t>(s.code), s.bits};
}

class View {
 public:
  static constexpr int max_rank = 8;

  struct Dimension {
    int64_t extent, stride;
  };

  View(const Tensor &t, std::initializer_list<Dimension> dimensions);
  View(const Tensor &t, const std::vector<Dimension> &dimensions);

  // Throws where a kernel's integers cannot hold it; a view of an outline may be of any size.
  halide_buffer_t *buffer();
  bool is_empty() const {
    for (int d = 0; d < buffer_.dimensions; ++d)
      if (dimensions_[static_cast<size_t>(d)].extent == 0) return true;
    return false;
  }
  bool is_outline() const { return memory_->is_outline(); }
  // What holds the elements: a kernel on the CPU says that it reads them here, or writes them.
  Storage &memory() const { return *memory_; }

 private:
  friend View reversed(const Tensor &t);
  explicit View(const Tensor &t);
  void add(const Dimension &d);

  std::shared_ptr<Storage> memory_;  // a view of a temporary copy keeps it
  halide_buffer_t buffer_ = {};
  std::array<halide_dimension_t, max_rank> dimensions_ = {};
  int64_t largest_ = 0;  // extent or stride
};

// (N, C, H, W) as (c, x, y, n); convolution weights (O, I, H, W) as (ci, kx, ky, co) likewise.
View image(const Tensor &t);
// (N, C, H, W) as (c / groups, group, x, y, n).
View grouped_image(const Tensor &t, int64_t groups);
// Grouped weights (O, I, H, W) as (ci, kx, ky, co / groups, group).
View grouped_weights(const Tensor &t, int64_t groups);
// All dimensions in reverse: (N, I) as (i, n).
View reversed(const Tensor &t);
// Dense memory as one dimension, in the order of memory.
View flat(const Tensor &t);
// (C) as (c / groups, group).
View grouped_vector(const Tensor &t, int64_t groups);

}  // namespace saltern
