#include "apps/saltern/file_readers.h"

#include <filesystem>

#include "runtime/checkpoint.h"
#include "runtime/data/idx.h"
#include "runtime/data/png.h"
#include "runtime/graph/flops.h"
#include "runtime/graph/model_file.h"

namespace saltern {

namespace {

using Json = nlohmann::ordered_json;

Json about(const std::string &name, Type type, const Shape &shape) {
  return {{"name", name}, {"type", facts(type).name}, {"shape", shape}};
}

Json values(const Graph &graph, const std::vector<std::string> &names) {
  Json all = Json::array();
  for (const std::string &n : names) all.push_back(about(n, graph.value(n).type, graph.value(n).shape));
  return all;
}

Json tensors(const std::map<std::string, Tensor> &named, int64_t &parameters) {
  Json all = Json::array();
  parameters = 0;
  for (const auto &[name, t] : named) {
    all.push_back(about(name, t.type(), t.shape()));
    parameters += t.size();
  }
  return all;
}

Json about_model(const std::string &path) {
  const Graph graph = load_model(path);
  std::map<std::string, Tensor> constants;
  for (const auto &[name, v] : graph.values)
    if (v.constant.defined()) constants[name] = v.constant;
  Json nodes = Json::array();
  for (const Graph::Node &n : graph.nodes) {
    const Graph::Value &made = graph.value(n.outputs.front());
    nodes.push_back({{"operation", n.operation}, {"type", facts(made.type).name}, {"shape", made.shape}});
  }
  int64_t parameters;
  const Json weights = tensors(constants, parameters);
  return {{"kind", "model"},
          {"inputs", values(graph, graph.inputs)},
          {"outputs", values(graph, graph.outputs)},
          {"nodes", nodes},
          {"tensors", weights},
          {"parameters", parameters},
          {"flops", flops(graph)}};
}

// A model, or tensors alone.
Json about_safetensors(const std::string &path) {
  const Checkpoint checkpoint = load_checkpoint(path);
  if (holds_model(checkpoint)) return about_model(path);
  int64_t parameters;
  const Json named = tensors(checkpoint.tensors, parameters);
  Json metadata = Json::array();
  for (const auto &[key, value] : checkpoint.metadata) metadata.push_back({{"key", key}, {"value", value}});
  return {{"kind", "tensors"}, {"tensors", named}, {"parameters", parameters}, {"metadata", metadata}};
}

Json about_idx(const std::string &path) {
  const Tensor t = read_idx(path);
  return {{"kind", "idx"}, {"type", facts(t.type()).name}, {"shape", t.shape()}};
}

Json about_png(const std::string &path) {
  const Tensor t = read_png(path);
  return {{"kind", "png"}, {"width", t.extent(1)}, {"height", t.extent(0)}, {"channels", t.extent(2)}};
}

}  // namespace

const std::vector<FileReader> &file_readers() {
  static const std::vector<FileReader> readers = {
      {{".safetensors"}, about_safetensors},
      {{"-ubyte", "-ubyte.gz", ".idx", ".idx.gz"}, about_idx},
      {{".png"}, about_png},
  };
  return readers;
}

}  // namespace saltern
