#include <set>

#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

bool works_on_images(const Graph::Node &n) {
  static const std::set<std::string> operations = {"conv2d", "depthwise2d", "max_pool2d", "average_pool2d"};
  return operations.count(n.operation) > 0;
}

// Operations whose kernels see rows: what they make is row-major, and what they read has to be.
bool makes_rows(const Graph::Node &n) {
  static const std::set<std::string> operations = {"attention", "layer_norm", "log_softmax",
                                                   "matmul",    "rms_norm",   "softmax"};
  return operations.count(n.operation) > 0;
}

// Whether a formula takes each pixel from the same pixel of its only operand: channels in another order.
bool keeps_pixels(const Graph &graph, const Graph::Node &n) {
  if (n.operation != "formula" || n.inputs.size() != 1) return false;
  const formula::Expression &element = n.attributes.expression("element");
  const Shape &shape = graph.value(n.outputs[0]).shape;
  if (element->kind != formula::Expression::Kind::load || shape.size() != 4) return false;
  if (graph.value(n.inputs[0]).shape != shape) return false;
  for (int d : {0, 2, 3}) {
    const formula::Expression &index = element->arguments.at(static_cast<size_t>(d));
    if (index->kind != formula::Expression::Kind::axis || index->number != d) return false;
  }
  return true;
}

void set_layout(Graph &graph, const std::string &name, bool &changed) {
  Graph::Value &v = graph.values.at(name);
  if (v.shape.size() != 4 || v.layout == Layout::channels_last) return;
  const Graph::Node *maker = graph.producer(name);
  if (maker && makes_rows(*maker)) return;
  v.layout = Layout::channels_last;
  changed = true;
}

// What a kernel of rows reads of an image is a copy of it; an attention reads each operand as it lies.
void copy_for_rows(Graph &graph) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!makes_rows(graph.nodes[n]) || graph.nodes[n].operation == "attention") continue;
    for (size_t i = 0; i < graph.nodes[n].inputs.size(); ++i) {
      const std::string image = graph.nodes[n].inputs[i];
      const Graph::Value v = graph.value(image);
      if (!is_channels_last(v) || v.constant.defined()) continue;
      const std::string rows = graph.fresh_name(image + ".rows");
      std::vector<formula::Expression> here;
      for (int d = 0; d < 4; ++d) here.push_back(formula::axis(d));
      graph.values[rows] = {v.shape, v.type, {}};
      graph.nodes[n].inputs[i] = rows;
      graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(n),
                         {"formula", {{"element", formula::load(0, v.type, here)}}, {image}, {rows}});
      ++n;
    }
  }
}

}  // namespace

Graph with_layouts(Graph graph) {
  bool changed = false;
  for (const Graph::Node &n : graph.nodes) {
    if (!works_on_images(n)) continue;
    for (const std::string &i : n.inputs) set_layout(graph, i, changed);
    for (const std::string &o : n.outputs) set_layout(graph, o, changed);
  }
  // To all that has the same shape and is computed with it element by element, or pixel by pixel, and to what is joined
  // with it.
  while (changed) {
    changed = false;
    for (const Graph::Node &n : graph.nodes) {
      if (!is_elementwise(graph, n) && n.operation != "concat" && !keeps_pixels(graph, n)) continue;
      const Shape &shape = graph.value(n.outputs[0]).shape;
      std::vector<std::string> same = n.outputs;
      for (const std::string &i : n.inputs)
        if (graph.value(i).shape == shape || n.operation == "concat") same.push_back(i);
      bool image = false;
      for (const std::string &name : same) image |= is_channels_last(graph.value(name));
      if (image)
        for (const std::string &name : same) set_layout(graph, name, changed);
    }
  }
  copy_for_rows(graph);
  return graph;
}

}  // namespace saltern::generators
