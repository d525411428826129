#pragma once
// A lowered graph run without kernels: what kernels are compared with.
//
// Every operation is written down as a formula (by way of the ONNX operator of the same meaning) and evaluated element
// by element, with numbers of 64 bits inside of it. Slow, and independent of every schedule.

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

// As RunHooks::compute (runtime/graph/executor.h) takes it. Operations that ONNX has not are computed by their kernels.
std::vector<Tensor> compute_plainly(const Graph &graph, const Graph::Node &node, const std::vector<Tensor> &inputs);
// Whether it is computed by its formula: false where ONNX has no such operation.
bool has_plain_form(const Graph &graph, const Graph::Node &node);

// As run(graph, inputs) does it, plainly.
std::map<std::string, Tensor> run_plainly(const Graph &graph, const std::map<std::string, Tensor> &inputs);

// The same graph with values of f32, f16 and bf16 in f64, as formulas, which no kernel rounds: what differences of small
// numbers are taken of. Throws Unsupported that names the node that cannot be written so.
Graph in_f64(const Graph &graph);

}  // namespace saltern
