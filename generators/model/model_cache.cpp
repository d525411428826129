#include <cstdlib>
#include <filesystem>

#include "generators/model/cache.h"
#include "generators/model/compile.h"
#include "runtime/files/hash.h"
#include "runtime/graph/text.h"

namespace saltern::generators {

namespace {

// What the graph computes and how it is compiled, in full but for the weights, which are many.
std::string model_key(Graph graph, const CompileOptions &options) {
  if (options.state_outside)  // its beginning is nobody's
    for (Graph::State &s : graph.state) s.initial = Tensor::zeros(s.initial.shape(), s.initial.type());
  std::string key = to_text(graph) + "\n" + options.name;
  const auto add = [&](const std::string &name, const Tensor &constant) {
    const Tensor t = constant.in_layout(Layout::row_major);
    key += "\n" + name + " " + content_hash({static_cast<const char *>(t.raw()), t.bytes()});
  };
  for (const auto &[name, v] : graph.values)
    if (v.constant.defined()) add(name, v.constant);
  for (const Graph::State &s : graph.state) add(s.value, s.initial);
  if (options.state_outside) key += "\nstate outside";
  if (options.exact_convolutions) key += "\nexact convolutions";
  if (options.memory > 0) {
    key += "\nin " + std::to_string(options.memory) + " bytes";
    key += " of " + std::to_string(options.memory_threads) + " threads";
  }
  for (const std::string &target : options.targets) key += "\n" + target;
  return key + "\n" + program_identity();
}

}  // namespace

std::string cached_library(const Graph &graph, const CompileOptions &options) {
  const std::string library = "lib" + options.name + ".so";
  const auto compile = [&](const std::string &making) {
    CompileOptions here = options;
    here.folder = making;
    here.shared = true;
    compile_model(graph, here);
    for (const std::filesystem::directory_entry &e : std::filesystem::directory_iterator(making))
      if (e.path().filename() != library) std::filesystem::remove(e.path());  // nobody asks for it
  };
  return Cache(options.cache).find_or_make("models", model_key(graph, options), compile).path(library);
}

std::string default_cache_folder() {
  struct Choice {
    const char *variable, *below;
  };
  for (const Choice &c : {Choice{"SALTERN_CACHE", ""}, {"XDG_CACHE_HOME", "/saltern"}, {"HOME", "/.cache/saltern"}})
    if (const char *value = std::getenv(c.variable); value && *value) return std::string(value) + c.below;
  return "";
}

}  // namespace saltern::generators
