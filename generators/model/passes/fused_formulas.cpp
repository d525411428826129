#include <algorithm>
#include <map>
#include <set>

#include "generators/model/emit.h"
#include "generators/model/passes/inlining.h"
#include "generators/model/passes/passes.h"
#include "generators/model/views.h"

namespace saltern::generators {

namespace {

using formula::Expression;

// Drops inputs that the formula never loads, unless that are all.
void drop_unread_inputs(Graph::Node &node) {
  const Expression element = node.attributes.expression("element");
  std::set<int> loaded;
  formula::for_each_node(element, [&](const Expression::Node &n) {
    if (n.kind == Expression::Kind::load) loaded.insert(n.number);
  });
  if (loaded.empty() || loaded.size() == node.inputs.size()) return;
  std::vector<std::string> inputs;
  std::map<int, int> numbers;
  for (int i : loaded) {
    numbers[i] = static_cast<int>(inputs.size());
    inputs.push_back(node.inputs.at(static_cast<size_t>(i)));
  }
  node.inputs = std::move(inputs);
  node.attributes.set("element", formula::replaced(element, [&](const Expression &leaf) -> Expression {
                        if (leaf->kind != Expression::Kind::load) return {};
                        return formula::load(numbers.at(leaf->number), leaf.type(), leaf->arguments);
                      }));
}

class Fusion {
 public:
  explicit Fusion(Graph &graph) : graph_(graph), index_(graph), costs_(graph.nodes.size()) {
    for (size_t n = 0; n < graph.nodes.size(); ++n)
      if (graph.nodes[n].operation == "formula") costs_[n] = cost_of(element_of(n));
  }

  void run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      while (fuse_one(n)) {
      }
    graph_.remove_unused();
  }

 private:
  const Expression &element_of(size_t place) const { return graph_.nodes[place].attributes.expression("element"); }

  // Fuses one of the reader's inputs, if there is one to fuse.
  bool fuse_one(size_t place) {
    const Graph::Node &reader = graph_.nodes[place];
    if (reader.operation != "formula") return false;
    for (const std::string &input : reader.inputs) {
      const std::ptrdiff_t found = index_.place_of_producer(input);
      if (found < 0 || !should_fuse(static_cast<size_t>(found), place)) continue;
      fuse(static_cast<size_t>(found), place);
      return true;
    }
    return false;
  }

  // Whether the reader's element reads the maker's at its own place.
  bool reads_same_element(const Graph::Node &maker, const Graph::Node &reader) const {
    return is_elementwise(graph_, reader) &&
           graph_.value(reader.outputs[0]).shape == graph_.value(maker.outputs[0]).shape;
  }

  // Whether a formula rounds sums of integers to bytes: that ends their kernel, and what it gives lies in a quarter of the
  // memory.
  bool rounds_sums(const Graph::Node &n) const {
    if (facts(graph_.value(n.outputs[0]).type).bits > 8 || !is_elementwise(graph_, n)) return false;
    return std::any_of(n.inputs.begin(), n.inputs.end(), [&](const std::string &i) {
      const Graph::Node *maker = index_.producer(i);
      return maker && is_integer_product(*maker) && index_.uses(i) == 1;
    });
  }

  // Whether the reader should compute what the maker gives it by itself.
  bool should_fuse(size_t from, size_t to) const {
    const Graph::Node &maker = graph_.nodes[from], &reader = graph_.nodes[to];
    if (maker.operation != "formula") return false;
    const std::string &value = maker.outputs[0];
    const Graph::Value &v = graph_.value(value);
    if (index_.uses(value) != 1 || !is_exact(v.type)) return false;  // others are rounded when they are stored
    if (is_view(graph_, maker)) return false;  // costs nothing, and keeps the reader's code general
    if (!fits_into(costs_[from], maker.inputs.size(), costs_[to], reader.inputs.size())) return false;
    if (rounds_sums(maker)) return false;
    if (reads_same_element(maker, reader)) return true;
    if (follows_a_kernel(graph_, index_, maker)) return false;
    const Shape &result = graph_.value(reader.outputs[0]).shape;
    double reads = 0;
    for (size_t i = 0; i < reader.inputs.size(); ++i)
      if (reader.inputs[i] == value) reads += reads_of(element_of(to), result, static_cast<int>(i));
    return is_worth_repeating(costs_[from], reads, static_cast<double>(elements(v.shape)));
  }

  void fuse(size_t from, size_t to) {
    Graph::Node &maker = graph_.nodes[from], &reader = graph_.nodes[to];
    const bool same_element = reads_same_element(maker, reader);
    index_.forget(from);
    index_.forget(to);
    const std::vector<std::string> read = std::move(reader.inputs);
    reader.inputs.clear();
    reader.attributes = {{"element", inlined(element_of(to), read, maker, reader.inputs)}};
    index_.learn(to);
    // Of the same element there is one copy; other readers may have several, at several places.
    costs_[to].nodes += costs_[from].nodes;
    costs_[to].dear |= costs_[from].dear;
    if (!same_element) costs_[to] = cost_of(element_of(to));
    graph_.values.erase(maker.outputs[0]);
    maker = {};
  }

  Graph &graph_;
  GraphIndex index_;
  std::vector<FormulaCost> costs_;  // by place, of formulas; at most
};

}  // namespace

Graph with_fused_formulas(Graph graph) {
  for (Graph::Node &n : graph.nodes)
    if (n.operation == "formula") drop_unread_inputs(n);
  Fusion(graph).run();
  return graph;
}

}  // namespace saltern::generators
