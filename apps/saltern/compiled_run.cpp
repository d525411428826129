#include "apps/saltern/compiled_run.h"

#include <optional>

#include "generators/model/compile.h"
#include "generators/model/temporary_folder.h"
#include "runtime/kernels/compiled_model.h"
#include "runtime/report/progress.h"

namespace saltern {

CompiledGraph::CompiledGraph(const Graph &graph, int threads) {
  generators::CompileOptions options;
  options.name = "model";
  options.cache = generators::default_cache_folder();
  if (options.cache.empty()) {
    forgotten_ = std::make_unique<generators::TemporaryFolder>();
    options.cache = forgotten_->path();
  }
  options.targets = {generators::best_target_here()};
  std::optional<Progress> bar;
  options.progress = [&](int done, int all) {
    if (!bar) bar.emplace("compiling", all);
    bar->update(done);
  };
  library_ = std::make_unique<CompiledLibrary>(generators::cached_library(graph, options), options.name, threads);
}

CompiledGraph::~CompiledGraph() = default;

void CompiledGraph::watch(std::function<void(const std::string &)> after_step) {
  library_->watch(std::move(after_step));
}

std::map<std::string, Tensor> CompiledGraph::run(const std::map<std::string, Tensor> &inputs) const {
  std::vector<Tensor> given;
  for (const CompiledLibrary::Edge &e : library_->inputs()) given.push_back(inputs.at(e.name));
  const std::vector<Tensor> made = library_->run(given);
  std::map<std::string, Tensor> outputs;
  for (size_t i = 0; i < made.size(); ++i) outputs[library_->outputs()[i].name] = made[i];
  return outputs;
}

}  // namespace saltern
