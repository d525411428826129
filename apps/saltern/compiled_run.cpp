#include "apps/saltern/compiled_run.h"

#include <filesystem>

#include "generators/model/compile.h"
#include "runtime/compiled_model.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/operators/lowering.h"

namespace saltern {

HostValues run_compiled(const Model &model, const HostValues &inputs, int threads) {
  std::map<std::string, Shape> shapes;
  for (const auto &[name, value] : inputs) {
    if (!value.is_tensor()) unsupported("the input '", name, "' is not a tensor; compiled models take tensors only");
    shapes[name] = value.tensor().shape();
  }
  const Graph graph = lower_model(model, shapes);
  generators::CompileOptions options;
  options.name = "model";
  options.cache = generators::default_cache_folder();
  options.folder = generators::model_folder(graph, options.cache);
  options.targets = {generators::best_target_here()};
  options.shared = true;
  const std::string library = options.folder + "/libmodel.so";
  if (!std::filesystem::exists(library)) generators::compile_model(graph, options);

  const CompiledLibrary compiled(library, options.name, threads);
  std::vector<Tensor> given;
  for (const CompiledLibrary::Edge &e : compiled.inputs()) given.push_back(inputs.at(e.name).tensor());
  const std::vector<Tensor> made = compiled.run(given);
  HostValues outputs;
  for (size_t i = 0; i < made.size(); ++i) outputs[compiled.outputs()[i].name] = made[i];
  return outputs;
}

}  // namespace saltern
