#pragma once
// Lowering: one node of an imported graph, written down as Saltern's own operations and formulas.
//
//   void lower_relu(Lowering &n) {
//     const Operand &x = n.input(0);
//     n.give(0, n.formula(x.type, x.shape, {x}, [](const Reads &x, const Axes &) { return max(x[0].here(), 0); }));
//   }
//
// Types and shapes of the inputs are always known; their values are where the node runs, and where they are constants
// when a model is compiled. One lowering serves both: the executor lowers a node when its inputs are there, the model
// compiler lowers the whole graph beforehand.

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "dsl/expression.h"
#include "runtime/graph/graph.h"

namespace saltern {

// A value of the graph under construction.
struct Operand {
  std::string name;  // empty: an input that is absent
  Type type = Type::f32;
  Shape shape;
  Tensor value;  // undefined where it is not known yet

  bool present() const { return !name.empty(); }
  int rank() const { return static_cast<int>(shape.size()); }
};

using formula::Expression;
using Axes = std::vector<Expression>;  // the indices of the result's element

// An operand inside a formula.
class Read {
 public:
  Read(int number, const Operand &operand, const Shape &result)
      : number_(number), type_(operand.type), shape_(&operand.shape), result_(&result) {}

  // The element at these indices.
  Expression operator()(std::vector<Expression> indices) const { return load(number_, type_, std::move(indices)); }
  // The element that broadcasting puts at the result's element: shapes aligned at their ends, an extent of 1 repeats.
  Expression here() const;
  const Shape &shape() const { return *shape_; }
  Type type() const { return type_; }

 private:
  int number_;
  Type type_;
  const Shape *shape_, *result_;
};

using Reads = std::vector<Read>;
using Element = std::function<Expression(const Reads &, const Axes &)>;

// Throws OutOfMemory where a tensor would be larger than the memory there is: before anything is made for it.
void expect_room(Type type, const Shape &shape);

class Lowering {
 public:
  // The graph may grow to `most_nodes`; what would take more is Unsupported.
  Lowering(const Graph::Node &node, int64_t opset, std::vector<Operand> inputs, Graph &graph,
           size_t most_nodes = std::numeric_limits<size_t>::max())
      : node_(node),
        opset_(opset),
        inputs_(std::move(inputs)),
        graph_(graph),
        most_nodes_(most_nodes),
        given_(node.outputs.size()) {}

  // ---- What the node says.
  const Graph::Node &node() const { return node_; }
  const Attributes &attributes() const { return node_.attributes; }
  int64_t opset() const { return opset_; }
  size_t input_count() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i].present(); }
  // Throws where it is absent.
  const Operand &input(size_t i) const;
  // The value of an input that decides on shapes; throws Unsupported where it is not known yet. `what` says what it is.
  const Tensor &known(size_t i, const char *what) const;
  std::vector<int64_t> known_integers(size_t i, const char *what) const { return known(i, what).integers(); }
  // An axis in [0, rank), given with negative numbers counting from the end.
  int axis(int64_t given, int rank) const;
  bool wants(size_t output) const { return output < node_.outputs.size() && !node_.outputs[output].empty(); }

  // ---- What becomes of it.
  Operand formula(Type type, const Shape &shape, const std::vector<Operand> &operands, const Element &element);
  // One of Saltern's operations (runtime/layers) with one result.
  Operand operation(const std::string &name, const std::vector<Operand> &inputs, const Attributes &attributes,
                    const Shape &shape, Type type = Type::f32);
  Operand constant(const Tensor &value);
  Operand reshaped(const Operand &x, const Shape &shape);
  Operand transposed(const Operand &x, const std::vector<int> &order);
  Operand casted(const Operand &x, Type type);
  // Repeated as broadcasting to `shape` does.
  Operand broadcasted(const Operand &x, const Shape &shape);

  void give(size_t output, const Operand &value);
  const std::vector<Operand> &given() const { return given_; }

 private:
  std::string fresh() const;
  Operand add(Graph::Node node, Type type, const Shape &shape);

  const Graph::Node &node_;
  int64_t opset_;
  std::vector<Operand> inputs_;
  Graph &graph_;
  size_t most_nodes_;
  std::vector<Operand> given_;
};

// The shape that all broadcast to.
Shape broadcasted_shape(const std::vector<Operand> &operands);

// All indices of a formula's result, as they are: a starting point for reading elsewhere.
Axes axes_of(const Shape &shape);

}  // namespace saltern
