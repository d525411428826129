#pragma once
// How windows slide over images, as attributes of operations: strides, dilations (y, x), pads (top, left, bottom,
// right), as ONNX has them; and as the eight scalars that kernels take.

#include "algorithms/sliding.h"
#include "dsl/shapes.h"
#include "runtime/autograd/attributes.h"
#include "runtime/kernels/kernels.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// Two numbers, for height and width; one number stands for both.
struct Pair {
  int64_t y, x;
  Pair(int64_t both) : y(both), x(both) {}
  Pair(int64_t y, int64_t x) : y(y), x(x) {}
};

using Window = Sliding2d<int64_t>;

Attributes window_attributes(Pair stride, Pair padding, Pair dilation = 1);

// A list of so many numbers of at least `least`; an error where it is another.
const std::vector<int64_t> &integers(const Attributes &a, const char *name, size_t count, int64_t least);

Window window(const Attributes &a);
// The same for formulas, and a list of numbers as extents.
algorithms::Slides slides(const Attributes &a);
std::vector<formula::Expression> extents(const Attributes &a, const char *name);

// Positions along one dimension; an error where the window does not fit even once.
int64_t positions(const char *who, int64_t extent, int64_t kernel, const Sliding<int64_t> &s);

void append(std::vector<KernelArgument> &arguments, const Window &w);
void append(std::vector<KernelArgument> &arguments, std::initializer_list<int64_t> integers);

}  // namespace saltern
