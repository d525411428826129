#include <algorithm>
#include <cmath>

#include "generators/model/passes/passes.h"
#include "runtime/graph/graph_index.h"

namespace saltern::generators {

namespace {

// y = x * factor + offset, for each channel.
struct FactorAndShift {
  std::vector<float> factor, offset;
};

// The inputs of batch_norm are x, mean, variance, scale, shift.
bool is_constant_batch_norm(const Graph &graph, const Graph::Node &node) {
  if (node.operation != "batch_norm" || node.inputs.size() != 5) return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](const std::string &name) {
    const Tensor &t = graph.value(name).constant;
    return t.defined() && t.rank() == 1 && t.type() == Type::f32;
  });
}

FactorAndShift factor_and_shift_of(const Graph &graph, const Graph::Node &node) {
  const auto data = [&](size_t i) { return graph.value(node.inputs[i]).constant.data<float>(); };
  const float *mean = data(1), *variance = data(2), *scale = data(3), *shift = data(4);
  const double epsilon = node.attributes.real("epsilon");
  const int64_t channels = graph.value(node.inputs[1]).constant.size();
  FactorAndShift a;
  for (int64_t c = 0; c < channels; ++c) {
    const double factor = scale[c] / std::sqrt(static_cast<double>(variance[c]) + epsilon);
    a.factor.push_back(static_cast<float>(factor));
    a.offset.push_back(static_cast<float>(shift[c] - mean[c] * factor));
  }
  return a;
}

// The place of the node whose weights can take the batch norm in: a contraction that nothing else reads; without one,
// -1.
std::ptrdiff_t host_of(const Graph &graph, const GraphIndex &index, const Graph::Node &norm) {
  const std::string &x = norm.inputs[0];
  const Graph::Node *n = index.uses(x) == 1 ? index.producer(x) : nullptr;
  if (!n || n->outputs.size() != 1 || n->inputs.size() < 2) return -1;
  const bool contraction = n->operation == "conv2d" || n->operation == "depthwise2d" || n->operation == "dense";
  const bool constant = std::all_of(n->inputs.begin() + 1, n->inputs.end(),
                                    [&](const std::string &i) { return graph.value(i).constant.defined(); });
  const bool alike = contraction && graph.value(n->inputs[1]).shape[0] == graph.value(norm.inputs[1]).shape[0];
  return alike && constant ? index.place_of_producer(x) : -1;
}

Tensor scaled_rows(const Tensor &weights, const std::vector<float> &factor) {
  const Tensor scaled = weights.in_layout(Layout::row_major).clone();
  const int64_t each = scaled.size() / scaled.extent(0);
  for (int64_t i = 0; i < scaled.size(); ++i) scaled.data<float>()[i] *= factor[static_cast<size_t>(i / each)];
  return scaled;
}

void fold(Graph &graph, Graph::Node &host, const FactorAndShift &a) {
  const Tensor weights = graph.value(host.inputs[1]).constant;
  const Tensor old_bias = host.inputs.size() > 2 ? graph.value(host.inputs[2]).constant : Tensor();
  const Tensor bias = Tensor::empty({weights.extent(0)});
  for (size_t c = 0; c < a.factor.size(); ++c)
    bias.data<float>()[c] = (old_bias.defined() ? old_bias.data<float>()[c] : 0.0f) * a.factor[c] + a.offset[c];
  // New constants: another node may share the old ones.
  const std::string w = graph.fresh_name(host.inputs[1] + ".folded"),
                    b = graph.fresh_name(host.outputs[0] + ".folded_bias");
  graph.add_constant(w, scaled_rows(weights, a.factor));
  graph.add_constant(b, bias);
  host.inputs = {host.inputs[0], w, b};
}

}  // namespace

Graph with_folded_batch_norm(Graph graph) {
  GraphIndex index(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::ptrdiff_t found =
        is_constant_batch_norm(graph, graph.nodes[i]) ? host_of(graph, index, graph.nodes[i]) : -1;
    if (found < 0) continue;
    const auto place = static_cast<size_t>(found);
    Graph::Node &host = graph.nodes[place];
    index.forget(i);
    index.forget(place);
    const Graph::Node norm = std::move(graph.nodes[i]);
    graph.nodes[i] = {};
    fold(graph, host, factor_and_shift_of(graph, norm));
    host.outputs = {norm.outputs[0]};
    graph.values.erase(norm.inputs[0]);
    index.learn(place);
  }
  graph.remove_unused();
  return graph;
}

Graph with_batch_norm_as_arithmetic(Graph graph) {
  std::vector<Graph::Node> nodes;
  for (const Graph::Node &norm : graph.nodes) {
    if (!is_constant_batch_norm(graph, norm)) {
      nodes.push_back(norm);
      continue;
    }
    const FactorAndShift a = factor_and_shift_of(graph, norm);
    const Graph::Value x = graph.value(norm.inputs[0]);
    Shape per_channel(x.shape.size(), 1);
    if (x.shape.size() < 2) fail("node '", norm.outputs[0], "' (batch_norm) of ", to_string(x.shape));
    per_channel[1] = static_cast<int64_t>(a.factor.size());
    const std::string stem = norm.outputs[0], factor = graph.fresh_name(stem + ".factor");
    graph.add_constant(factor, Tensor::of(per_channel, a.factor));
    const std::string offset = graph.fresh_name(stem + ".offset");
    graph.add_constant(offset, Tensor::of(per_channel, a.offset));
    const std::string scaled = graph.fresh_name(stem + ".scaled");
    graph.values[scaled] = {x.shape, x.type, {}};
    nodes.push_back({"multiply", {}, {norm.inputs[0], factor}, {scaled}});
    nodes.push_back({"add", {}, {scaled, offset}, norm.outputs});
  }
  graph.nodes = std::move(nodes);
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
