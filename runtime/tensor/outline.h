#pragma once
// Outlines: tensors with a shape, a type and strides, and no elements. What is asked of the shape is answered, kernels
// write nothing into them, and reading an element is an Error: so whatever computes tensors tells their shapes without
// computing, by the code that computes them.
//
//   const OnlyOutlines outlines;                              // this thread makes no other tensors
//   conv2d.compute({x, w}, a)[0].shape();

#include "runtime/tensor/tensor.h"

namespace saltern {

// While it lives, every tensor that this thread makes is an outline.
class OnlyOutlines {
 public:
  OnlyOutlines();
  ~OnlyOutlines();
  OnlyOutlines(const OnlyOutlines &) = delete;
  OnlyOutlines &operator=(const OnlyOutlines &) = delete;

 private:
  bool previous_;
};

}  // namespace saltern
