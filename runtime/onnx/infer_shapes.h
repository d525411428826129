#pragma once
// What can be told of an imported graph's values before it runs: types, and shapes whose extents are numbers, names, or
// sums and products of names (batch, 2*seq+1, batch*seq).
//
// There is one place of shape rules, the lowerings (runtime/operators); this asks them. The model is walked with sample
// values for the names of its inputs' extents: each node is lowered to learn its results' shapes, and values that
// decide on shapes are computed on the way. Extents of several walks are read as functions of the names; further walks,
// with odd, small and large samples, must agree, or the extent stays open. So an extent that is a number here is one
// for every shape that was tried, and so is a value.

#include "runtime/onnx/model.h"

namespace saltern {

struct Inferred {
  // By name, of the model's own graph (not of those inside of it). What could not be told is missing. A constant stands
  // where small values were the same in all walks.
  std::map<std::string, Graph::Value> values;
};

Inferred infer_shapes(const Model &model);

// The model with what was inferred declared: shapes only, nothing else changes. What the file says and was not inferred
// stays.
Model with_inferred_shapes(Model model);

}  // namespace saltern
