#include "apps/saltern/file_readers.h"

#include <algorithm>

#include "apps/saltern/loaded_model.h"
#include "apps/saltern/value_facts.h"
#include "generators/model/model_plan.h"
#include "runtime/data/idx.h"
#include "runtime/data/jpeg.h"
#include "runtime/graph/flops.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/parameters.h"
#include "runtime/onnx/infer_shapes.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/run_model.h"
#include "runtime/tensor/checkpoint.h"
#include "runtime/tensor/npy.h"
#include "runtime/tensor/npz.h"

namespace saltern {

namespace {

using Json = nlohmann::ordered_json;

Json tensors(const std::map<std::string, Tensor> &named, int64_t &parameters) {
  Json all = Json::array();
  parameters = 0;
  for (const auto &[name, t] : named) {
    all.push_back(value_facts(name, t.type(), t.shape()));
    if (holds_parameters(t)) parameters += t.size();
  }
  return all;
}

// What the model compiles to, as far as it can be.
void add_plan(const Graph &graph, Json &facts) {
  constexpr size_t most = 5;
  try {
    generators::ModelPlan plan = generators::plan_model(graph);
    facts["weights_bytes"] = plan.weights_bytes;
    facts["workspace_bytes"] = plan.workspace_bytes;
    if (plan.state_bytes > 0) facts["state_bytes"] = plan.state_bytes;
    facts["steps"] = plan.steps.size();
    facts["kernels"] = plan.kernels;
    std::stable_sort(
        plan.steps.begin(), plan.steps.end(),
        [](const generators::PlannedStep &a, const generators::PlannedStep &b) { return a.bytes > b.bytes; });
    plan.steps.resize(std::min(plan.steps.size(), most));
    Json largest = Json::array();
    for (const generators::PlannedStep &s : plan.steps)
      largest.push_back({{"name", s.value}, {"shape", s.shape}, {"bytes", s.bytes}});
    facts["largest_values"] = largest;
  } catch (const Error &e) {
    facts["not_compiled"] = e.what();
  }
}

// What it gives and what that costs, for the shapes that the options give; false where these are not all, or an
// operator is not supported.
bool add_costs(const LoadedModel &loaded, const LoweringLimits &limits, Json &facts) {
  try {
    const Graph graph = loaded.lowered({}, limits);
    facts["outputs"] = value_facts(graph, loaded.graph().asked());
    facts["flops"] = flops(graph);
    add_plan(graph, facts);
    return true;
  } catch (const Error &e) {
    if (!loaded.shapes().empty()) throw;
    facts["flops"] = nullptr;
    facts["not_lowered"] = e.what();
    return false;
  }
}

Json about_model(const ModelOptions &o) {
  const LoadedModel loaded(o);
  const Graph &graph = loaded.graph();
  std::map<std::string, Tensor> constants;
  for (const auto &[name, v] : graph.values)
    if (v.constant.defined()) constants[name] = v.constant;
  Json nodes = Json::array();
  for (const Graph::Node &n : graph.nodes) {
    const Json made = value_facts(graph, {n.outputs.front()})[0];
    nodes.push_back({{"operation", n.operation}, {"type", made["type"]}, {"shape", made["shape"]}});
  }
  int64_t parameters;
  const Json weights = tensors(constants, parameters);
  Json facts = {{"kind", "model"},
                {"inputs", value_facts(graph, graph.given())},
                {"outputs", value_facts(graph, graph.asked())},
                {"nodes", nodes},
                {"tensors", weights},
                {"parameters", parameters}};
  std::vector<std::string> state;
  for (const Graph::State &s : graph.state) state.push_back(s.value);
  if (!state.empty()) facts["state"] = value_facts(graph, state);
  add_costs(loaded, {}, facts);
  return facts;
}

// A model, or tensors alone.
Json about_safetensors(const ModelOptions &o) {
  const Checkpoint checkpoint = load_checkpoint(o.path);
  if (holds_model(checkpoint)) return about_model(o);
  if (!o.shapes.empty() || !o.constants.empty()) fail(o.path, " is no model: --shape and --constant are for models");
  int64_t parameters;
  const Json named = tensors(checkpoint.tensors, parameters);
  Json metadata = Json::array();
  for (const auto &[key, value] : checkpoint.metadata) metadata.push_back({{"key", key}, {"value", value}});
  return {{"kind", "tensors"}, {"tensors", named}, {"parameters", parameters}, {"metadata", metadata}};
}

void count_operators(const Graph &graph, std::map<std::string, int64_t> &counts) {
  for (const Graph::Node &n : graph.nodes) {
    ++counts[n.domain.empty() ? n.operation : n.domain + "." + n.operation];
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) count_operators(**inner, counts);
  }
}

Json about_onnx(const ModelOptions &o) {
  const LoadedModel loaded(o);
  const Model model = loaded.onnx();
  Json opsets = Json::array(), operators = Json::array();
  for (const auto &[domain, version] : model.opsets)
    opsets.push_back({{"domain", domain.empty() ? "ai.onnx" : domain}, {"version", version}});
  std::map<std::string, int64_t> counts;
  count_operators(model.graph, counts);
  for (const auto &[name, count] : counts) operators.push_back({{"operator", name}, {"nodes", count}});
  Json facts = {{"kind", "onnx"},
                {"producer", model.producer},
                {"ir_version", model.ir_version},
                {"opsets", opsets},
                {"inputs", value_facts(model.graph, required_inputs(model))},
                {"outputs", nullptr},
                {"operators", operators},
                {"nodes", model.graph.nodes.size()},
                {"parameters", parameter_count(model.graph)}};
  if (!add_costs(loaded, quick_limits(model), facts))
    facts["outputs"] = value_facts(with_inferred_shapes(model).graph, model.graph.outputs);
  return facts;
}

Json about_idx(const ModelOptions &o) {
  const Tensor t = read_idx(o.path);
  return {{"kind", "idx"}, {"type", facts(t.type()).name}, {"shape", t.shape()}};
}

Json about_picture(const ModelOptions &o, const char *kind) {
  const Tensor t = read_picture(o.path);
  return {{"kind", kind}, {"width", t.extent(1)}, {"height", t.extent(0)}, {"channels", t.extent(2)}};
}

Json about_npy(const ModelOptions &o) {
  const Tensor t = read_npy(o.path);
  return {{"kind", "npy"}, {"type", facts(t.type()).name}, {"shape", t.shape()}};
}

Json about_npz(const ModelOptions &o) {
  Json arrays = Json::array();
  int64_t all = 0;
  NpzOptions options;
  options.wants = [&](const std::string &name, Type type, const Shape &shape) {
    arrays.push_back(value_facts(name, type, shape));
    all += elements(shape);
    return false;  // the headers say it all
  };
  read_npz(o.path, options);
  return {{"kind", "npz"}, {"arrays", arrays}, {"elements", all}};
}

}  // namespace

const std::vector<FileReader> &file_readers() {
  static const std::vector<FileReader> readers = {
      {FileKind::safetensors, {".safetensors"}, about_safetensors, true},
      {FileKind::other, {".onnx"}, about_onnx, true},
      {FileKind::idx, {"-ubyte", ".idx"}, about_idx},
      {FileKind::gzip, {"-ubyte.gz", ".idx.gz"}, about_idx},
      {FileKind::png, {".png"}, [](const ModelOptions &o) { return about_picture(o, "png"); }},
      {FileKind::jpeg, {".jpg", ".jpeg"}, [](const ModelOptions &o) { return about_picture(o, "jpeg"); }},
      {FileKind::npy, {".npy"}, about_npy},
      {FileKind::zip, {".npz"}, about_npz},
  };
  return readers;
}

}  // namespace saltern
