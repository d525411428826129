#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"
#include "generators/model/views.h"

namespace saltern::generators {

namespace {

// The image that a dense layer of constant weights reads through a reshape to rows; an empty text where it does not.
std::string flattened_image(const Graph &graph, const Graph::Node &dense) {
  if (dense.operation != "dense" || !graph.value(dense.inputs.at(1)).constant.defined()) return "";
  const Graph::Node *reshape = graph.producer(dense.inputs[0]);
  if (!reshape || reshape->operation != "reshape" || is_view(graph, *reshape)) return "";
  const Shape &image = graph.value(reshape->inputs[0]).shape;
  const bool rows =
      image.size() == 4 && graph.value(dense.inputs[0]).shape == Shape{image[0], image[1] * image[2] * image[3]};
  return rows ? reshape->inputs[0] : "";
}

// The only reader of a value, if it is an operation on each element alone.
Graph::Node *elementwise_reader(Graph &graph, const std::string &value) {
  if (graph.uses(value) != 1) return nullptr;
  for (Graph::Node &n : graph.nodes)
    if (n.inputs.size() == 1 && n.inputs[0] == value && is_elementwise(graph, n)) return &n;
  return nullptr;
}

}  // namespace

Graph with_dense_on_images(Graph graph) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string image = flattened_image(graph, graph.nodes[i]);
    if (image.empty()) continue;
    Graph::Node &dense = graph.nodes[i];
    const Shape x = graph.value(image).shape;
    const Tensor weights = graph.value(dense.inputs[1]).constant.in_layout(Layout::row_major);
    const std::string windows = graph.fresh_name(dense.inputs[1] + ".windows");
    graph.add_constant(windows, weights.reshaped({weights.extent(0), x[1], x[2], x[3]}));
    dense.operation = "conv2d";
    dense.inputs[0] = image;
    dense.inputs[1] = windows;
    dense.attributes = {
        {"strides", Shape{1, 1}}, {"dilations", Shape{1, 1}}, {"pads", Shape{0, 0, 0, 0}}, {"groups", int64_t{1}}};

    // The result is an image of one pixel until the end of the elementwise operations that follow, then rows again.
    const Shape pixel = {x[0], weights.extent(0), 1, 1};
    Graph::Node *last = &dense;
    while (Graph::Node *next = elementwise_reader(graph, last->outputs[0])) {
      graph.values[last->outputs[0]].shape = pixel;
      last = next;
    }
    const std::string rows = last->outputs[0], before = graph.fresh_name(rows + ".pixel");
    graph.values[before] = {pixel, graph.value(rows).type, {}};
    last->outputs[0] = before;
    const auto after = graph.nodes.begin() + (last - graph.nodes.data()) + 1;
    graph.nodes.insert(after, {"reshape", {{"shape", Shape{x[0], weights.extent(0)}}}, {before}, {rows}});
  }
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
