#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/json_text.h"
#include "apps/saltern/command.h"
#include "apps/saltern/compiled_run.h"
#include "apps/saltern/difference.h"
#include "apps/saltern/loaded_model.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/model_data.h"
#include "apps/saltern/random_inputs.h"
#include "runtime/graph/executor.h"
#include "runtime/onnx/flat_values.h"
#include "runtime/onnx/plain.h"
#include "runtime/report/progress.h"

namespace saltern {

namespace {

using Tensors = std::map<std::string, Tensor>;

struct VerifyOptions {
  ModelOptions model;
  std::string data;
  Tolerance tolerance;
  ThreadOptions threads;
  DeviceOption device;
  ConvolutionOption convolutions;
  bool layers = false, plain = false, no_compiled = false, json = false;
};

// Every value that a node makes is an output, but for what nobody reads, which is not computed: positions of maxima.
Graph with_all_outputs(Graph graph) {
  std::set<std::string> read(graph.outputs.begin(), graph.outputs.end());
  for (const Graph::Node &n : graph.nodes) read.insert(n.inputs.begin(), n.inputs.end());
  graph.outputs.clear();
  for (const Graph::Node &n : graph.nodes)
    for (const std::string &o : n.outputs)
      if (graph.value(o).type != Type::text && read.count(o)) graph.outputs.push_back(o);
  return graph;
}

class Comparisons {
 public:
  explicit Comparisons(const Tolerance &tolerance) : tolerance_(tolerance) {}

  // In the order of `names`; what one of both has not is no difference, unless it is expected.
  void add(const std::string &paths, const Graph &graph, const std::vector<std::string> &names, const Tensors &wanted,
           const Tensors &got) {
    for (const std::string &name : names) {
      if (!wanted.count(name) || !got.count(name)) continue;
      Difference d = compared(wanted.at(name), got.at(name), tolerance_);
      d.value = name;
      d.paths = paths;
      if (const Graph::Node *n = graph.producer(name)) d.operation = n->operation;
      all_.push_back(std::move(d));
    }
  }

  // The parts of a sequence are compared one by one.
  void add_expected(const Graph &graph, const HostValues &expected, const Tensors &made) {
    const Tensors wanted = flat_tensors(expected);
    std::vector<std::string> names;
    for (const auto &[name, t] : wanted) {
      names.push_back(name);
      if (!made.count(name)) throw BadInput("'" + name + "' is expected, and the model does not make it");
    }
    add("expected, library", graph, names, wanted, made);
  }

  const std::vector<Difference> &all() const { return all_; }
  const Difference *first() const {
    for (const Difference &d : all_)
      if (d.wrong > 0) return &d;
    return nullptr;
  }

 private:
  Tolerance tolerance_;
  std::vector<Difference> all_;
};

Tensors run_plain(const Graph &graph, const Tensors &inputs) {
  Progress bar("plain formulas", static_cast<int64_t>(graph.nodes.size()));
  int64_t done = 0;
  RunHooks hooks;
  hooks.compute = compute_plainly;
  hooks.done = [&](const Graph::Node &n) { bar.update(++done, n.operation); };
  Tensors made = saltern::run(graph, inputs, hooks);
  // What a kernel computed here too would only be compared with itself.
  for (const Graph::Node &n : graph.nodes)
    if (!has_plain_form(graph, n)) made.erase(n.outputs[0]);
  return made;
}

// Kernels and formulas against each other, on a graph of fixed shapes.
void compare_paths(const VerifyOptions &o, const LoadedModel &model, const HostValues &given,
                   const HostValues &expected, Comparisons &comparisons) {
  const Graph graph = model.lowered(flat_shapes(given)), inside = o.layers ? with_all_outputs(graph) : graph;
  const Tensors inputs = o.data.empty() ? random_inputs(graph) : flat_tensors(given);
  const Tensors library = on_input([&] { return saltern::run(inside, inputs); });
  // The graph was optimised: node by node, the model runs as its file says, but that integers are summed as integers. Sums in
  // f32 end a step away now and then, which the next layers make more of.
  if (model.is_onnx())
    comparisons.add("node by node, library", graph, graph.asked(),
                    flat_tensors(model.run_in_integers(unflattened(model.graph(), model.inputs(), inputs))), library);
  if (o.plain) comparisons.add("plain, library", graph, inside.asked(), run_plain(inside, inputs), library);
  if (!o.no_compiled && o.layers)
    comparisons.add("library, exact", graph, inside.asked(), library,
                    compiled_here(inside, threads(), o.convolutions).run(inputs));
  if (!o.device.is_cpu()) {
    const UseDevice device = o.device.use();
    comparisons.add("library, " + o.device.name, graph, inside.asked(), library, saltern::run(inside, inputs));
  }
  // Layers by themselves are not fused: what runs in the end is compared, too.
  if (!o.no_compiled)
    comparisons.add(o.layers ? "library, exact and fused" : "library, exact", graph, graph.asked(), library,
                    compiled_here(graph, threads(), o.convolutions).run(inputs));
  if (!o.data.empty()) comparisons.add_expected(graph, expected, library);
}

void print(const VerifyOptions &o, const Comparisons &comparisons) {
  const Difference *first = comparisons.first();
  if (o.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Difference &d : comparisons.all()) rows.push_back(to_json(d));
    const nlohmann::ordered_json line = {
        {"good", first == nullptr}, {"first_difference", first ? first->value : ""}, {"values", rows}};
    std::printf("%s\n", json_text(line).c_str());
    return;
  }
  std::printf("%s", table(comparisons.all()).c_str());
  const size_t count = comparisons.all().size();
  if (first)
    std::printf("%s\n", sentence(*first).c_str());
  else
    std::printf("good: %zu comparison%s\n", count, count == 1 ? "" : "s");
}

int run_verify(const VerifyOptions &o) {
  o.threads.use();
  const LoadedModel model(o.model);
  HostValues inputs, expected;
  if (!o.data.empty()) {
    inputs = read_inputs(model.graph(), model.inputs(), o.data);
    expected = read_expected_outputs(model.graph(), o.data);
  }
  Comparisons comparisons(o.tolerance);
  const bool node_by_node = o.no_compiled && !o.plain && o.device.is_cpu();
  if (node_by_node && o.layers)
    throw BadInput("there is nothing to compare the layers with: give --plain, --device, or not --no-compiled");
  if (node_by_node && o.data.empty())
    throw BadInput("there is nothing to compare with: give DATA, --plain, --device, or not --no-compiled");
  if (node_by_node)
    comparisons.add_expected(model.graph(), expected, flat_tensors(model.run(inputs)));
  else
    compare_paths(o, model, inputs, expected, comparisons);
  if (comparisons.all().empty())
    throw BadInput("nothing was compared: no value has two ways to be computed; give DATA with expected outputs");
  print(o, comparisons);
  return comparisons.first() ? 1 : 0;
}

}  // namespace

void define_verify(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<VerifyOptions>();
  o->model.add_to(app);
  app.add_option("DATA", o->data,
                 "Inputs and expected outputs: a folder of input_0.pb, ... and output_0.pb, ... (or .npy), or an .npz "
                 "file; without it, inputs are random");
  app.add_option("--rtol", o->tolerance.relative,
                 "How far a value may be off, relative to what is expected there, or typically")
      ->capture_default_str();
  app.add_option("--atol", o->tolerance.absolute, "And absolutely")->capture_default_str();
  app.add_flag("--layers", o->layers, "Compare every value inside the model, and say where the first difference is");
  app.add_flag("--plain", o->plain, "Compare with plain formulas, evaluated without any kernel: slow, and sure");
  app.add_flag("--no-compiled", o->no_compiled, "Do not compile the model");
  o->convolutions.add_to(app)->excludes("--no-compiled");
  o->device.add_to(app);
  o->threads.add_to(app);
  app.add_flag("--json", o->json, "One line of JSON");
  app.footer(
      "Runs the model node by node as the file has it, optimised with library kernels, and with exact compiled ones,\n"
      "and on a device if told, and compares all, and what is expected.\n"
      "Exit code 1 where they differ.\n\n"
      "  saltern verify model.onnx test_data_set_0\n"
      "  saltern verify model.onnx --plain --layers\n"
      "  saltern verify model.onnx --device opencl");
  app.callback([o, &chosen] { chosen = [o] { return run_verify(*o); }; });
}

}  // namespace saltern
