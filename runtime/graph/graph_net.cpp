#include "runtime/graph/graph_net.h"

#include "runtime/autograd/state.h"
#include "runtime/graph/formula_node.h"
#include "runtime/layers/dropout.h"
#include "runtime/layers/recurrent_kernels.h"
#include "runtime/operations.h"

namespace saltern {

namespace {

const Operation run_along("run_along", [](const Values &in, const Attributes &a) -> Values {
  const double momentum = a.real("momentum");
  return {in.at(0) * momentum + in.at(1) * (1 - momentum)};
});

bool is_batch_norm(const Graph::Node &n) { return n.operation == "batch_norm" && n.inputs.size() == 5; }

}  // namespace

GraphNet::Form::Form(Graph g) : graph(std::move(g)) {
  for (const Graph::Node &n : graph.nodes)
    if (is_formula_node(n)) ++equal_formulas[key_of(n)];
}

GraphNet::FormulaKey GraphNet::Form::key_of(const Graph::Node &formula) const {
  return {formula.attributes.expression("element").get(), graph.value(formula.outputs.at(0)).shape};
}

GraphNet::GraphNet(Graph graph, const std::vector<std::string> &parameters, Graph on_tape)
    : form_(std::move(graph)), on_tape_(std::move(on_tape)) {
  const Graph &g = form_.graph;
  std::set<std::string> kernels;
  for (const Graph::Node &n : g.nodes)
    if (n.operation == "conv2d") kernels.insert(n.inputs.at(1));
  for (const std::string &name : parameters) {
    const Tensor &t = g.value(name).constant;
    if (!t.defined()) fail("a net of a graph: the parameter '", name, "' is no constant");
    const Tensor own =
        Tensor::empty(t.shape(), t.type(), kernels.count(name) ? Layout::channels_last : Layout::row_major);
    own.copy_from(t);
    parameters_.emplace(name, Variable(own, true));
  }
  for (const Graph::Node &n : g.nodes) {
    if (!is_batch_norm(n)) continue;
    const Tensor &mean = g.value(n.inputs[1]).constant, &variance = g.value(n.inputs[2]).constant;
    if (!mean.defined() || !variance.defined()) continue;
    buffers_.emplace(n.inputs[1], mean.in_layout(Layout::row_major).clone());
    buffers_.emplace(n.inputs[2], variance.in_layout(Layout::row_major).clone());
  }
  if (!has_all_of(on_tape_.graph)) on_tape_ = Form({});
}

// Whether another graph has these parameters and statistics under the same names, and no others.
bool GraphNet::has_all_of(const Graph &other) const {
  for (const auto &[name, p] : parameters_)
    if (!other.values.count(name)) return false;
  return std::all_of(other.nodes.begin(), other.nodes.end(), [&](const Graph::Node &n) {
    return !is_batch_norm(n) || (buffers_.count(n.inputs[1]) && buffers_.count(n.inputs[2])) ||
           !other.value(n.inputs[1]).constant.defined() || !other.value(n.inputs[2]).constant.defined();
  });
}

void GraphNet::visit(Visitor &v) {
  for (auto &[name, p] : parameters_) v.parameter(name, p);
  for (auto &[name, b] : buffers_) v.buffer(name, b);
}

std::vector<Variable> GraphNet::computed(const Form &form, const Graph::Node &n, const std::vector<Variable> &in) {
  if (n.operation == "dropout") return {training() ? dropout(in.at(0), n.attributes.real("probability")) : in.at(0)};
  const auto trains = [&](const std::string &i) { return buffers_.count(i) > 0 && frozen_.count(i) == 0; };
  if (is_batch_norm(n) && training() && trains(n.inputs[1]) && trains(n.inputs[2])) {
    const auto made =
        apply(operations::batch_norm_training, {in[0], in[3], in[4]}, {{"epsilon", n.attributes.real("epsilon")}});
    for (size_t i : {1, 2}) {
      const Tensor &kept = buffers_.at(n.inputs[i]);
      keep(kept, apply_one(run_along, {latest(kept), made[i]}, {{"momentum", n.attributes.real("momentum", 0.9)}}));
    }
    return {made[0]};
  }
  const Operation *operation = find_operation(n.operation);
  if (!operation) unsupported(describe(n), ": there is no such operation");
  Attributes attributes = n.attributes;
  if (is_formula_node(n)) {
    attributes.set("shape", form.graph.value(n.outputs.at(0)).shape);
    attributes.set("times", form.equal_formulas.at(form.key_of(n)));
  }
  return recurrent_states(*operation, in, attributes);
}

Variable GraphNet::output(const std::string &name, const std::vector<Variable> &inputs) {
  return run({name}, inputs)[0];
}

std::vector<Variable> GraphNet::run(const std::vector<std::string> &outputs, const std::vector<Variable> &inputs) {
  const bool is_taped = !on_tape_.graph.nodes.empty() && recording_mode() != RecordingMode::everything;
  const Form &form = is_taped ? on_tape_ : form_;
  const Graph &graph = form.graph;
  if (inputs.size() != graph.inputs.size()) fail(inputs.size(), " inputs for a graph of ", graph.inputs.size());
  std::map<std::string, Variable> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Graph::Value &v = graph.value(graph.inputs[i]);
    if (inputs[i].shape() != v.shape || inputs[i].type() != v.type)
      fail("the input '", graph.inputs[i], "' is ", facts(inputs[i].type()).name, " ", to_string(inputs[i].shape()),
           "; the graph takes ", facts(v.type).name, " ", to_string(v.shape));
    values[graph.inputs[i]] = inputs[i];
  }
  const auto needed = graph.needed_for(outputs);
  std::map<std::string, int> readers;
  for (const Graph::Node &n : graph.nodes)
    for (const std::string &i : n.inputs) ++readers[i];
  for (const std::string &name : outputs) ++readers[name];
  const auto value = [&](const std::string &i) -> Variable {
    if (const auto p = parameters_.find(i); p != parameters_.end()) return p->second;
    if (const auto b = buffers_.find(i); b != buffers_.end()) return b->second;
    const auto made = values.find(i);
    return made != values.end() ? made->second : Variable(graph.value(i).constant);
  };
  for (const Graph::Node &n : graph.nodes) {
    if (std::none_of(n.outputs.begin(), n.outputs.end(), [&](const auto &o) { return needed.count(o) > 0; })) continue;
    std::vector<Variable> in;
    for (const std::string &i : n.inputs) in.push_back(value(i));
    const std::vector<Variable> made = computed(form, n, in);
    for (size_t o = 0; o < n.outputs.size(); ++o) values[n.outputs[o]] = made.at(o);
    for (const std::string &i : n.inputs)
      if (--readers[i] == 0) values.erase(i);
  }
  std::vector<Variable> all;
  for (const std::string &name : outputs) all.push_back(value(name));
  return all;
}

void GraphNet::freeze_statistics(const std::string &buffer) {
  if (!buffers_.count(buffer)) fail("a net of a graph: no batch norm keeps '", buffer, "'");
  frozen_.insert(buffer);
}

Variable GraphNet::forward(const Variable &x) { return output(form_.graph.outputs.at(0), {x}); }

Graph GraphNet::inference() const {
  Graph graph = form_.graph;
  for (const auto &[name, p] : parameters_) graph.values.at(name).constant = p.value().clone();
  for (const auto &[name, b] : buffers_) graph.values.at(name).constant = b.clone();
  for (Graph::Node &n : graph.nodes)
    if (n.operation == "dropout")
      n = {"reshape", {{"shape", graph.value(n.outputs[0]).shape}}, {n.inputs[0]}, n.outputs};
  graph.remove_unused();
  return graph;
}

}  // namespace saltern
