#include "generators/model/passes/passes.h"
#include "runtime/graph/graph_index.h"

namespace saltern::generators {

namespace {

// The only maker of a value that nobody else reads, if it does this operation.
const Graph::Node *maker(const GraphIndex &index, const std::string &value, const std::string &operation) {
  const Graph::Node *made = index.producer(value);
  return made && made->operation == operation && index.uses(value) == 1 && !index.is_output(value) ? made : nullptr;
}

}  // namespace

Graph with_channel_shuffles(Graph graph) {
  GraphIndex index(graph);
  for (size_t place = 0; place < graph.nodes.size(); ++place) {
    Graph::Node &n = graph.nodes[place];
    if (n.operation != "reshape") continue;
    const Graph::Node *turned = maker(index, n.inputs.at(0), "transpose");
    const Graph::Node *cut = turned ? maker(index, turned->inputs.at(0), "reshape") : nullptr;
    if (!cut || turned->attributes.integers("order") != Shape{0, 2, 1, 3, 4}) continue;
    const Shape &image = graph.value(n.outputs[0]).shape, &groups = graph.value(cut->outputs[0]).shape;
    if (image.size() != 4 || graph.value(cut->inputs[0]).shape != image) continue;
    if (groups[0] != image[0] || groups[3] != image[2] || groups[4] != image[3]) continue;
    index.forget(place);
    const formula::Expression c = formula::axis(1);
    n.attributes = {{"element", formula::load(0, graph.value(n.outputs[0]).type,
                                              {formula::axis(0), c % groups[1] * groups[2] + c / groups[1],
                                               formula::axis(2), formula::axis(3)})}};
    n.operation = "formula";
    n.inputs = {cut->inputs[0]};
    index.learn(place);
  }
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
