#pragma once
// Running a model with kernels compiled for its exact shapes.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "runtime/graph/graph.h"

namespace saltern {

class CompiledLibrary;
namespace generators {
class TemporaryFolder;
}

// Compiles a graph into a shared library in the cache, or takes what was compiled before; a terminal sees how far it is.
class CompiledGraph {
 public:
  CompiledGraph(const Graph &graph, int threads);
  ~CompiledGraph();

  std::map<std::string, Tensor> run(const std::map<std::string, Tensor> &inputs) const;
  // As CompiledLibrary::watch().
  void watch(std::function<void(const std::string &value)> after_step);

 private:
  std::unique_ptr<generators::TemporaryFolder> forgotten_;  // instead of the cache where there is none
  std::unique_ptr<CompiledLibrary> library_;
};

}  // namespace saltern
