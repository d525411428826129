#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/json_text.h"
#include "apps/saltern/command.h"
#include "apps/saltern/loaded_model.h"
#include "apps/saltern/machine_options.h"
#include "runtime/graph/parameters.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/optimize.h"

namespace saltern {

namespace {

struct ConvertOptions {
  std::string model, output;
  ThreadOptions threads;
  bool plain = false, json = false;
};

// What was written must read as what was meant, node by node.
void check_round_trip(const Model &meant, const std::string &path) {
  const Model read = load_onnx(path);
  const auto differ = [&](const std::string &where) {
    fail(path, ": ", where, " does not come back as it was written");
  };
  if (read.graph.inputs != meant.graph.inputs || read.graph.outputs != meant.graph.outputs) differ("the interface");
  if (read.graph.nodes.size() != meant.graph.nodes.size()) differ("the number of nodes");
  for (size_t i = 0; i < read.graph.nodes.size(); ++i) {
    const Graph::Node &a = read.graph.nodes[i], &b = meant.graph.nodes[i];
    if (a.operation != b.operation || a.inputs != b.inputs || a.outputs != b.outputs) differ(describe(b));
  }
  for (const auto &[name, v] : meant.graph.values)
    if (v.constant.defined() && !is_same(Attribute(v.constant), Attribute(read.graph.value(name).constant)))
      differ("the constant '" + name + "'");
}

int run_convert(const ConvertOptions &o) {
  o.threads.use();
  const Model given = LoadedModel(o.model).onnx();
  const Model made = o.plain ? given : optimized(given);
  save_onnx(o.output, made);
  check_round_trip(made, o.output);
  const size_t before = given.graph.nodes.size(), after = made.graph.nodes.size();
  const int64_t parameters = parameter_count(made.graph);
  if (o.json) {
    const nlohmann::ordered_json row = {
        {"model", o.output}, {"nodes_before", before}, {"nodes", after}, {"parameters", parameters}};
    std::printf("%s\n", json_text(row).c_str());
  } else {
    std::printf("%s: %zu nodes (%zu before), %lld parameters\n", o.output.c_str(), after, before,
                static_cast<long long>(parameters));
  }
  return 0;
}

}  // namespace

void define_convert(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<ConvertOptions>();
  app.add_option("MODEL", o->model, "An ONNX file, or a net that was traced and saved")->required();
  app.add_option("-o,--output", o->output, "The ONNX file to write")->required();
  o->threads.add_to(app);
  app.add_flag("--plain", o->plain, "Write the model as it is, without optimising it");
  app.add_flag("--json", o->json, "One line of JSON");
  app.callback([o, &chosen] { chosen = [o] { return run_convert(*o); }; });
}

}  // namespace saltern
