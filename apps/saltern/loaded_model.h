#pragma once
// A model of either kind, for commands that take both: an ONNX file, or a net that was traced and saved here.

#include <map>
#include <string>
#include <vector>

#include "apps/saltern/model_options.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/run_model.h"

namespace saltern {

class LoadedModel {
 public:
  // Throw BadInput, or Unsupported, as do all functions here.
  explicit LoadedModel(const std::string &path) : LoadedModel(ModelOptions{path, {}, {}}) {}
  explicit LoadedModel(const ModelOptions &options);

  bool is_onnx() const { return is_onnx_; }
  // What it takes and gives, and its nodes: ONNX operators, or Saltern's own operations.
  const Graph &graph() const { return model_.graph; }
  // The same as ONNX. Throws Unsupported where a saved net has an operation that ONNX has not.
  Model onnx() const;
  // The inputs that a caller must give.
  std::vector<std::string> inputs() const { return required_inputs(model_); }

  // The shapes that the options give.
  const std::map<std::string, Shape> &shapes() const { return shapes_; }

  // With library kernels, at once.
  HostValues run(const HostValues &inputs) const;
  // The same with sums of integers where the model multiplies dequantized numbers, as it is compiled.
  HostValues run_in_integers(const HostValues &inputs) const;

  // Optimised and lowered to Saltern's own operations, for the shapes that the options give, and these.
  Graph lowered(const std::map<std::string, Shape> &shapes = {}, const LoweringLimits &limits = {}) const;
  // With so many samples in every input. `batch` is what the model calls the first dimension, or the word batch.
  Graph lowered_for_batch(const std::string &batch, int64_t samples) const;

 private:
  Graph lowered_onnx(const std::map<std::string, Shape> &shapes, const LoweringLimits &limits) const;

  Graph net_for(const std::map<std::string, Shape> &shapes) const;

  Model model_;  // of a saved net, only what it takes and gives, and its nodes
  Graph net_;    // a saved net
  std::map<std::string, Shape> shapes_;
  bool is_onnx_ = true;
};

// Throws an Error that names the option where the graph has no such input.
void check_is_input(const Graph &graph, const std::string &name, const char *option);

// Throws Unsupported where one is not a tensor.
std::map<std::string, Tensor> tensors_of(const HostValues &values);

}  // namespace saltern
