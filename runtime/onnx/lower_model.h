#pragma once
// A model with fixed shapes as one graph of Saltern's own operations and formulas: what the model compiler takes.
//
// What depends on constants only is computed here, so that the arithmetic on shapes that exporters write is gone;
// functions are put in their calls' places, branches are chosen, loops are unrolled. Where that cannot be done because
// a shape or a condition depends on data, an Unsupported says which node and why.

#include <map>
#include <string>

#include "runtime/onnx/model.h"

namespace saltern {

// `shapes` gives the inputs whose shape the model leaves open; an extent that is left open and not given here is an
// error that names it.
Graph lower_model(const Model &model, const std::map<std::string, Shape> &shapes = {});

}  // namespace saltern
