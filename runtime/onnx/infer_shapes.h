#pragma once
// What can be told of an imported graph's values before it runs: types, and shapes whose extents are numbers, names, or
// sums of products of names (batch, 2*seq+1, batch*seq), as quantities (quantity.h).
//
// What is told holds for every size that callers may choose, 0 and 1 among them, of every run that comes to the value;
// what holds for some sizes only, or cannot be shown, is left open. Constants of a model's inputs are defaults, which
// callers may override: they are not told either.

#include <unordered_set>

#include "runtime/onnx/model.h"
#include "runtime/onnx/quantity.h"

namespace saltern {

// With a constant where few elements are the same whatever the sizes are.
struct InferredValue : Graph::Value {
  Quantities extents;  // of those that are open as well; unknowns that have no name are told apart
  bool sure = false;   // whether the node that makes it cannot fail on any size
};

struct Inferred {
  // By name, of the model's own graph (not of those inside of it). What could not be told is missing.
  std::map<std::string, InferredValue> values;
  // All that were asked about.
  std::unordered_set<std::string> names;

  const InferredValue *find(const std::string &name) const;
  // Whether every value that a node of the graph makes was asked about.
  bool covers(const Graph &graph) const;
};

Inferred infer_shapes(const Model &model);

// The model with what was inferred declared, for people: shapes only, nothing else changes. Defaults of inputs are taken
// for what they will be, and what the file says and was not inferred stays.
Model with_inferred_shapes(Model model);

// Throws an Unsupported that names the node where a model computes with sizes that are open what is not told for all of
// them: a model that was lowered for some is not one for all then.
void expect_no_decision_by_sizes(const Model &model);

}  // namespace saltern
