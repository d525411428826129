#pragma once
// A net as data: which operation makes which value of which others.
//
// A graph is a plain value: copy it, change it, compare two runs of it. Values are named; a value is an input, a
// constant or the output of exactly one node. Nodes stand in an order in which they can be computed. Shapes are in the
// order that users know (N, C, H, W).
//
// A graph may have state: what one run leaves for the next one, such as the parameters of a training step
// (runtime/optim/training_step.h). To whatever computes the graph, that is an input and an output like others.
//
// Two kinds of graph have this form. An imported one is as its file says: operators of ONNX, graphs in attributes,
// inputs that may be absent (an empty name), and of many values nothing is known but the name. A lowered one (and one
// that was traced) has Saltern's own operations and knows every shape; validate() holds it to that.

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/autograd/attributes.h"
#include "runtime/graph/named_map.h"
#include "runtime/tensor/open_extents.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

struct Graph {
  // What an imported graph's values hold.
  enum class Container : uint8_t { tensor, sequence, optional, optional_sequence };

  struct Value {
    Shape shape;  // -1: known at run time only
    Type type = Type::f32;
    Tensor constant;                   // undefined unless the value is a constant
    std::vector<std::string> symbols;  // the names of extents that are -1, as far as they have one; else empty
    bool ranked = true;                // false: not even the rank is known
    Container container = Container::tensor;
    Layout layout = Layout::row_major;  // in a compiled model's memory

    // The name of an extent that is open; empty where it has none.
    const std::string &symbol(size_t d) const {
      static const std::string none;
      return d < symbols.size() && shape[d] < 0 ? symbols[d] : none;
    }
    // Whether a tensor of this shape can be the value: extents that are open can be any.
    bool can_be(const Shape &other) const;
  };

  struct Node {
    std::string operation;
    Attributes attributes;
    std::vector<std::string> inputs, outputs;
    std::string domain = {};  // of an imported operator; ONNX's own is empty
    std::string label = {};   // the node's name in its file, if it has one
    // In the body of a function: attributes that are the function's own, by the names that they have there.
    std::map<std::string, std::string> references = {};
  };

  // An input that a run finds as the run before left it: that run's `next`, an output. Where `next` is the input itself,
  // runs leave it as it is: a learning rate.
  struct State {
    std::string value, next;
    Tensor initial;
  };

  using Sizes = std::map<std::string, int64_t>;

  NamedMap<Value> values;
  std::vector<Node> nodes;
  std::vector<std::string> inputs, outputs;
  std::vector<State> state;
  // Those that are open (open_sizes.h). What computes or compiles a graph needs one without.
  OpenSizes sizes;

  const Value &value(const std::string &name) const;
  // The node that makes a value, or null: an input or a constant.
  const Node *producer(const std::string &name) const;
  // How many nodes read a value, plus one if it is an output of the graph.
  int uses(const std::string &name) const;
  bool is_output(const std::string &name) const;
  // What whoever runs the graph gives and asks for: inputs and outputs that are not state.
  std::vector<std::string> given() const;
  std::vector<std::string> asked() const;
  // The names of these values and of all that they are made of, as long as the graph has them.
  std::unordered_set<std::string_view> needed_for(const std::vector<std::string> &values) const;
  // A name that no value has, beginning with `stem`.
  std::string fresh_name(const std::string &stem) const;

  void add_input(const std::string &name, Shape shape, Type type = Type::f32);
  void add_constant(const std::string &name, Tensor value);
  // Makes state of a value, which may be a constant until then.
  void add_state(const std::string &name, const std::string &next, Tensor initial);
  // Adds a node with one output of its own name, and returns that name.
  std::string add_node(const std::string &operation, std::vector<std::string> from, const std::string &to, Shape shape,
                       Attributes attributes = {}, Type type = Type::f32);

  // Every reader of `from` reads `to` instead, and the graph's outputs likewise.
  void replace_uses(const std::string &from, const std::string &to);
  // Drops nodes that no output needs, and values that nothing mentions. Inputs stay.
  void remove_unused();
};

// Whether they say the same: names, order, shapes, attributes (graphs inside included), elements of constants.
bool is_same(const Graph &a, const Graph &b);

// Throw an Error that names the value or node and what is wrong with it. A lowered graph knows every value's shape. In
// an imported one every value that is read is made before, once; graphs inside may read names of those around them.
void validate(const Graph &graph);
void validate_imported(const Graph &graph);

// Whether a name can stand in a text without quotes: letters, digits and _ . / : - , 200 characters at most.
bool is_plain_name(const std::string &name);

// "node 'y' (relu)", for messages.
std::string describe(const Graph::Node &node);

}  // namespace saltern
