#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

// The order of memory in which an operation's kernel reads and makes values of rank 4. None: any, each value as it lies.
struct Orders {
  std::optional<Layout> read, made;
};

constexpr Layout rows = Layout::row_major, image = Layout::channels_last;

// The operations that want one. All others (formulas, elementwise operations, joins, reshapes) take what comes.
Orders orders_of(const Graph::Node &n) {
  static const std::map<std::string, Orders> table = {
      {"attention", {std::nullopt, rows}},
      {"average_pool2d", {image, image}},
      {"conv2d", {image, image}},
      {"conv2d_gradient_w", {image, image}},
      {"conv2d_gradient_x", {image, image}},
      {"depthwise2d", {image, image}},
      {"integer_conv2d", {image, image}},
      {"layer_norm", {rows, rows}},
      {"log_softmax", {rows, rows}},
      {"matmul", {rows, rows}},
      {"max_pool2d", {image, image}},
      {"rms_norm", {rows, rows}},
      {"softmax", {rows, rows}},
  };
  const auto found = table.find(n.operation);
  return found == table.end() ? Orders() : found->second;
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

// Which values are images: those that operations want so, and all that has the same shape and is computed with them
// element by element, or pixel by pixel, or joined with them; but for what is made in rows.
class Images {
 public:
  explicit Images(Graph &graph) : graph_(graph), done_(graph.nodes.size()) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Graph::Node &node = graph.nodes[n];
      if (orders_of(node).made == rows) in_rows_.insert(node.outputs.begin(), node.outputs.end());
      if (!spreads(node)) continue;
      for (const std::string &name : alike(node)) touching_[name].push_back(n);
    }
  }

  void choose() {
    for (const Graph::Node &n : graph_.nodes) {
      const Orders orders = orders_of(n);
      if (orders.read == image) make_images(n.inputs);
      if (orders.made == image) make_images(n.outputs);
    }
    while (!changed_.empty()) {
      const auto nodes = touching_.find(changed_.back());
      changed_.pop_back();
      if (nodes == touching_.end()) continue;
      for (size_t n : nodes->second) {
        if (done_[n]) continue;
        done_[n] = true;
        make_images(alike(graph_.nodes[n]));
      }
    }
  }

 private:
  bool spreads(const Graph::Node &n) const {
    return is_elementwise(graph_, n) || n.operation == "concat" || keeps_pixels(graph_, n);
  }
  // The values of a node that lie in memory alike.
  std::vector<std::string> alike(const Graph::Node &n) const {
    const Shape &shape = graph_.value(n.outputs[0]).shape;
    std::vector<std::string> same = n.outputs;
    for (const std::string &i : n.inputs)
      if (graph_.value(i).shape == shape || n.operation == "concat") same.push_back(i);
    return same;
  }
  void make_images(const std::vector<std::string> &names) {
    for (const std::string &name : names) {
      Graph::Value &v = graph_.values.at(name);
      if (v.shape.size() != 4 || v.layout == image || in_rows_.count(name)) continue;
      v.layout = image;
      changed_.push_back(name);
    }
  }

  Graph &graph_;
  std::vector<bool> done_;  // the nodes whose values are
  std::unordered_set<std::string> in_rows_;
  std::unordered_map<std::string, std::vector<size_t>>
      touching_;                      // the nodes that spread a value's layout, by their places
  std::vector<std::string> changed_;  // values whose nodes are to be looked at
};

// Adds a node that copies a value of rank 4 into this order of memory, and gives the copy's name.
std::string copied_to(Layout layout, const std::string &name, const Graph::Value &v, Graph &graph,
                      std::vector<Graph::Node> &nodes) {
  const std::string copy = graph.fresh_name(name + (layout == rows ? ".rows" : ".image"));
  graph.values[copy] = {v.shape, v.type, {}};
  graph.values[copy].layout = layout;
  std::vector<formula::Expression> here;
  for (int d = 0; d < 4; ++d) here.push_back(formula::axis(d));
  nodes.push_back({"formula", {{"element", formula::load(0, v.type, here)}}, {name}, {copy}});
  return copy;
}

// Where an operation wants another order of memory than a value has, it reads a copy, of which there is one for all.
// Constants are laid out for each kernel when it is emitted.
void add_copies(Graph &graph) {
  std::map<std::pair<std::string, Layout>, std::string> copies;
  std::vector<Graph::Node> nodes;
  for (Graph::Node &n : graph.nodes) {
    const std::optional<Layout> wanted = orders_of(n).read;
    for (std::string &name : n.inputs) {
      const Graph::Value v = graph.value(name);
      if (!wanted || v.shape.size() != 4 || v.constant.defined() || lies_as(v, *wanted)) continue;
      std::string &copy = copies[{name, *wanted}];
      if (copy.empty()) copy = copied_to(*wanted, name, v, graph, nodes);
      name = copy;
    }
    nodes.push_back(std::move(n));
  }
  graph.nodes = std::move(nodes);
}

// A state's next value lies as the state does, whose memory it takes.
void keep_state_as_it_lies(Graph &graph) {
  for (Graph::State &s : graph.state) {
    const Graph::Value v = graph.value(s.next);
    const Layout kept = graph.value(s.value).layout;
    if (v.shape.size() != 4 || lies_as(v, kept)) continue;
    const std::string copy = copied_to(kept, s.next, v, graph, graph.nodes);
    std::replace(graph.outputs.begin(), graph.outputs.end(), s.next, copy);
    s.next = copy;
  }
}

}  // namespace

Graph with_layouts(Graph graph) {
  Images(graph).choose();
  add_copies(graph);
  keep_state_as_it_lies(graph);
  return graph;
}

}  // namespace saltern::generators
