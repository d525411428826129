#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/json_text.h"
#include "apps/saltern/command.h"
#include "apps/saltern/gradient_check.h"
#include "apps/saltern/loaded_model.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/model_data.h"
#include "apps/saltern/random_inputs.h"
#include "apps/saltern/table.h"
#include "runtime/graph/gradients.h"
#include "runtime/onnx/flat_values.h"

namespace saltern {

namespace {

using Names = std::vector<std::string>;
using Tensors = std::map<std::string, Tensor>;

struct GradientsOptions {
  ModelOptions model;
  std::string data;
  GradientCheck check;
  ThreadOptions threads;
  bool json = false;
};

// A model of fixed shapes, and where its gradients are looked at.
struct Subject {
  Graph graph;
  Tensors inputs;
  Names wanted, fixed;  // fixed: real inputs that shapes depend on
};

bool is_free(const Model &model, const std::string &input) {
  const Graph::Value &v = model.graph.value(input);
  return v.container == Graph::Container::tensor && has_gradient(v.type);
}

// The model with all inputs but these as constants.
Graph lowered_with(Model model, const Tensors &data, const Names &free) {
  std::map<std::string, Shape> shapes;
  for (const auto &[name, t] : data) {
    if (std::find(free.begin(), free.end(), name) != free.end()) {
      shapes[name] = t.shape();
      continue;
    }
    Graph::Value &v = model.graph.values.at(name);
    v.constant = t;
    v.shape = t.shape();
  }
  return lower_model(model, shapes);
}

// Inputs that are no real numbers are as they are given, and so are those that shapes depend on.
Subject subject_of(const LoadedModel &loaded, const Tensors &data) {
  Subject s;
  const Model model = loaded.is_onnx() ? loaded.onnx() : Model{loaded.graph()};
  if (data.empty() || !loaded.is_onnx()) {
    s.graph = loaded.is_onnx() ? lower_model(model, loaded.shapes())
                               : loaded.lowered(flat_shapes({data.begin(), data.end()}));
    s.inputs = data.empty() ? random_inputs(s.graph) : data;
    for (const std::string &name : s.graph.inputs)
      if (has_gradient(s.graph.value(name).type)) s.wanted.push_back(name);
    return s;
  }
  for (const auto &[name, t] : data)
    if (is_free(model, name)) s.wanted.push_back(name);
  try {
    s.graph = lowered_with(model, data, s.wanted);
  } catch (const Unsupported &) {
    const Names all = s.wanted;
    s.wanted.clear();
    for (const std::string &name : all) {
      Names more = s.wanted;
      more.push_back(name);
      try {
        s.graph = lowered_with(model, data, more);
        s.wanted = more;
      } catch (const Unsupported &) {
        s.fixed.push_back(name);
      }
    }
    if (s.wanted.empty()) throw;
  }
  for (const std::string &name : s.graph.inputs) s.inputs[name] = data.at(name);
  return s;
}

// Those that the file has and that are constants still.
void add_parameters(const Graph &file, Subject &s) {
  for (const auto &[name, v] : file.values) {
    const auto found = s.graph.values.find(name);
    if (v.constant.defined() && has_gradient(v.type) && found != s.graph.values.end() &&
        found->second.constant.defined())
      s.wanted.push_back(name);
  }
}

void print(const GradientsOptions &o, const std::vector<CheckedGradient> &all, const Names &fixed, bool good) {
  if (o.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const CheckedGradient &c : all)
      rows.push_back(nlohmann::ordered_json{{"value", c.name},
                                            {"shape", c.shape},
                                            {"by_gradient", c.by_gradient},
                                            {"by_differences", c.by_differences},
                                            {"error", c.error},
                                            {"verdict", to_string(c.verdict)}});
    const nlohmann::ordered_json line = {{"good", good}, {"fixed", fixed}, {"values", rows}};
    std::printf("%s\n", json_text(line).c_str());
    return;
  }
  const auto number = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", v);
    return std::string(text);
  };
  std::vector<Names> rows = {{"value", "shape", "by gradient", "by differences", "error", "verdict"}};
  for (const CheckedGradient &c : all)
    rows.push_back({c.name, to_string(c.shape), number(c.by_gradient), number(c.by_differences), number(c.error),
                    to_string(c.verdict)});
  std::printf("%s", in_columns(rows).c_str());
  for (const std::string &name : fixed) std::printf("'%s' is not varied: shapes depend on it\n", name.c_str());
  std::printf("%s: %zu gradient%s\n", good ? "good" : "bad", all.size(), all.size() == 1 ? "" : "s");
}

int run_gradients(const GradientsOptions &o) {
  o.threads.use();
  const LoadedModel model(o.model);
  Tensors data;
  if (!o.data.empty()) data = tensors_of(read_inputs(model.graph(), model.inputs(), o.data));
  Subject s = on_input([&] { return subject_of(model, data); });
  add_parameters(model.graph(), s);
  if (s.wanted.empty())
    unsupported("the model has no input and no parameter of real numbers, which alone have gradients");
  const std::vector<CheckedGradient> all =
      on_input([&] { return checked_gradients(s.graph, s.inputs, s.wanted, o.check); });
  const bool good =
      std::all_of(all.begin(), all.end(), [](const CheckedGradient &c) { return c.verdict == GradientVerdict::good; });
  print(o, all, s.fixed, good);
  return good ? 0 : 1;
}

}  // namespace

void define_gradients(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<GradientsOptions>();
  o->model.add_to(app);
  app.add_option("--inputs", o->data,
                 "Where gradients are looked at: a folder of input_0.pb, ... (or .npy), or an .npz file; without it, "
                 "inputs are random");
  app.add_option("--tolerance", o->check.tolerance,
                 "How far a derivative may be off, relatively; by default what the model's types can hold")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", o->check.seed, "Of directions, and of points to try")->capture_default_str();
  o->threads.add_to(app);
  app.add_flag("--json", o->json, "One line of JSON");
  app.footer(
      "Compares the model's gradients, as training would use them, with central differences of the model in f64, "
      "along\n"
      "random directions, for every real input and parameter. At kinks, jumps and ties, points nearby decide.\n"
      "Exit code 1 where a gradient is wrong, 3 where a node has none.\n\n"
      "  saltern gradients model.onnx\n"
      "  saltern gradients model.onnx --inputs test_data_set_0");
  app.callback([o, &chosen] {
    if (std::isnan(o->check.tolerance)) throw CLI::ValidationError("--tolerance", "is not a number");
    chosen = [o] { return run_gradients(*o); };
  });
}

}  // namespace saltern
