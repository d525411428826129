#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

using formula::Expression;

class Sinking {
 public:
  explicit Sinking(Graph &graph) : graph_(graph) {}

  void run() {
    const std::vector<Graph::Node> nodes = std::exchange(graph_.nodes, {});
    for (const Graph::Node &n : nodes)
      for (const std::string &i : n.inputs) ++readers_[i];
    for (const std::string &o : graph_.outputs) ++readers_[o];
    for (const Graph::Node &n : nodes) {
      if (n.operation == "reshape") {  // of a reshape is one
        const auto before = reshapes_.find(n.inputs[0]);
        const bool second = before != reshapes_.end() && readers_.at(n.inputs[0]) == 1;
        reshapes_[n.outputs[0]] = second ? before->second : n.inputs[0];
      }
      const bool is_product = n.operation == "dense" || n.operation == "integer_dense" || n.operation == "matmul";
      if (is_product || follows_product(n)) products_.insert(n.outputs[0]);
      const std::string product = product_before(n);
      if (product.empty() || !sink(n, product)) graph_.nodes.push_back(n);
    }
    graph_.remove_unused();
  }

 private:
  bool follows_product(const Graph::Node &n) const {
    return is_elementwise(graph_, n) && std::any_of(n.inputs.begin(), n.inputs.end(), [&](const std::string &i) {
             return products_.count(i) > 0 && readers_.at(i) == 1 &&
                    graph_.value(i).shape == graph_.value(n.outputs[0]).shape;
           });
  }

  // The product, or what follows it, that an elementwise node reads through a reshape of its rows.
  std::string product_before(const Graph::Node &n) const {
    if (!is_elementwise(graph_, n)) return "";
    for (const std::string &i : n.inputs) {
      const auto it = reshapes_.find(i);
      if (it == reshapes_.end() || !products_.count(it->second)) continue;
      if (readers_.at(i) != 1 || readers_.at(it->second) != 1) continue;
      const Shape &rows = graph_.value(it->second).shape, &shape = graph_.value(i).shape;
      if (shape == graph_.value(n.outputs[0]).shape && !shape.empty() && rows.back() == shape.back()) return it->second;
    }
    return "";
  }

  // The shape that an operand has beside the rows; nothing where it cannot be told.
  static std::optional<Shape> beside(const Shape &operand, const Shape &result, const Shape &rows) {
    if (operand == result) return rows;
    if (elements(operand) == 1) return Shape{1};
    if (elements(operand) == result.back() && operand.back() == result.back()) return Shape{result.back()};
    return std::nullopt;
  }

  std::string reshaped(const std::string &operand, const Shape &shape) {
    const Graph::Value v = graph_.value(operand);
    if (v.shape == shape) return operand;
    if (const auto it = reshapes_.find(operand); it != reshapes_.end() && graph_.value(it->second).shape == shape)
      return it->second;
    const std::string name = graph_.fresh_name(operand + ".rows");
    graph_.values[name] = {shape, v.type, {}};
    if (v.constant.defined())
      graph_.values[name].constant = v.constant.in_layout(Layout::row_major).reshaped(shape);
    else
      graph_.nodes.push_back({"reshape", {{"shape", shape}}, {operand}, {name}});
    return name;
  }

  // The node on rows, and the reshape after it.
  bool sink(const Graph::Node &n, const std::string &product) {
    const Shape result = graph_.value(n.outputs[0]).shape, rows = graph_.value(product).shape;
    std::vector<Shape> shapes;
    for (const std::string &i : n.inputs) {
      const auto shape = beside(graph_.value(i).shape, result, rows);
      if (!shape) return false;
      shapes.push_back(*shape);
    }
    Graph::Node on_rows = n;
    for (size_t i = 0; i < n.inputs.size(); ++i) on_rows.inputs[i] = reshaped(n.inputs[i], shapes[i]);
    if (n.operation == "formula")
      on_rows.attributes.set(
          "element", formula::replaced(n.attributes.expression("element"), [&](const Expression &leaf) -> Expression {
            if (leaf->kind != Expression::Kind::load) return {};
            const Shape &shape = shapes[static_cast<size_t>(leaf->number)];
            std::vector<Expression> at;
            for (size_t d = 0; d < shape.size(); ++d)
              at.push_back(shape[d] == 1 ? formula::constant_integer(Type::i64, 0)
                                         : formula::axis(static_cast<int>(rows.size() - shape.size() + d)));
            return formula::load(leaf->number, leaf.type(), at);
          }));
    const std::string y = n.outputs[0], made = graph_.fresh_name(y + ".rows");
    graph_.values[made] = {rows, graph_.value(y).type, {}};
    on_rows.outputs = {made};
    graph_.nodes.push_back(std::move(on_rows));
    graph_.nodes.push_back({"reshape", {{"shape", result}}, {made}, {y}});
    reshapes_[y] = made;
    products_.insert(made);
    readers_[made] = 1;
    return true;
  }

  Graph &graph_;
  std::unordered_set<std::string> products_;  // and what follows them in their kernels
  std::unordered_map<std::string, int> readers_;
  std::unordered_map<std::string, std::string> reshapes_;  // and what they reshape
};

}  // namespace

Graph with_sunk_reshapes(Graph graph) {
  Sinking(graph).run();
  return graph;
}

}  // namespace saltern::generators
