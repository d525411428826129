#pragma once
// A Tensor is a Halide function that knows its extents. Algorithms take Tensors and return Tensors;
// nothing in dsl/ or algorithms/ says how anything is computed.
//
// Index order is Halide's, innermost first: an image batch is x(c, x, y, n), a weight matrix w(in, out).

#include <Halide.h>

#include <utility>
#include <vector>

namespace saltern::forms {

class Tensor {
 public:
  Tensor() = default;
  Tensor(Halide::Func values, std::vector<Halide::Expr> extents)
      : values_(std::move(values)), extents_(std::move(extents)) {}

  // A kernel's input: its extents are the buffer's own.
  explicit Tensor(const Halide::ImageParam &input) : values_(input) {
    for (int d = 0; d < input.dimensions(); ++d) extents_.push_back(input.dim(d).extent());
  }

  // Values at hand, as tests have them.
  template <typename T>
  explicit Tensor(Halide::Buffer<T> values) : values_(values) {
    for (int d = 0; d < values.dimensions(); ++d) extents_.emplace_back(values.dim(d).extent());
  }

  template <typename... Indices>
  Halide::Expr operator()(Indices &&...indices) const {
    return values_(std::forward<Indices>(indices)...);
  }

  Halide::Expr operator()(const std::vector<Halide::Expr> &indices) const { return values_(indices); }
  Halide::Expr operator()(const std::vector<Halide::Var> &indices) const { return values_(indices); }

  Halide::Expr extent(int d) const { return extents_.at(d); }
  const std::vector<Halide::Expr> &extents() const { return extents_; }
  int rank() const { return static_cast<int>(extents_.size()); }
  const Halide::Type &type() const { return values_.type(); }
  Halide::Func func() const { return values_; }
  Halide::Region region() const {
    Halide::Region bounds;
    for (const Halide::Expr &e : extents_) bounds.emplace_back(0, e);
    return bounds;
  }

  // One variable for each dimension, for elementwise definitions.
  std::vector<Halide::Var> vars() const {
    std::vector<Halide::Var> v;
    for (int d = 0; d < rank(); ++d) v.emplace_back("i" + std::to_string(d));
    return v;
  }

 private:
  Halide::Func values_;
  std::vector<Halide::Expr> extents_;
};

}  // namespace saltern::forms
