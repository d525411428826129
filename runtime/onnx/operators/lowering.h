#pragma once
// Lowering: one node of an imported graph, written down as Saltern's own operations and formulas.
//
//   void lower_elu(Lowering &n) { n.give(0, algorithms::elu(n.input(0), n.attributes().real("alpha", 1))); }
//
// What is computed is a Value (dsl/value.h): operands read as Values, algorithms/ makes others of them, and computed()
// writes these as nodes of the graph, as few as can be (Cut::where_needed).
//
// Types and shapes of the inputs are always known; their values are where the node runs, and where they are constants
// when a model is compiled. One lowering serves both: the executor lowers a node when its inputs are there, the model
// compiler lowers the whole graph beforehand.

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "dsl/value.h"
#include "runtime/graph/graph.h"

namespace saltern {

// A value of the graph under construction, or several: how many elements a sequence has, and which they are, is known
// while the graph is made.
struct Operand {
  std::string name;       // empty: a sequence, or an input that is absent
  Type type = Type::f32;  // of a sequence, that of its elements
  Shape shape;
  Tensor value;                                               // undefined where it is not known yet
  std::shared_ptr<const std::vector<Operand>> sequence = {};  // null: a tensor
  std::string turned_from = {};                               // the matrix that it is the transpose of, if it is one

  bool present() const { return !name.empty() || sequence; }
  int rank() const { return static_cast<int>(shape.size()); }
  // Itself, and the elements; throw where it is the other kind.
  const Operand &tensor() const;
  const std::vector<Operand> &elements() const;
  // Undefined where it is absent; throws where it is a text.
  operator formula::Value() const;  // NOLINT: an operand is a value
};

Operand sequence_of(std::vector<Operand> elements, Type type);
// All tensors that it is made of, in their order: none of what is absent.
std::vector<Operand> tensors_in(const Operand &value);
// The elements; throws Unsupported where they are not known yet. `what` says what it is.
const Tensor &known_value(const Graph &graph, const Operand &value, const char *what);
// "('n') is known at run time only, as the inputs 'a', 'b' are": a value by its name, and what would make it known.
std::string known_late(const Graph &graph, const Operand &value);

using formula::Axes;
using formula::Expression;
using formula::Value;
using formula::Values;

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
  // Throw where it is absent; `input` where it is a sequence, too.
  const Operand &input(size_t i) const { return any_input(i).tensor(); }
  const Operand &any_input(size_t i) const;
  // The same, absent where it is.
  const Operand &optional(size_t i) const;
  // The value of an input that decides on shapes; throws Unsupported where it is not known yet. `what` says what it is.
  const Tensor &known(size_t i, const char *what) const { return known_value(graph_, input(i), what); }
  std::vector<int64_t> known_integers(size_t i, const char *what) const { return known(i, what).integers(); }
  // An axis in [0, rank), given with negative numbers counting from the end.
  int axis(int64_t given, int rank) const;
  bool wants(size_t output) const { return output < node_.outputs.size() && !node_.outputs[output].empty(); }

  // ---- What becomes of it.
  const Graph &graph() const { return graph_; }
  Operand computed(const Value &value) { return computed(Values{value})[0]; }
  // Together: what several need is computed once.
  std::vector<Operand> computed(const Values &values);
  // One of Saltern's operations (runtime/layers) with one result.
  Operand operation(const std::string &name, const std::vector<Operand> &inputs, const Attributes &attributes,
                    const Shape &shape, Type type = Type::f32);
  // The same with several results of one shape.
  std::vector<Operand> operation(const std::string &name, const std::vector<Operand> &inputs,
                                 const Attributes &attributes, const Shape &shape, Type type, size_t results);
  Operand constant(const Tensor &value);
  Operand reshaped(const Operand &x, const Shape &shape);
  Operand transposed(const Operand &x, const std::vector<int> &order);
  Operand casted(const Operand &x, Type type);
  // Repeated as broadcasting to `shape` does.
  Operand broadcasted(const Operand &x, const Shape &shape);

  // The results of an operator of ONNX's own, as opset 21 has it: what it would be lowered to stands here.
  std::vector<Operand> by_operator(const std::string &name, const std::vector<Operand> &inputs,
                                   const Attributes &attributes = {}, size_t outputs = 1);

  void give(size_t output, const Operand &value);
  void give(size_t output, const Value &value) {
    if (wants(output)) give(output, computed(value));
  }
  // The first results, together: those behind the last that is wanted are not computed.
  void give(Values values);
  const std::vector<Operand> &given() const { return given_; }

 private:
  std::string fresh() const;
  std::vector<Operand> add(Graph::Node node, Type type, const Shape &shape, size_t results = 1);

  const Graph::Node &node_;
  int64_t opset_;
  std::vector<Operand> inputs_;
  Graph &graph_;
  size_t most_nodes_;
  std::vector<Operand> given_;
};

// All indices of a tensor's element, as they are.
Axes axes_of(const Shape &shape);
inline std::vector<Expression> extents(const Shape &shape) { return {shape.begin(), shape.end()}; }

}  // namespace saltern
