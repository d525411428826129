#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltern/command.h"
#include "apps/saltern/compiled_run.h"
#include "apps/saltern/model_data.h"
#include "apps/saltern/model_options.h"
#include "apps/saltern/random_inputs.h"
#include "runtime/graph/executor.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/tensor_proto.h"
#include "runtime/thread_pool.h"

namespace saltern {

namespace {

namespace fs = std::filesystem;
using Tensors = std::map<std::string, Tensor>;

struct Options {
  ModelOptions model;
  std::string data;
  double rtol = 1e-3, atol = 1e-5;
  int threads = 0;
  bool layers = false, no_compiled = false, json = false;
};

struct Difference {
  std::string value, paths;
  int64_t wrong = 0, elements = 0;
  double largest = 0;
  bool fits = true;  // type and shape
};

Difference compared(const std::string &name, const std::string &paths, const Tensor &want, const Tensor &got,
                    const Options &o) {
  Difference d{name, paths};
  d.elements = want.size();
  if (want.type() != got.type() || want.shape() != got.shape()) {
    d.fits = false;
    d.wrong = d.elements;
    return d;
  }
  const std::vector<double> a = want.reals(), b = got.reals();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double off = std::fabs(a[i] - b[i]);
    d.largest = std::isnan(off) ? INFINITY : std::max(d.largest, off);
    if (!(off <= o.atol + o.rtol * std::fabs(a[i]))) ++d.wrong;
  }
  return d;
}

Tensors expected_outputs(const Graph &graph, const std::string &folder) {
  Tensors all;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string path = folder + "/output_" + std::to_string(i) + ".pb";
    if (fs::exists(path)) all[graph.outputs[i]] = read_value_file(path, Graph::Container::tensor).tensor();
  }
  if (all.empty()) throw BadInput(folder + " has no output_0.pb, output_1.pb, ...");
  return all;
}

// Every value that a node makes is an output.
Graph with_all_outputs(Graph graph) {
  graph.outputs.clear();
  for (const Graph::Node &n : graph.nodes)
    for (const std::string &o : n.outputs)
      if (graph.value(o).type != Type::text) graph.outputs.push_back(o);
  return graph;
}

void print(const Difference &d) {
  if (!d.fits)
    std::printf("%-40s %-22s another type or shape\n", d.value.c_str(), d.paths.c_str());
  else
    std::printf("%-40s %-22s largest difference %.3g, %lld of %lld elements too far\n", d.value.c_str(),
                d.paths.c_str(), d.largest, static_cast<long long>(d.wrong), static_cast<long long>(d.elements));
}

int run(const Options &o) {
  if (o.threads > 0) set_threads(o.threads);
  ModelOptions with_shapes = o.model;
  Tensors inputs;
  if (!o.data.empty() && is_onnx(o.model.path)) {
    const Model model = on_input([&] { return load_onnx(o.model.path); });
    for (const auto &[name, v] : on_input([&] { return read_inputs(model, o.data); })) inputs[name] = v.tensor();
    for (const auto &[name, t] : inputs) {
      std::string shape;
      for (int64_t e : t.shape()) shape += (shape.empty() ? "" : ",") + std::to_string(e);
      with_shapes.shapes.push_back(name + "=" + shape);
    }
  }
  const Graph given = with_shapes.graph(), graph = o.layers ? with_all_outputs(given) : given;
  if (inputs.empty()) inputs = random_inputs(given);

  std::vector<Difference> differences;
  const Tensors library = saltern::run(graph, inputs);
  const auto compare = [&](const std::string &paths, const Tensors &want, const Tensors &got) {
    for (const std::string &name : graph.outputs)
      if (want.count(name) && got.count(name))
        differences.push_back(compared(name, paths, want.at(name), got.at(name), o));
  };
  if (!o.data.empty()) compare("expected, library", expected_outputs(given, o.data), library);
  if (!o.no_compiled) compare("library, exact", library, CompiledGraph(graph, threads()).run(inputs));

  const Difference *first = nullptr;
  for (const Difference &d : differences)
    if (d.wrong > 0 && !first) first = &d;
  if (o.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Difference &d : differences)
      rows.push_back({{"value", d.value},
                      {"paths", d.paths},
                      {"largest_difference", d.largest},
                      {"wrong", d.wrong},
                      {"elements", d.elements}});
    const nlohmann::ordered_json line = {
        {"good", first == nullptr}, {"first_difference", first ? first->value : ""}, {"values", rows}};
    std::printf("%s\n", line.dump().c_str());
  } else {
    for (const Difference &d : differences) print(d);
    if (first)
      std::printf("differs, first at '%s' (%s)\n", first->value.c_str(), first->paths.c_str());
    else
      std::printf("good: %zu comparison%s\n", differences.size(), differences.size() == 1 ? "" : "s");
  }
  return first ? 1 : 0;
}

}  // namespace

void define_verify(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<Options>();
  o->model.add_to(app);
  app.add_option("DATA", o->data,
                 "A folder of input_0.pb, ... and expected output_0.pb, ...; without it, random inputs");
  app.add_option("--rtol", o->rtol, "How far a value may be off, relative to what is expected")->capture_default_str();
  app.add_option("--atol", o->atol, "And absolutely")->capture_default_str();
  app.add_flag("--layers", o->layers, "Compare every value inside the model, and say where the first difference is");
  app.add_flag("--no-compiled", o->no_compiled, "Compare with expected outputs only");
  app.add_option("--threads", o->threads, "Threads to run on; by default, one a core")->check(CLI::Range(1, 256));
  app.add_flag("--json", o->json, "One line of JSON");
  app.footer(
      "Runs the model with library kernels and with exact compiled ones, and compares both, and what is expected.\n"
      "Exit code 1 where they differ.");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace saltern
