#include "apps/saltern/file_readers.h"

#include <filesystem>

#include "runtime/checkpoint.h"
#include "runtime/data/idx.h"
#include "runtime/data/png.h"
#include "runtime/graph/flops.h"
#include "runtime/graph/model_file.h"
#include "runtime/onnx/infer_shapes.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/run_model.h"

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

// An extent that is open has its name, or a question mark.
Json open_shape(const Graph::Value &v) {
  if (!v.ranked) return "of any rank";
  Json shape = Json::array();
  for (size_t d = 0; d < v.shape.size(); ++d) {
    const std::string symbol = d < v.symbols.size() && !v.symbols[d].empty() ? v.symbols[d] : "?";
    shape.push_back(v.shape[d] >= 0 ? Json(v.shape[d]) : Json(symbol));
  }
  return shape;
}

Json open_values(const Graph &graph, const std::vector<std::string> &names) {
  Json all = Json::array();
  for (const std::string &n : names) {
    const Graph::Value &v = graph.value(n);
    all.push_back({{"name", n}, {"type", facts(v.type).name}, {"shape", open_shape(v)}});
  }
  return all;
}

void count_operators(const Graph &graph, std::map<std::string, int64_t> &counts) {
  for (const Graph::Node &n : graph.nodes) {
    ++counts[n.domain.empty() ? n.operation : n.domain + "." + n.operation];
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) count_operators(**inner, counts);
  }
}

Json about_onnx(const std::string &path) {
  const Model model = with_inferred_shapes(load_onnx(path));
  Json opsets = Json::array(), operators = Json::array();
  for (const auto &[domain, version] : model.opsets)
    opsets.push_back({{"domain", domain.empty() ? "ai.onnx" : domain}, {"version", version}});
  std::map<std::string, int64_t> counts;
  count_operators(model.graph, counts);
  for (const auto &[name, count] : counts) operators.push_back({{"operator", name}, {"nodes", count}});
  int64_t parameters = 0;
  for (const auto &[name, v] : model.graph.values)
    if (v.constant.defined()) parameters += v.constant.size();
  Json facts = {{"kind", "onnx"},
                {"producer", model.producer},
                {"ir_version", model.ir_version},
                {"opsets", opsets},
                {"inputs", open_values(model.graph, required_inputs(model))},
                {"outputs", open_values(model.graph, model.graph.outputs)},
                {"operators", operators},
                {"nodes", model.graph.nodes.size()},
                {"parameters", parameters}};
  try {
    facts["flops"] = flops(lower_model(model));
  } catch (const Error &e) {  // shapes are open, or an operator is not supported
    facts["flops"] = nullptr;
    facts["not_lowered"] = e.what();
  }
  return facts;
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
      {{".onnx"}, about_onnx},
      {{"-ubyte", "-ubyte.gz", ".idx", ".idx.gz"}, about_idx},
      {{".png"}, about_png},
  };
  return readers;
}

}  // namespace saltern
