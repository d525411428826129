#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"
#include "generators/model/views.h"
#include "runtime/graph/graph_index.h"

namespace saltern::generators {

namespace {

// The image that a dense layer of constant weights reads through a reshape to rows; an empty text where it does not.
std::string flattened_image(const Graph &graph, const GraphIndex &index, const Graph::Node &dense) {
  if (dense.operation != "dense" || !graph.value(dense.inputs.at(1)).constant.defined()) return "";
  const Graph::Node *reshape = index.producer(dense.inputs[0]);
  if (!reshape || reshape->operation != "reshape" || is_view(graph, *reshape)) return "";
  const Shape &image = graph.value(reshape->inputs[0]).shape;
  const bool rows =
      image.size() == 4 && graph.value(dense.inputs[0]).shape == Shape{image[0], image[1] * image[2] * image[3]};
  return rows ? reshape->inputs[0] : "";
}

// The only reader of a value, if it is an operation on each element alone.
Graph::Node *elementwise_reader(Graph &graph, const GraphIndex &index, const std::string &value) {
  const std::ptrdiff_t place = index.place_of_only_reader(value);
  if (place < 0) return nullptr;
  Graph::Node &n = graph.nodes[static_cast<size_t>(place)];
  return n.inputs.size() == 1 && is_elementwise(graph, n) ? &n : nullptr;
}

// A formula of rows, of an image of one pixel.
formula::Expression of_pixel(const formula::Expression &element) {
  return formula::replaced(element, [](const formula::Expression &leaf) -> formula::Expression {
    if (leaf->kind != formula::Expression::Kind::load) return {};
    std::vector<formula::Expression> indices = leaf->arguments;
    indices.resize(4, formula::Expression(0));
    return formula::load(leaf->number, leaf.type(), indices);
  });
}

}  // namespace

Graph with_dense_on_images(Graph graph) {
  GraphIndex index(graph);
  std::map<size_t, Graph::Node> reshapes;  // by the place of the node that each comes after
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string image = flattened_image(graph, index, graph.nodes[i]);
    if (image.empty()) continue;
    Graph::Node &dense = graph.nodes[i];
    index.forget(i);
    const Shape x = graph.value(image).shape;
    const Tensor weights = graph.value(dense.inputs[1]).constant.in_layout(Layout::row_major);
    const std::string windows = graph.fresh_name(dense.inputs[1] + ".windows");
    graph.add_constant(windows, weights.reshaped({weights.extent(0), x[1], x[2], x[3]}));
    dense.operation = "conv2d";
    dense.inputs[0] = image;
    dense.inputs[1] = windows;
    dense.attributes = {
        {"strides", Shape{1, 1}}, {"dilations", Shape{1, 1}}, {"pads", Shape{0, 0, 0, 0}}, {"groups", int64_t{1}}};
    index.learn(i);

    // The result is an image of one pixel until the end of the elementwise operations that follow, then rows again.
    const Shape pixel = {x[0], weights.extent(0), 1, 1};
    Graph::Node *last = &dense;
    while (Graph::Node *next = elementwise_reader(graph, index, last->outputs[0])) {
      graph.values[last->outputs[0]].shape = pixel;
      next->attributes.set("element", of_pixel(next->attributes.expression("element")));
      last = next;
    }
    const std::string rows = last->outputs[0], before = graph.fresh_name(rows + ".pixel");
    graph.values[before] = {pixel, graph.value(rows).type, {}};
    const auto place = static_cast<size_t>(last - graph.nodes.data());
    index.forget(place);
    last->outputs[0] = before;
    index.learn(place);
    reshapes[place] = {"reshape", {{"shape", Shape{x[0], weights.extent(0)}}}, {before}, {rows}};
  }
  std::vector<Graph::Node> all;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    all.push_back(std::move(graph.nodes[i]));
    if (const auto it = reshapes.find(i); it != reshapes.end()) all.push_back(std::move(it->second));
  }
  graph.nodes = std::move(all);
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
