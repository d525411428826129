#pragma once
// An operation: how its outputs come from its inputs, and how gradients of its inputs come from gradients of its
// outputs. A gradient rule is written with other operations, applied to Variables: so it can be recorded in its turn
// (second order), traced into a graph, or just computed.
//
//   inline const Operation doubled("doubled",
//       [](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> { ... },
//       [](const Taped &, const std::vector<Variable> &dy) -> std::vector<Variable> { return {dy[0] + dy[0]}; });
//
// The declaration is the operation's row in the table that the graph executor and the importer look names up in.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/attributes.h"
#include "runtime/tensor.h"

namespace saltern {

class Variable;
class Taped;

struct Operation {
  using Compute = std::function<std::vector<Tensor>(const std::vector<Tensor> &inputs, const Attributes &)>;
  // One gradient for each input, undefined where there is none. dy[i] is undefined where output i has none.
  using Gradient = std::function<std::vector<Variable>(const Taped &, const std::vector<Variable> &dy)>;

  // Adds itself to the table; it must live as long as the program, at namespace scope.
  Operation(std::string name, Compute compute, Gradient gradient = nullptr);
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  const std::string name;
  const Compute compute;
  const Gradient gradient;  // null: has no gradient rule
};

// Null where there is no such operation. Those of saltern itself are there once runtime/operations.h is included.
const Operation *find_operation(std::string_view name);
// All, in alphabetical order.
std::vector<const Operation *> all_operations();

}  // namespace saltern
