#include <algorithm>

#include "generators/model/emit.h"
#include "generators/model/passes/inlining.h"
#include "generators/model/passes/passes.h"
#include "generators/model/views.h"

namespace saltern::generators {

namespace {

using formula::Expression;

// Whether `reader` should compute what `maker` gives it by itself.
bool should_fuse(const Graph &graph, const Graph::Node &maker, const Expression &made, const Graph::Node &reader,
                 const Expression &reading) {
  const std::string &value = maker.outputs[0];
  const Graph::Value &v = graph.value(value);
  if (graph.uses(value) != 1 || !is_exact(v.type)) return false;  // others are rounded when they are stored
  if (is_view(graph, maker)) return false;                        // costs nothing, and keeps the reader's code general
  if (!fits_into(made, maker.inputs.size(), reading, reader.inputs.size())) return false;
  const Shape &result = graph.value(reader.outputs[0]).shape;
  const bool same_element = is_elementwise(graph, reader) && result == v.shape;
  if (!same_element && follows_a_kernel(graph, maker)) return false;
  double reads = 0;
  for (size_t i = 0; i < reader.inputs.size(); ++i)
    if (reader.inputs[i] == value) reads += reads_of(reading, result, static_cast<int>(i));
  return same_element || is_worth_repeating(made, reads, static_cast<double>(elements(v.shape)));
}

}  // namespace

Graph with_fused_formulas(Graph graph) {
  std::map<std::string, size_t> makers;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const std::string &o : graph.nodes[n].outputs) makers[o] = n;

  // Fuses one of the reader's inputs, if there is one to fuse.
  const auto fuse_one = [&](Graph::Node &reader) {
    if (reader.operation != "formula") return false;
    const Expression reading = reader.attributes.expression("element");
    for (const std::string &input : reader.inputs) {
      const auto it = makers.find(input);
      if (it == makers.end()) continue;
      Graph::Node &maker = graph.nodes[it->second];
      if (maker.operation != "formula") continue;
      const Expression made = maker.attributes.expression("element");
      if (!should_fuse(graph, maker, made, reader, reading)) continue;
      const std::vector<std::string> read = std::move(reader.inputs);
      reader.inputs.clear();
      reader.attributes = {{"element", inlined(reading, read, maker, reader.inputs)}};
      graph.values.erase(maker.outputs[0]);
      maker = {};  // left out below
      return true;
    }
    return false;
  };
  for (Graph::Node &reader : graph.nodes)
    while (fuse_one(reader)) {
    }
  graph.nodes.erase(
      std::remove_if(graph.nodes.begin(), graph.nodes.end(), [](const Graph::Node &n) { return n.outputs.empty(); }),
      graph.nodes.end());
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
