#pragma once
// A net as data: which operation makes which value of which others, with every shape known.
//
// A graph is a plain value: copy it, change it, compare two runs of it. Values are named; a value is an input, a
// constant or the output of exactly one node. Nodes stand in an order in which they can be computed. Shapes are in the
// order that users know (N, C, H, W).

#include <map>
#include <string>
#include <vector>

#include "runtime/attributes.h"
#include "runtime/tensor.h"

namespace saltern {

struct Graph {
  struct Value {
    Shape shape;
    Type type = Type::f32;
    Tensor constant;  // undefined unless the value is a constant
  };

  struct Node {
    std::string operation;
    Attributes attributes;
    std::vector<std::string> inputs, outputs;
  };

  std::map<std::string, Value> values;
  std::vector<Node> nodes;
  std::vector<std::string> inputs, outputs;

  const Value &value(const std::string &name) const;
  // The node that makes a value, or null: an input or a constant.
  const Node *producer(const std::string &name) const;
  // How many nodes read a value, plus one if it is an output of the graph.
  int uses(const std::string &name) const;
  bool is_output(const std::string &name) const;
  // A name that no value has, beginning with `stem`.
  std::string fresh_name(const std::string &stem) const;

  void add_input(const std::string &name, Shape shape, Type type = Type::f32);
  void add_constant(const std::string &name, Tensor value);
  // Adds a node with one output of its own name, and returns that name.
  std::string add_node(const std::string &operation, std::vector<std::string> from, const std::string &to, Shape shape,
                       Attributes attributes = {}, Type type = Type::f32);

  // Every reader of `from` reads `to` instead, and the graph's outputs likewise.
  void replace_uses(const std::string &from, const std::string &to);
  // Drops nodes that no output needs, and values that nothing mentions. Inputs stay.
  void remove_unused();
};

// Throws an Error that names the value or node and what is wrong with it.
void validate(const Graph &graph);

// What a value may be called: letters, digits and _ . / : - , 200 characters at most (a net names its weights 0.weight).
bool is_value_name(const std::string &name);

}  // namespace saltern
