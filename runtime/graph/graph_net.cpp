#include "runtime/graph/graph_net.h"

#include "runtime/autograd/state.h"
#include "runtime/graph/formula_node.h"
#include "runtime/layers/dropout.h"
#include "runtime/operations.h"

namespace saltern {

namespace {

const Operation run_along("run_along", [](const Values &in, const Attributes &a) -> Values {
  const double momentum = a.real("momentum");
  return {in.at(0) * momentum + in.at(1) * (1 - momentum)};
});

bool is_batch_norm(const Graph::Node &n) { return n.operation == "batch_norm" && n.inputs.size() == 5; }

}  // namespace

GraphNet::GraphNet(Graph graph, const std::vector<std::string> &parameters) : graph_(std::move(graph)) {
  std::set<std::string> kernels;
  for (const Graph::Node &n : graph_.nodes)
    if (n.operation == "conv2d") kernels.insert(n.inputs.at(1));
  for (const std::string &name : parameters) {
    const Tensor &t = graph_.value(name).constant;
    if (!t.defined()) fail("a net of a graph: the parameter '", name, "' is no constant");
    const Tensor own =
        Tensor::empty(t.shape(), t.type(), kernels.count(name) ? Layout::channels_last : Layout::row_major);
    own.copy_from(t);
    parameters_.emplace(name, Variable(own, true));
  }
  for (const Graph::Node &n : graph_.nodes)
    if (is_formula_node(n)) ++equal_formulas_[formula_key(n)];
  for (const Graph::Node &n : graph_.nodes) {
    if (!is_batch_norm(n)) continue;
    const Tensor &mean = graph_.value(n.inputs[1]).constant, &variance = graph_.value(n.inputs[2]).constant;
    if (!mean.defined() || !variance.defined()) continue;
    buffers_.emplace(n.inputs[1], mean.in_layout(Layout::row_major).clone());
    buffers_.emplace(n.inputs[2], variance.in_layout(Layout::row_major).clone());
  }
}

GraphNet::FormulaKey GraphNet::formula_key(const Graph::Node &n) const {
  return {n.attributes.expression("element").get(), graph_.value(n.outputs.at(0)).shape};
}

void GraphNet::visit(Visitor &v) {
  for (auto &[name, p] : parameters_) v.parameter(name, p);
  for (auto &[name, b] : buffers_) v.buffer(name, b);
}

std::vector<Variable> GraphNet::computed(const Graph::Node &n, const std::vector<Variable> &in) {
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
    attributes.set("shape", graph_.value(n.outputs.at(0)).shape);
    attributes.set("times", equal_formulas_.at(formula_key(n)));
  }
  return apply(*operation, in, attributes);
}

Variable GraphNet::output(const std::string &name, const std::vector<Variable> &inputs) {
  return run({name}, inputs)[0];
}

std::vector<Variable> GraphNet::run(const std::vector<std::string> &outputs, const std::vector<Variable> &inputs) {
  if (inputs.size() != graph_.inputs.size()) fail(inputs.size(), " inputs for a graph of ", graph_.inputs.size());
  std::map<std::string, Variable> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Graph::Value &v = graph_.value(graph_.inputs[i]);
    if (inputs[i].shape() != v.shape || inputs[i].type() != v.type)
      fail("the input '", graph_.inputs[i], "' is ", facts(inputs[i].type()).name, " ", to_string(inputs[i].shape()),
           "; the graph takes ", facts(v.type).name, " ", to_string(v.shape));
    values[graph_.inputs[i]] = inputs[i];
  }
  const auto needed = graph_.needed_for(outputs);
  std::map<std::string, int> readers;
  for (const Graph::Node &n : graph_.nodes)
    for (const std::string &i : n.inputs) ++readers[i];
  for (const std::string &name : outputs) ++readers[name];
  const auto value = [&](const std::string &i) -> Variable {
    if (const auto p = parameters_.find(i); p != parameters_.end()) return p->second;
    if (const auto b = buffers_.find(i); b != buffers_.end()) return b->second;
    const auto made = values.find(i);
    return made != values.end() ? made->second : Variable(graph_.value(i).constant);
  };
  for (const Graph::Node &n : graph_.nodes) {
    if (std::none_of(n.outputs.begin(), n.outputs.end(), [&](const auto &o) { return needed.count(o) > 0; })) continue;
    std::vector<Variable> in;
    for (const std::string &i : n.inputs) in.push_back(value(i));
    const std::vector<Variable> made = computed(n, in);
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

Variable GraphNet::forward(const Variable &x) { return output(graph_.outputs.at(0), {x}); }

Graph GraphNet::inference() const {
  Graph graph = graph_;
  for (const auto &[name, p] : parameters_) graph.values.at(name).constant = p.value().clone();
  for (const auto &[name, b] : buffers_) graph.values.at(name).constant = b.clone();
  for (Graph::Node &n : graph.nodes)
    if (n.operation == "dropout")
      n = {"reshape", {{"shape", graph.value(n.outputs[0]).shape}}, {n.inputs[0]}, n.outputs};
  graph.remove_unused();
  return graph;
}

}  // namespace saltern
