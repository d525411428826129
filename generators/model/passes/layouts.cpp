#include <set>

#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

bool works_on_images(const Graph::Node &n) {
  static const std::set<std::string> operations = {"conv2d", "depthwise2d", "max_pool2d", "average_pool2d"};
  return operations.count(n.operation) > 0;
}

void set_layout(Graph &graph, const std::string &name, bool &changed) {
  Graph::Value &v = graph.values.at(name);
  if (v.shape.size() != 4 || v.layout == Layout::channels_last) return;
  v.layout = Layout::channels_last;
  changed = true;
}

}  // namespace

Graph with_layouts(Graph graph) {
  bool changed = false;
  for (const Graph::Node &n : graph.nodes) {
    if (!works_on_images(n)) continue;
    for (const std::string &i : n.inputs) set_layout(graph, i, changed);
    for (const std::string &o : n.outputs) set_layout(graph, o, changed);
  }
  // To all that has the same shape and is computed with it element by element, and to what is joined with it.
  while (changed) {
    changed = false;
    for (const Graph::Node &n : graph.nodes) {
      if (!is_elementwise(graph, n) && n.operation != "concat") continue;
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
  return graph;
}

}  // namespace saltern::generators
