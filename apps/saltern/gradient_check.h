#pragma once
// A graph's gradients beside central differences of the graph in f64 (runtime/onnx/plain.h), along random directions.
//
//   loss(x) = sum of w y over all elements of all real outputs, w drawn at random
//   by gradient: sum of g v, with g = d loss / d x           by differences: (loss(x + h v) - loss(x - h v)) / 2h
//
// The gradient is that of the graph as it is: by its types, kernels and rules. Where the two differ, other points nearby
// decide: at a kink, a jump or a tie there is no derivative that both could be. A gradient is bad when it differs at
// every point that was tried, and the graph is smooth at three of them at least.

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

enum class GradientVerdict { good, bad, rough };  // rough: no smooth point was found
const char *to_string(GradientVerdict verdict);

struct CheckedGradient {
  std::string name;
  Shape shape;
  double by_gradient = 0, by_differences = 0;
  double error = 0;  // of one beside the other, relative to the larger, or to what is typical of the sum's terms
  GradientVerdict verdict = GradientVerdict::rough;
};

struct GradientCheck {
  double tolerance = 0;  // of the error; 0: by the least precise type of the graph
  unsigned seed = 1;
};

// Of each of `wanted`, real inputs and constants of the graph. Throws Unsupported that names the node that has no
// gradient, or no formula in f64, or that the graph has no real output.
std::vector<CheckedGradient> checked_gradients(Graph graph, std::map<std::string, Tensor> inputs,
                                               const std::vector<std::string> &wanted, const GradientCheck &check);

}  // namespace saltern
