#pragma once
// A tensor of the run world: a shape in the order that users know (N, C, H, W), strides in elements, an element type,
// and memory that it shares with its copies. Copying a Tensor copies a handle; clone() copies the elements.
//
// Strides carry the layout: image tensors are stored channels last (N, H, W, C in memory) under the shape N, C, H, W.

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "dsl/types.h"
#include "runtime/error.h"
#include "runtime/temporarily.h"
#include "runtime/tensor/storage.h"

namespace saltern {

using Shape = std::vector<int64_t>;

std::string to_string(const Shape &shape);
int64_t elements(const Shape &shape);

enum class Layout { row_major, channels_last };

// Dense strides. Channels last moves dimension 1 innermost; below rank 3 it is the same as row major.
Shape dense_strides(const Shape &shape, Layout layout);
// With the dimensions in this order, innermost first.
Shape dense_strides(const Shape &shape, const std::vector<int> &order);
// The dimensions as they lie in memory, innermost first; of those with one stride the last comes first.
std::vector<int> memory_order(const Shape &strides);

class Tensor {
 public:
  Tensor() = default;

  // New memory, aligned to 64 bytes, its contents undefined.
  static Tensor empty(Shape shape, Type type = Type::f32, Layout layout = Layout::row_major);
  static Tensor zeros(Shape shape, Type type = Type::f32, Layout layout = Layout::row_major);
  static Tensor full(Shape shape, double value, Type type = Type::f32, Layout layout = Layout::row_major);
  // New memory with the shape, type and strides of another.
  static Tensor like(const Tensor &other);
  // A shape and a type without any memory: an outline.
  static Tensor outline(Shape shape, Type type = Type::f32, Layout layout = Layout::row_major);
  // Memory that somebody else owns; `owner` is kept as long as the tensor needs it.
  static Tensor borrowed(void *data, Shape shape, Type type, Shape strides, std::shared_ptr<void> owner = nullptr);
  template <typename T>
  static Tensor of(Shape shape, const std::vector<T> &values);

  bool defined() const { return memory_ != nullptr; }
  bool is_outline() const { return memory_ && memory_->is_outline(); }
  const Shape &shape() const { return shape_; }
  const Shape &strides() const { return strides_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  // Of dimension d; a negative one counts from the end.
  int64_t extent(int d) const {
    if (d < -rank() || d >= rank()) fail("a tensor of shape ", to_string(shape_), " has no dimension ", d);
    return shape_[static_cast<size_t>(d < 0 ? d + rank() : d)];
  }
  int64_t size() const { return elements(shape_); }
  size_t bytes() const { return static_cast<size_t>(size()) * facts(type_).bytes(); }
  Type type() const { return type_; }

  // The address of the elements. Whoever writes through it where a tape may have the tensor says written().
  void *raw() const {
    if (memory_) memory_->to_host();
    return data_;
  }
  // The same where nothing is read through it: contents may be on a device.
  void *address() const { return data_; }
  // What keeps the elements alive, and knows whether they were written.
  const std::shared_ptr<Storage> &memory() const { return memory_; }
  void written() const { memory_->written(); }
  template <typename T>
  T *data() const {
    if (TypeOf<T>::value != type_) fail("a ", facts(type_).name, " tensor was read as ", facts(TypeOf<T>::value).name);
    expect_elements();
    if (memory_) memory_->lend();
    return static_cast<T *>(data_);
  }
  // The element at indices in the order of shape().
  template <typename T>
  T &at(const Shape &indices) const {
    return data<T>()[offset(indices)];
  }
  // The only element of a tensor of one element.
  double item() const;
  // All elements in row-major order, as numbers: for the few that decide on shapes and the like.
  std::vector<int64_t> integers() const;
  std::vector<double> reals() const;

  // Whether elements fill their memory without holes or overlap, in any order of dimensions.
  bool is_dense() const;
  bool has_layout(Layout layout) const;
  // Whether no other tensor shares the memory.
  bool is_unique() const { return memory_.use_count() == 1 && memory_->is_sole_owner(); }

  // The same tensor if it has the layout already, else a copy that has it.
  Tensor in_layout(Layout layout) const;
  Tensor clone() const;
  // Copies elements from a tensor of the same shape and type, whatever its strides.
  void copy_from(const Tensor &other) const;
  // The same memory under another shape; row-major tensors only.
  Tensor reshaped(Shape shape) const;
  // The same memory under any shape and strides; the caller sees to it that they stay inside.
  Tensor viewed(Shape shape, Shape strides) const;
  // The part [begin, begin + count) along dimension d, in the same memory.
  Tensor slice(int d, int64_t begin, int64_t count) const;

 private:
  static Tensor shaped(Shape shape, Type type, Layout layout);
  template <typename Number>
  std::vector<Number> numbers(Number (*element)(Type, const void *, int64_t)) const;
  // Throws where this is an outline.
  void expect_elements() const;
  int64_t offset(const Shape &indices) const;

  Shape shape_, strides_;
  Type type_ = Type::f32;
  void *data_ = nullptr;
  std::shared_ptr<Storage> memory_;
};

// Outlines are tensors with a shape, a type and strides, and no elements. What is asked of the shape is answered, kernels
// write nothing into them, and reading an element is an Error: so whatever computes tensors tells their shapes without
// computing, by the code that computes them. While this lives, every tensor that this thread makes is an outline:
//
//   const OnlyOutlines outlines;
//   conv2d.compute({x, w}, a)[0].shape();
struct OnlyOutlines : Temporarily<bool> {
  OnlyOutlines();
};

template <typename T>
Tensor Tensor::of(Shape shape, const std::vector<T> &values) {
  Tensor t = empty(std::move(shape), TypeOf<T>::value);
  if (static_cast<size_t>(t.size()) != values.size())
    fail("shape ", to_string(t.shape()), " does not hold ", values.size(), " values");
  for (size_t i = 0; i < values.size(); ++i) t.data<T>()[i] = values[i];
  return t;
}

}  // namespace saltern
