#pragma once
// Graphs as text, one value or node a line, so that people can read what a model file holds:
//
//   saltern graph 1
//   input x f32 [1, 1, 28, 28]
//   constant conv.weight f32 [32, 1, 3, 3]
//   node conv2d(x, conv.weight, conv.bias) {pads = [1, 1, 1, 1], slope = 0.5, mode = "same"} -> y f32 [1, 32, 28, 28]
//   output y
//
// The elements of constants are not in the text; they stand beside it (model_file.h).

#include <map>
#include <string>

#include "runtime/graph/graph.h"

namespace saltern {

std::string to_text(const Graph &graph);

// Throws an Error that names `source`, the line and what was expected there. The result is valid.
Graph parse_graph(const std::string &text, const std::map<std::string, Tensor> &constants, const std::string &source);

}  // namespace saltern
