#include "runtime/graph/gradients.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "runtime/autograd/backward.h"
#include "runtime/graph/formula_node.h"
#include "runtime/graph/trace.h"
#include "runtime/operations.h"

namespace saltern {

namespace {

const Operation &differentiable(const Graph::Node &node) {
  const Operation *operation = find_operation(node.operation);
  if (!operation)
    unsupported(describe(node), " has no gradient: it is no operation that this program knows, nor a formula");
  if (!operation->gradient) unsupported(describe(node), " has no gradient: there is no rule for it");
  return *operation;
}

// The graph's values as outlines, and those that lie between the wanted and the loss as steps of a tape.
class Outlined {
 public:
  Outlined(const Graph &graph, const std::string &loss, const std::vector<std::string> &wanted) : graph_(graph) {
    const std::set<std::string> sources(wanted.begin(), wanted.end());
    for (const auto &[name, v] : graph.values)
      if (v.constant.defined()) add_leaf(name, sources.count(name) > 0);
    for (const std::string &name : graph.inputs) add_leaf(name, sources.count(name) > 0);
    const auto needed = graph.needed_for({loss});
    const auto is_needed = [&](const std::string &o) { return needed.count(o) > 0; };
    const auto requires_gradient = [&](const std::string &i) { return of(i).requires_gradient(); };
    for (const Graph::Node &node : graph.nodes) {
      const bool between = std::any_of(node.outputs.begin(), node.outputs.end(), is_needed) &&
                           std::any_of(node.inputs.begin(), node.inputs.end(), requires_gradient);
      if (between)
        add_step(node);
      else
        for (const std::string &o : node.outputs) add_leaf(o, false);
    }
  }

  const Variable &of(const std::string &name) const { return all_.at(place_.at(name)).second; }
  const NamedVariables &all() const { return all_; }

 private:
  void add(const std::string &name, const Variable &v) {
    place_[name] = all_.size();
    all_.emplace_back(name, v);
  }

  void add_leaf(const std::string &name, bool requires_gradient) {
    const Graph::Value &v = graph_.value(name);
    add(name, Variable(Tensor::outline(v.shape, v.type), requires_gradient));
  }

  void add_step(const Graph::Node &node) {
    Attributes attributes = node.attributes;
    if (is_formula_node(node)) attributes.set("shape", graph_.value(node.outputs.at(0)).shape);
    std::vector<Variable> inputs;
    for (const std::string &i : node.inputs) inputs.push_back(of(i));
    const std::vector<Variable> made = apply(differentiable(node), inputs, attributes);
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      const Graph::Value &v = graph_.value(node.outputs[o]);
      if (o >= made.size() || made[o].shape() != v.shape || made[o].value().type() != v.type)
        fail(describe(node), " makes another '", node.outputs[o], "' than the graph says");
      add(node.outputs[o], made[o]);
    }
  }

  const Graph &graph_;
  NamedVariables all_;
  std::unordered_map<std::string, size_t> place_;
};

void expect_real(const Graph &graph, const std::string &name, const char *what) {
  if (!has_gradient(graph.value(name).type))
    fail(what, " '", name, "' is ", facts(graph.value(name).type).name, "; only real numbers have gradients");
}

bool is_given(const Graph &graph, const std::string &name) {
  return graph.value(name).constant.defined() ||
         std::find(graph.inputs.begin(), graph.inputs.end(), name) != graph.inputs.end();
}

// An output of the graph has a value of its own, which a node makes.
std::string as_output(Graph &graph, const std::string &value, const std::string &name) {
  if (!is_given(graph, value) && !graph.is_output(value)) return value;
  const Graph::Value like = graph.value(value);
  const auto here = formula::axes_between(0, static_cast<int>(like.shape.size()));
  return graph.add_node("formula", {value}, name, like.shape, {{"element", formula::load(0, like.type, here)}},
                        like.type);
}

}  // namespace

Graph with_gradients(const Graph &given, const std::string &loss, const std::vector<std::string> &wanted) {
  expect_real(given, loss, "the loss");
  for (const std::string &name : wanted) {
    expect_real(given, name, "the value");
    if (!is_given(given, name)) fail("a gradient of '", name, "' is wanted, which is neither an input nor a constant");
  }
  const Recording recording;
  const Outlined outlined(given, loss, wanted);
  Graph graph = given;
  NamedVariables known = outlined.all();
  const Variable &y = outlined.of(loss);
  std::vector<Variable> xs, found;
  for (const std::string &name : wanted) xs.push_back(outlined.of(name));
  if (y.requires_gradient()) {
    GradientOptions options = {true};
    if (y.value().size() == 1) {
      options.dy = Tensor::full(y.shape(), 1, y.value().type());
    } else {
      const std::string seed = graph.fresh_name("d_" + loss);
      graph.add_input(seed, y.shape(), y.value().type());
      options.dy = Tensor::outline(y.shape(), y.value().type());
      known.emplace_back(seed, options.dy);
    }
    found = gradients(y, xs, options);
  }
  found.resize(xs.size());
  NamedVariables outputs;
  for (size_t i = 0; i < xs.size(); ++i)
    outputs.emplace_back(graph.fresh_name("d_" + wanted[i]),
                         found[i].defined() ? found[i] : Tensor::zeros(xs[i].shape(), xs[i].value().type()));
  const std::vector<std::string> names = trace_into(graph, known, outputs);
  for (size_t i = 0; i < names.size(); ++i) graph.outputs.push_back(as_output(graph, names[i], outputs[i].first));
  validate(graph);
  return graph;
}

}  // namespace saltern
