#pragma once
// A formula as instructions on registers that hold a block of elements each.
//
// Instructions stand in scopes: one for what is the same for all elements, one for what depends on the result's element
// only, and one for the body of each reduction. An instruction is in the outermost scope in which all that it needs is
// known.

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/expression.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// What registers hold: f64, f32 for all other reals, u64, and i64 for all other integers and booleans.
enum class Lane : uint8_t { f32, f64, i64, u64 };
Lane lane_of(Type type);

// The way of a load through memory where its indices are sums of axes and steps times constants: slices, transposed and
// broadcast operands, rows of matrices. The offset then grows evenly along each of the result's dimensions, so that a
// block is read in runs and no index is ever computed.
struct Walk {
  struct Dimension {
    int64_t extent, stride;
  };
  struct StepStride {
    int slot;
    int64_t stride;
  };

  // The result's, innermost in its memory first, merged where the way goes on evenly.
  std::vector<Dimension> dimensions;
  std::vector<StepStride> steps;  // of the reductions around the load
  int64_t start = 0;              // the offset of the result's first element, at the first steps
};

struct Instruction {
  const formula::Expression::Node *node;
  int result;
  std::vector<int> arguments;   // registers
  std::vector<bool> in_bounds;  // of a load's indices: no need to look
  bool empty = false;           // a load from an operand without elements
  std::optional<Walk> walk;     // of a load that goes evenly through memory: it has no arguments then
  int scope = -1;               // of a reduction: its body
  std::vector<int> slots;       // of a step, or of a reduction's steps: where their values stand
};

struct FormulaProgram {
  static constexpr int once = 0, of_element = 1;  // the first two scopes

  // A scan's scope makes `result` of `carried` again and again, at first of `before`.
  struct Scan {
    int64_t extent;
    int scope, slot, carried, before;
  };

  std::vector<std::vector<Instruction>> scopes;
  int registers = 0, slots = 0;
  int result = 0;
  std::optional<Scan> scan = {};
};

// Throws where the formula reads an axis or an operand that is not there, or an operand of another type or rank, or carries
// something without being a scan's.
void check(const formula::Expression &element, const std::vector<Tensor> &operands, const Shape &shape,
           bool is_scan = false);

// Of a formula that was checked. `strides` are those of the result in memory, which is dense.
FormulaProgram compile(const formula::Expression &element, const std::vector<Tensor> &operands, const Shape &shape,
                       const Shape &strides);
// The same of a scan whose step, of so many, stands in the place of the axis that it goes along; the shape's extent there
// is 1.
FormulaProgram compile_scan(const formula::Expression &element, const formula::Expression &before,
                            const formula::Expression &step, const std::vector<Tensor> &operands, const Shape &shape,
                            const Shape &strides);

}  // namespace saltern
