#include "generators/model/compiled_graph.h"

#include <algorithm>

#include "generators/model/compile.h"
#include "generators/model/temporary_folder.h"
#include "runtime/kernels/compiled_model.h"

namespace saltern::generators {

CompiledGraph::CompiledGraph(const Graph &graph, int threads, const std::function<void(int, int)> &progress,
                             bool exact_convolutions) {
  CompileOptions options;
  options.name = "model";
  options.cache = default_cache_folder();
  if (options.cache.empty()) {
    forgotten_ = std::make_unique<TemporaryFolder>();
    options.cache = forgotten_->path();
  }
  options.targets = {best_target_here()};
  options.progress = progress;
  options.exact_convolutions = exact_convolutions;
  library_ = std::make_unique<CompiledLibrary>(cached_library(graph, options), options.name, threads);
}

CompiledGraph::~CompiledGraph() = default;

void CompiledGraph::watch(std::function<void(const std::string &)> after_step) {
  library_->watch(std::move(after_step));
}

std::map<std::string, Tensor> CompiledGraph::run(const std::map<std::string, Tensor> &inputs) const {
  std::vector<Tensor> given;
  for (const CompiledLibrary::Edge &e : library_->inputs()) {
    const auto found = inputs.find(e.name);
    if (found == inputs.end()) fail("the input '", e.name, "' is missing");
    given.push_back(found->second);
  }
  const std::vector<Tensor> made = library_->run(given);
  std::map<std::string, Tensor> outputs;
  for (size_t i = 0; i < made.size(); ++i) outputs[library_->outputs()[i].name] = made[i];
  return outputs;
}

std::map<std::string, Tensor> CompiledGraph::state() const {
  std::map<std::string, Tensor> all;
  for (size_t i = 0; i < library_->states().size(); ++i) all[library_->states()[i].name] = library_->state(i);
  return all;
}

void CompiledGraph::set_state(const std::map<std::string, Tensor> &state) const {
  const std::vector<CompiledLibrary::Edge> &all = library_->states();
  for (const auto &[name, value] : state) {
    const auto at = std::find_if(all.begin(), all.end(), [&name = name](const auto &e) { return e.name == name; });
    if (at == all.end()) fail("the compiled model has no state '", name, "'");
    library_->set_state(static_cast<size_t>(at - all.begin()), value);
  }
}

}  // namespace saltern::generators
