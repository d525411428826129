#pragma once
// A model as its C driver sees it: kernels called one after the other on buffers in the workspace and in the weights.
// Nothing here needs the Halide compiler.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern::generators {

// As driver/rows.h numbers them.
enum class Region { workspace, weights, state };

// One argument of a kernel call, innermost first, its elements at an offset in a region, or in the memory of a direct
// edge.
struct BufferUse {
  Region region;
  int64_t offset;
  Type type;
  std::vector<int> extents, strides;  // in elements
  int edge = -1;                      // the number of an edge: state, inputs, outputs; -1: the region's
};

struct DriverStep {
  int kernel;          // NAME_kernel_<number>
  std::string origin;  // the node that it computes, for error texts
  std::vector<BufferUse> buffers;
  int lanes = 1;   // of the stage that begins here (stages.h), which stand one behind the other; one: just this step
  int length = 1;  // of the lane that begins here
};

// An input or output of the model: row-major N, C, H, W outside, in its region as its layout says. Where that is the
// same order, kernels may find it in the caller's memory: it is direct then, and copied only where the caller's memory
// is not aligned as kernels expect, or where outputs lie over others.
struct Edge {
  std::string name;
  Type type;
  Shape shape;
  Layout layout;
  Region region;  // weights: an output that is constant
  int64_t offset;
  bool direct = false;
};

// A state's next value that was not computed in the state's place, and is copied there when all is computed.
struct StateCopy {
  Region region;
  int64_t from, to, bytes;
};

// The heap memory that kernels take while they run, in one piece for each thread: the one that calls them, and one that
// runs tasks of their parallel loops.
struct KernelMemory {
  int64_t caller = 0, task = 0;
};

// One way through the model. A model whose batch is known at run time has two: for many samples at once, and for one.
struct Variant {
  std::vector<DriverStep> steps;
  std::vector<Edge> inputs, outputs, state;
  std::vector<StateCopy> copies;  // in an order in which none writes over what another reads
};

struct Plan {
  std::vector<Variant> variants;  // the last one is what users see: the whole model, or one sample of it
  int64_t samples = 0;            // of the first variant, where the batch is known at run time; else zero
  bool training = false;  // the first variant is a training step, whose last input is labels; the state is both's
  int64_t workspace_bytes = 0;
  // Of a handle; the latter: where its beginning is among the weights. None where state lies outside (compile.h).
  int64_t state_bytes = 0, first_state = 0;
  std::vector<uint8_t> weights;
  int kernels = 0;

  const Variant &seen() const { return variants.back(); }
};

}  // namespace saltern::generators
