#include "runtime/optim/training_step.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "runtime/autograd/state.h"
#include "runtime/graph/gradients.h"
#include "runtime/graph/trace.h"
#include "runtime/layers/random_stream.h"

namespace saltern {

namespace {

constexpr const char *random_name = "random";

void expect_free(const Graph &graph, const std::string &name) {
  if (graph.values.count(name)) fail("a training step: the graph has a value '", name, "', as state is to be called");
}

// Adds the update of a parameter, which becomes state with all that the update keeps.
void add_update(Graph &graph, const std::string &parameter, const std::string &gradient, const Update &update) {
  const Tensor initial = graph.value(parameter).constant;
  std::vector<std::pair<std::string, Tensor>> kept = {{parameter, initial},
                                                      {"steps." + parameter, Tensor::zeros({}, Type::i64)}};
  for (const auto &[slot, begins] : slots_of(update, initial)) kept.emplace_back(slot + "." + parameter, begins);
  Graph::Node node = {update.operation, update.attributes, {parameter, gradient, update.rate_name}, {}};
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto &[name, value] = kept[i];
    if (i > 0) expect_free(graph, name);
    if (i > 0) node.inputs.push_back(name);
    node.outputs.push_back(graph.fresh_name(name + ".next"));
    graph.values[node.outputs.back()] = {value.shape(), value.type(), {}};
    graph.add_state(name, node.outputs.back(), value);
  }
  graph.nodes.push_back(std::move(node));
}

// Moves the updates, which are the nodes from `first` on: each comes as soon as its gradient is there and nobody reads what it
// replaces any more. So memory of gradients, and of what they are made of, is free again for those of other parameters.
void put_updates_early(Graph &graph, size_t first) {
  std::unordered_map<std::string_view, size_t> touched;  // the last node that makes or reads a value
  for (size_t i = 0; i < first; ++i)
    for (const auto *names : {&graph.nodes[i].inputs, &graph.nodes[i].outputs})
      for (const std::string &name : *names) touched[name] = i;
  std::vector<std::vector<Graph::Node>> behind(first);
  std::vector<Graph::Node> ordered;
  ordered.reserve(graph.nodes.size());
  for (size_t u = first; u < graph.nodes.size(); ++u) {
    size_t last = 0;
    for (const std::string &name : graph.nodes[u].inputs)
      if (const auto found = touched.find(name); found != touched.end()) last = std::max(last, found->second);
    behind[last].push_back(graph.nodes[u]);
  }
  for (size_t i = 0; i < first; ++i) {
    ordered.push_back(std::move(graph.nodes[i]));
    for (Graph::Node &update : behind[i]) ordered.push_back(std::move(update));
  }
  graph.nodes = std::move(ordered);
}

struct Differentiated {
  Graph graph;
  std::vector<std::string> parameters, gradients;  // those that the loss depends on
};

Differentiated differentiated(const Graph &graph, const std::string &loss, const std::vector<std::string> &parameters) {
  if (elements(graph.value(loss).shape) != 1)
    fail("a training step: the loss '", loss, "' is ", to_string(graph.value(loss).shape), "; expected one element");
  const auto needed = graph.needed_for({loss});
  std::vector<std::string> moved;
  for (const std::string &p : parameters) {
    if (!graph.value(p).constant.defined()) fail("a training step: the parameter '", p, "' is no constant");
    if (needed.count(p)) moved.push_back(p);
  }
  if (moved.empty() || graph.nodes.empty()) fail("a training step: the loss '", loss, "' depends on no parameter");
  Graph step = with_gradients(graph, loss, moved);
  const std::vector<std::string> gradients(step.outputs.end() - static_cast<std::ptrdiff_t>(moved.size()),
                                           step.outputs.end());
  step.outputs.resize(step.outputs.size() - moved.size());
  return {std::move(step), std::move(moved), gradients};
}

// The names that parameters and buffers have, each once: memory that has several has that of the first parameter.
std::map<std::string, Tensor> names_of(Module &net, const NamedTensors &inputs) {
  std::map<std::string, Tensor> names;
  std::unordered_set<const void *> seen;
  for (const auto &[name, p] : net.named_parameters())
    if (seen.insert(p.value().raw()).second) names[name] = p.value();
  for (const auto &[name, t] : net.state())
    if (seen.insert(t.raw()).second) names[name] = t;
  std::vector<std::string> of_step = {"loss", "rate", random_name};
  for (const auto &[name, t] : inputs) of_step.push_back(name);
  for (const std::string &taken : of_step)
    if (names.count(taken)) fail("a training step: the net has state called '", taken, "', as the step has");
  names[random_name] = random_stream();
  return names;
}

std::string name_of(const Tensor &state, const std::map<std::string, Tensor> &names) {
  for (const auto &[name, t] : names)
    if (t.raw() == state.raw()) return name;
  fail("a training step: the net keeps state of ", to_string(state.shape()), " that it does not name: does visit() of ",
       "its module name it?");
}

// The net and its loss, with the state that layers keep.
Graph traced(Module &net, const NamedTensors &inputs, const LossOfInputs &loss) {
  const std::map<std::string, Tensor> names = names_of(net, inputs);
  const Recording recording;
  const NotedState noted;
  NamedVariables given;
  std::vector<Variable> in;
  for (const auto &[name, t] : inputs) {
    in.emplace_back(Tensor::outline(t.shape(), t.type()));
    given.emplace_back(name, in.back());
  }
  NamedVariables outputs = {{"loss", loss(in)}};
  for (const auto &[state, next] : noted.all()) outputs.emplace_back(name_of(state, names) + ".next", next);
  Graph graph = trace(given, outputs, names);
  std::vector<std::string> nexts(graph.outputs.begin() + 1, graph.outputs.end());
  graph.outputs.resize(1);
  for (size_t i = 0; i < nexts.size(); ++i)
    graph.add_state(name_of(noted.all()[i].first, names), nexts[i], noted.all()[i].first.clone());
  return graph;
}

// Those that the graph of a net has.
std::vector<std::string> trained_parameters(Module &net, const Graph &graph) {
  std::vector<std::string> names;
  for (const auto &[name, p] : net.named_parameters())
    if (p.requires_gradient() && graph.values.count(name)) names.push_back(name);
  return names;
}

}  // namespace

Graph training_step(const Graph &graph, const std::string &loss, const std::vector<std::string> &parameters,
                    const Update &update) {
  return training_step(graph, loss, parameters, [&](const std::string &) { return update; });
}

Graph training_step(const Graph &graph, const std::string &loss, const std::vector<std::string> &parameters,
                    const std::function<Update(const std::string &parameter)> &update_of) {
  auto [step, moved, gradients] = differentiated(graph, loss, parameters);
  const size_t first_update = step.nodes.size();
  std::map<std::string, double> rates;
  for (size_t i = 0; i < moved.size(); ++i) {
    const Update update = update_of(moved[i]);
    if (const OptimizerRow *row = find_optimizer(update.operation); row && row->only_touched)
      unsupported("a training step: an update of touched rows only (", row->name,
                  ") has no graph, whose gradients are dense");
    if (rates.emplace(update.rate_name, update.rate).second) expect_free(step, update.rate_name);
    add_update(step, moved[i], gradients[i], update);
  }
  for (const auto &[name, rate] : rates) step.add_state(name, name, Tensor::full({}, rate));
  put_updates_early(step, first_update);
  validate(step);
  return step;
}

Graph training_step(Module &net, const Tensor &x, const Tensor &labels, const Loss &loss, const Optimizer &optimizer) {
  return training_step(
      net, {{"x", x}, {"labels", labels}}, [&](const std::vector<Variable> &in) { return loss(net(in[0]), in[1]); },
      optimizer);
}

Graph training_step(Module &net, const NamedTensors &inputs, const LossOfInputs &loss, const Optimizer &optimizer) {
  const Graph graph = traced(net, inputs, loss);
  Graph step = training_step(graph, "loss", trained_parameters(net, graph),
                             [&](const std::string &name) { return optimizer.update_of(name); });
  const std::map<std::string, Tensor> kept = optimizer.state();
  for (Graph::State &s : step.state)
    if (const auto found = kept.find(s.value); found != kept.end()) s.initial = found->second.clone();
  return step;
}

Graph gradient_step(Module &net, const NamedTensors &inputs, const LossOfInputs &loss) {
  const Graph graph = traced(net, inputs, loss);
  auto [step, parameters, gradients] = differentiated(graph, "loss", trained_parameters(net, graph));
  const size_t first_sum = step.nodes.size();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor parameter = step.value(parameters[i]).constant;
    const std::string sum = "gradient." + parameters[i];
    expect_free(step, sum);
    step.values[sum] = {parameter.shape(), parameter.type(), {}};
    const std::string next =
        step.add_node("add", {sum, gradients[i]}, sum + ".next", parameter.shape(), {}, parameter.type());
    step.add_state(sum, next, Tensor::zeros(parameter.shape(), parameter.type()));
    step.add_state(parameters[i], parameters[i], parameter);
  }
  put_updates_early(step, first_sum);
  validate(step);
  return step;
}

}  // namespace saltern
