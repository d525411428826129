#pragma once
// A formula as instructions on registers that hold a block of elements each.
//
// Instructions stand in scopes: one for what depends on the result's element only, and one for the body of each
// reduction. An instruction is in the outermost scope in which all that it needs is known.

#include <cstdint>
#include <vector>

#include "dsl/expression.h"
#include "runtime/tensor.h"

namespace saltern {

// What registers hold: f64, f32 for all other reals, u64, and i64 for all other integers and booleans.
enum class Lane : uint8_t { f32, f64, i64, u64 };
Lane lane_of(Type type);

struct Instruction {
  const formula::Expression::Node *node;
  int result;
  std::vector<int> arguments;   // registers
  std::vector<bool> in_bounds;  // of a load's indices: no need to look
  bool contiguous = false;      // a load: element i of the result is element i of the operand
  int scope = -1;               // of a reduction: its body
  std::vector<int> slots;       // of a step, or of a reduction's steps: where their values stand
};

struct FormulaProgram {
  std::vector<std::vector<Instruction>> scopes;  // the first is the result's
  int registers = 0, slots = 0;
  int result = 0;
};

FormulaProgram compile(const formula::Expression &element, const std::vector<Tensor> &operands, const Shape &shape);

}  // namespace saltern
