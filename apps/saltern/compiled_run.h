#pragma once
// Running a model with kernels compiled for its exact shapes.

#include <map>
#include <memory>
#include <string>

#include "runtime/graph/graph.h"
#include "runtime/onnx/run_model.h"

namespace saltern {

class CompiledLibrary;

// Compiles a graph into a shared library in the cache, or takes what was compiled before.
class CompiledGraph {
 public:
  CompiledGraph(const Graph &graph, int threads);
  ~CompiledGraph();

  std::map<std::string, Tensor> run(const std::map<std::string, Tensor> &inputs) const;

 private:
  std::unique_ptr<CompiledLibrary> library_;
};

// Compiles the model for the shapes of these inputs.
HostValues run_compiled(const Model &model, const HostValues &inputs, int threads);

}  // namespace saltern
