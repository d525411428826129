#pragma once
// A model of either kind, for commands that take both: an ONNX file, or a net that was traced and saved here.

#include <map>
#include <string>
#include <vector>

#include "runtime/onnx/run_model.h"

namespace saltern {

class LoadedModel {
 public:
  // Throws BadInput, or Unsupported.
  explicit LoadedModel(const std::string &path);

  // What it takes and gives, and its nodes: ONNX operators, or Saltern's own operations.
  const Graph &graph() const { return model_.graph; }
  // The same as ONNX. Throws Unsupported where a saved net has an operation that ONNX has not.
  Model onnx() const;
  // The inputs that a caller must give.
  std::vector<std::string> inputs() const { return required_inputs(model_); }

  // With library kernels, at once.
  HostValues run(const HostValues &inputs) const;
  // Saltern's own operations, every shape fixed. `shapes` gives those of inputs that the model leaves open.
  Graph lowered(const std::map<std::string, Shape> &shapes) const;

 private:
  Model model_;      // of a saved net, only its graph
  bool is_lowered_;  // a saved net
};

// Throws Unsupported where one is not a tensor.
std::map<std::string, Tensor> tensors_of(const HostValues &values);
std::map<std::string, Shape> shapes_of(const std::map<std::string, Tensor> &tensors);

}  // namespace saltern
