#pragma once
// What is known of a value before a model runs, for every size that its inputs may have: rank, type, extents as
// quantities, and elements as far as sizes alone decide on them.

#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/quantity.h"

namespace saltern {

struct Symbolic {
  bool present = false, known = false;  // absent; there, and nothing known of it; known
  Type type = Type::f32;
  Quantities extents = {};  // each is known: what no rule tells is an unknown of its own
  Tensor value = {};        // the elements, where they are the same whatever the sizes are
  // Else those of few integers or truths, row by row, as far as they are known; none where nothing is.
  Quantities elements = {};
  // Whether the node that makes it cannot fail on any size.
  bool sure = false;

  bool is_open() const;
  // Of a value that is not open.
  Shape shape() const;
};

using Symbolics = std::vector<Symbolic>;

Symbolic symbolic(Type type, Quantities extents, bool sure, Tensor value = {});
Symbolic symbolic(const Tensor &constant);
// There, and nothing known of it.
Symbolic unknown();

// One node that is looked at.
class SymbolicCall {
 public:
  SymbolicCall(const Operator &op, const Graph::Node &node, int64_t opset, const Symbolics &inputs, int &unknowns)
      : op(op), node(node), opset(opset), inputs(inputs), unknowns_(unknowns) {}

  const Operator &op;
  const Graph::Node &node;
  const int64_t opset;
  const Symbolics &inputs;

  const Attributes &attributes() const { return node.attributes; }
  bool has(size_t i) const { return i < inputs.size() && inputs[i].present; }
  // Throws where it is absent.
  const Symbolic &input(size_t i) const;
  size_t axis(const char *attribute, int64_t otherwise, size_t rank) const;
  // A list that is an attribute or an input: nothing where neither is there. Throw where not even its length is known;
  // the second also where one of its elements is not, or is not the same for all sizes.
  std::optional<Quantities> listed(const char *attribute, size_t input) const;
  std::optional<std::vector<int64_t>> fixed_list(const char *attribute, size_t input) const;
  // A result. What is not known of its extents are unknowns.
  Symbolic result(Type type, Quantities extents, bool sure = false);

  // What the operator's lowering gives for operands "input0", "input1", ... of these shapes.
  struct Lowered {
    Graph graph;
    std::vector<Operand> results;
  };
  Lowered lowered(const std::vector<Shape> &shapes, bool with_values = true) const;

 private:
  int &unknowns_;
};

// All elements of a value that is not open and has few; throws where it is not so.
Quantities elements_of(const Symbolic &v);
// Values that are quantities: integers and truths.
bool has_quantities(Type type);
// Whether a type holds a number for every size. 64 bits hold whatever sizes give.
bool holds(Type type, const Quantity &number);
// Gives a value its elements, as a tensor where they are the same whatever the sizes are.
void set_elements(Symbolic &v, Quantities elements);
// The extent that two broadcast to. `sure` becomes false where they may not fit each other.
Quantity broadcast_extent(const Quantity &a, const Quantity &b, bool &sure);

// The results of a node none of whose operands is open (symbolic_elements.cpp); throws where nothing can be told.
Symbolics with_fixed_shapes(SymbolicCall &call);

// ---- The rules, which give the results of a node some of whose operands are open, or have elements that depend on sizes
// and tell a shape. They throw, or give nothing, where nothing can be told.

// Of operators whose results' extents are told by those of operands alone (extent_rules.cpp).
Symbolics extents_by_operands(SymbolicCall &call);
// Of operators that move elements to a shape which elements of operands tell (shape_rules.cpp); nothing for others.
Symbolics extents_by_elements(SymbolicCall &call);

}  // namespace saltern
