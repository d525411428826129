#pragma once
// A model as its C driver sees it: kernels called one after the other on buffers in the workspace and in the weights.
// Nothing here needs the Halide compiler.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace saltern::generators {

enum class Region { workspace, weights };

// One argument of a kernel call: dense, innermost first, its elements at an offset in a region.
struct BufferUse {
  Region region;
  int64_t offset;
  Type type;
  std::vector<int> extents;
};

struct Step {
  int kernel;          // NAME_kernel_<number>
  std::string origin;  // the node that it computes, for error texts
  std::vector<BufferUse> buffers;
};

// An input or output of the model: row-major N, C, H, W outside, in the workspace as its layout says.
struct Edge {
  std::string name;
  Type type;
  Shape shape;
  Layout layout;
  int64_t offset;
};

struct Plan {
  std::vector<Step> steps;
  std::vector<Edge> inputs, outputs;
  int64_t workspace_bytes = 0;
  std::vector<uint8_t> weights;
  int kernels = 0;
};

}  // namespace saltern::generators
