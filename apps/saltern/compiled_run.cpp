#include "apps/saltern/compiled_run.h"

#include <filesystem>

#include "generators/model/compile.h"
#include "runtime/compiled_model.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/operators/lowering.h"

namespace saltern {

CompiledGraph::CompiledGraph(const Graph &graph, int threads) {
  generators::CompileOptions options;
  options.name = "model";
  options.cache = generators::default_cache_folder();
  options.folder = generators::model_folder(graph, options.cache);
  options.targets = {generators::best_target_here()};
  options.shared = true;
  const std::string library = options.folder + "/libmodel.so";
  if (!std::filesystem::exists(library)) generators::compile_model(graph, options);
  library_ = std::make_unique<CompiledLibrary>(library, options.name, threads);
}

CompiledGraph::~CompiledGraph() = default;

std::map<std::string, Tensor> CompiledGraph::run(const std::map<std::string, Tensor> &inputs) const {
  std::vector<Tensor> given;
  for (const CompiledLibrary::Edge &e : library_->inputs()) given.push_back(inputs.at(e.name));
  const std::vector<Tensor> made = library_->run(given);
  std::map<std::string, Tensor> outputs;
  for (size_t i = 0; i < made.size(); ++i) outputs[library_->outputs()[i].name] = made[i];
  return outputs;
}

HostValues run_compiled(const Model &model, const HostValues &inputs, int threads) {
  std::map<std::string, Shape> shapes;
  std::map<std::string, Tensor> given;
  for (const auto &[name, value] : inputs) {
    if (!value.is_tensor()) unsupported("the input '", name, "' is not a tensor; compiled models take tensors only");
    shapes[name] = value.tensor().shape();
    given[name] = value.tensor();
  }
  HostValues outputs;
  for (const auto &[name, t] : CompiledGraph(lower_model(model, shapes), threads).run(given)) outputs[name] = t;
  return outputs;
}

}  // namespace saltern
