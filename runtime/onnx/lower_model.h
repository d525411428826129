#pragma once
// A model with fixed shapes as one graph of Saltern's own operations and formulas: what the model compiler takes.
//
// What depends on constants only is computed here, so that the arithmetic on shapes that exporters write is gone;
// functions are put in their calls' places, branches are chosen, loops are unrolled. Where that cannot be done because
// a shape or a condition depends on data, an Unsupported says which node and why.

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "runtime/onnx/model.h"

namespace saltern {

// What lowering may cost: a model can be small and stand for more than anybody has time for.
struct LoweringLimits {
  size_t nodes = size_t{1} << 20;                               // lowered, and in the result
  int64_t folded_bytes = int64_t{64} << 20;                     // of a constant that is computed here
  size_t allocated_bytes = std::numeric_limits<size_t>::max();  // of all that is computed here
  double steps = std::numeric_limits<double>::infinity();       // of formulas that are evaluated here
  std::chrono::milliseconds time{10 * 60'000};
};

// For what is asked on the way, of any file: `saltern info`, and the sizes of results before they are computed.
LoweringLimits quick_limits(const Model &model);

// Something that whoever uses the result should know.
using LoweringNote = std::function<void(const std::string &)>;

// `shapes` gives the inputs whose shape the model leaves open; an extent that is left open and not given here is an
// error that names it. Sequences and optionals are tensors, as flat_values.h has them: a sequence that is an input has
// the elements that shapes are given for.
Graph lower_model(const Model &model, const std::map<std::string, Shape> &shapes = {},
                  const LoweringLimits &limits = {}, const LoweringNote &note = nullptr);

// The model with these shapes where it leaves an input's open, which allows passes more. Shapes that do not fit are left to
// lower_model, which says so.
Model with_shapes(Model model, const std::map<std::string, Shape> &shapes);

// Throws OutOfMemory, naming the node, where a result would be larger than the memory there is. Says nothing of models
// whose shapes depend on data: what they make is refused when it is allocated.
void expect_room(const Model &model, const std::map<std::string, Shape> &shapes);

}  // namespace saltern
