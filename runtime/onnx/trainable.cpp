#include "runtime/onnx/trainable.h"

#include <algorithm>
#include <set>

#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/optimize.h"
#include "runtime/onnx/run_model.h"

namespace saltern {

namespace {

using Names = std::set<std::string>;

// Operators whose inputs from this one on are options: numbers that say what is done, and no weights.
struct Options {
  const char *operation;
  size_t from;
};
constexpr Options options[] = {{"BatchNormalization", 3},
                               {"Clip", 1},
                               {"Dropout", 1},
                               {"DequantizeLinear", 0},
                               {"OneHot", 0},
                               {"Pad", 1},
                               {"Pow", 1},
                               {"QuantizeLinear", 1},
                               {"Range", 0},
                               {"Resize", 1},
                               {"RoiAlign", 1},
                               {"Upsample", 1}};

void add_options(const Graph &graph, Names &found) {
  for (const Graph::Node &n : graph.nodes) {
    for (const Options &o : options)
      if (n.operation == o.operation)
        for (size_t i = o.from; i < n.inputs.size(); ++i) found.insert(n.inputs[i]);
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) add_options(**inner, found);
  }
}

bool is_weight(const Tensor &t) { return t.defined() && t.type() == Type::f32 && t.rank() > 0 && t.size() > 1; }

bool is_read(const Graph &graph, const std::string &name) { return !name.empty() && graph.uses(name) > 0; }

// BatchNormalization as it is where it is evaluated, which leaves training to the net, and other operators of which training
// has its own.
void make_trainable(Graph &graph) {
  for (Graph::Node &n : graph.nodes) {
    if (!n.domain.empty() && n.domain != "ai.onnx") continue;
    const bool norm = n.operation == "BatchNormalization";
    if (!norm && n.operation != "Conv" && n.operation != "Dropout" && n.operation != "Relu") continue;
    for (size_t o = 1; o < n.outputs.size(); ++o)
      if (is_read(graph, n.outputs[o]))
        unsupported(describe(n), ": its output '", n.outputs[o], "' is read, which training has not");
    n.outputs.resize(1);
    if (norm) n.attributes.set("training_mode", int64_t{0});
    n.domain = training_domain;
  }
}

// Says so of recurrent layers, if there are any.
bool keep_whole(Graph &graph) {
  bool found = false;
  for (Graph::Node &n : graph.nodes) {
    if (n.operation != "LSTM" || (!n.domain.empty() && n.domain != "ai.onnx")) continue;
    n.domain = training_domain;
    found = true;
  }
  return found;
}

void set_batch(Model &model, std::map<std::string, Shape> &shapes, int64_t batch) {
  for (const std::string &name : required_inputs(model)) {
    Graph::Value &v = model.graph.values.at(name);
    if (v.container != Graph::Container::tensor) unsupported("training: the input '", name, "' is no tensor");
    Shape &shape = shapes.emplace(name, v.shape).first->second;
    if (!v.ranked && shape.empty()) fail("the shape of the input '", name, "' is open: give one");
    if (shape.empty()) fail("training: the input '", name, "' has no dimension for the batch");
    shape[0] = batch;
    v.shape = shape;
    v.ranked = true;
    for (size_t d = 0; d < v.symbols.size() && d < shape.size(); ++d)
      if (shape[d] >= 0) v.symbols[d].clear();
  }
}

constexpr struct {
  const char *operation, *operators;
} last_operators[] = {{"softmax", "Softmax"}, {"log_softmax", "LogSoftmax"}, {"sigmoid", "Sigmoid"}};

}  // namespace

TrainableModel trainable(Model model, std::map<std::string, Shape> shapes, int64_t batch) {
  model = without_constant_inputs(std::move(model));
  TrainableModel made;
  set_batch(model, shapes, batch);
  Graph &g = model.graph;
  if (g.outputs.empty()) fail("training: the model has no output");
  if (const Graph::Node *last = g.producer(g.outputs[0]))
    for (const auto &row : last_operators)
      if (last->operation == row.operators && last->domain.empty()) {
        made.last_operator = last->operation;
        made.before_last = last->inputs.at(0);
        made.last_axis = last->attributes.integer("axis", model.opset() < 13 ? 1 : -1);
      }
  made.outputs = g.outputs;
  if (!made.last_operator.empty() && !g.is_output(made.before_last)) g.outputs.push_back(made.before_last);
  make_trainable(g);
  model.opsets[training_domain] = model.opset();
  for (ModelFunction &f : model.functions) {
    make_trainable(f.body);
    f.opsets[training_domain] = f.opsets.count("") ? f.opsets.at("") : model.opset();
  }
  Names fixed;
  add_options(g, fixed);
  std::map<std::string, Tensor> weights;
  for (auto &[name, v] : g.values) {
    if (!is_weight(v.constant) || fixed.count(name)) continue;
    weights[name] = v.constant;
    v.shape = v.constant.shape();
    v.constant = {};
  }
  for (const auto &[name, t] : weights)
    if (std::find(g.inputs.begin(), g.inputs.end(), name) == g.inputs.end()) g.inputs.push_back(name);
  const auto lowered = [&] {
    Graph graph = lower_model(model, shapes);
    auto &inputs = graph.inputs;
    for (const auto &[name, t] : weights) {
      inputs.erase(std::remove(inputs.begin(), inputs.end(), name), inputs.end());
      graph.values.at(name).constant = t;
    }
    return graph;
  };
  made.graph = lowered();
  for (const auto &[name, t] : weights)
    if (made.graph.uses(name) > 0) made.parameters.push_back(name);
  made.graph.remove_unused();
  if (keep_whole(g)) {
    made.on_tape = lowered();
    made.on_tape.remove_unused();
  }
  return made;
}

TrainableModel trainable(const Graph &net) {
  TrainableModel made = {net, {}, {}, net.outputs, "", "", 0};
  if (const Graph::Node *last = net.producer(net.outputs.at(0)))
    for (const auto &row : last_operators)
      if (last->operation == row.operation) {
        made.last_operator = row.operators;
        made.before_last = last->inputs.at(0);
        made.last_axis = last->attributes.integer("axis", -1);
      }
  if (!made.last_operator.empty() && !net.is_output(made.before_last)) made.graph.outputs.push_back(made.before_last);
  Names fixed;
  for (const Graph::Node &n : net.nodes)
    if (n.operation == "batch_norm") fixed.insert({n.inputs.at(1), n.inputs.at(2)});
  for (const auto &[name, v] : net.values)
    if (is_weight(v.constant) && !fixed.count(name)) made.parameters.push_back(name);
  return made;
}

}  // namespace saltern
