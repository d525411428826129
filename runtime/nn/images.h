#pragma once
// What functions of images (N, C, ...) share: N may be left out, and windows slide along the last axes.
//
// The library has kernels for two axes in f32, which do for one axis as well; else formulas of any rank compute.

#include "algorithms/sliding.h"
#include "runtime/nn/function.h"

namespace saltern::nn {

// "conv" of two axes is "conv2d".
std::string with_axes(const std::string &name, int axes);

// An argument as images (N, C, ...) with this many axes behind N and C, whether or not N was given.
class Images {
 public:
  Images(const Arguments &a, std::string_view name, int axes);

  const Variable &batch() const { return batch_; }
  const Shape &shape() const { return batch_.shape(); }
  // Of the axes behind N and C.
  Shape extents() const { return {shape().begin() + 2, shape().end()}; }
  // A result for the batch, without N where there was none.
  Variable as_given(const Variable &y) const;
  Argument as_given(const std::vector<Variable> &all) const;

 private:
  Variable batch_;
  bool is_alone_;
};

// So many integers, of which each is at least `least`, and no more than kernels take: nothing made of them overflows.
Shape integers_from(const Arguments &a, std::string_view name, size_t count, int64_t least);

// How windows slide, one number for each axis.
struct Windows {
  Shape kernel, strides, dilations, before, after;
  Shape positions = {};
  bool rounded_up = false;  // the last position may reach behind the padding

  size_t axes() const { return kernel.size(); }
  // How many elements the window along an axis reaches over.
  int64_t reach(size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
  // Sets the positions; rounded up, as long as windows begin in the image or before it. Refuses to have none.
  void fit(const Arguments &a, const Shape &extents, bool rounds_up);

  // The same positions by more padding behind, where what is there does not count.
  Windows with_more_behind(const Shape &extents) const;

  // What operations by formulas are told, and read; and what those of two axes with kernels are told.
  Attributes attributes() const;
  Attributes attributes_of_two_axes() const;
};
algorithms::Slides slides_of(const Attributes &a);

// ---- Where kernels of two axes serve.
bool has_kernels(const std::vector<Variable> &all, size_t axes);
// (N, C, L) as (N, C, 1, L), and back to images of these axes.
Variable with_two_axes(const Variable &x);
Variable with_axes_of(const Windows &w, const Variable &y);

}  // namespace saltern::nn
