#pragma once
// A graph that is compiled for its exact shapes while the program runs, and run:
//
//   const CompiledGraph net(trace(layers, {1, 3}));
//   const Tensor y = net.run({{"x", x}}).at("y");
//
// It needs a C compiler (compile.h). Nothing here needs the Halide compiler's headers.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "runtime/graph/graph.h"

namespace saltern {

class CompiledLibrary;

namespace generators {

class TemporaryFolder;

class CompiledGraph {
 public:
  // Compiles into a shared library in the cache (default_cache_folder), or takes what was compiled before. `progress` is
  // told how many kernels of how many are done; exact convolutions are CompileOptions' (compile.h).
  explicit CompiledGraph(const Graph &graph, int threads = 1,
                         const std::function<void(int done, int all)> &progress = nullptr,
                         bool exact_convolutions = false);
  ~CompiledGraph();

  std::map<std::string, Tensor> run(const std::map<std::string, Tensor> &inputs) const;
  // What runs leave for the next one, by name: it begins as the graph says.
  std::map<std::string, Tensor> state() const;
  // Some or all of it.
  void set_state(const std::map<std::string, Tensor> &state) const;
  // As CompiledLibrary::watch().
  void watch(std::function<void(const std::string &value)> after_step);

 private:
  std::unique_ptr<TemporaryFolder> forgotten_;  // instead of the cache where there is none
  std::unique_ptr<CompiledLibrary> library_;
};

}  // namespace generators
}  // namespace saltern
