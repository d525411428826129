#include "generators/model/samples.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "algorithms/elementwise.h"
#include "runtime/onnx/operators/lowering.h"

namespace saltern::generators {

namespace {

class Proof {
 public:
  Proof(const Graph &many, const Graph &one) : many_(many), one_(one) {}

  int64_t samples();

 private:
  using Node = Graph::Node;
  using Rule = bool (Proof::*)(const Node &) const;

  bool depends(const std::string &value) const { return dependent_.count(value) > 0; }
  const Shape &shape(const std::string &value) const { return many_.value(value).shape; }
  bool has_same_constant(const std::string &value) const;
  // Whether the first dimension counts blocks of samples, so that a row of it belongs to one sample.
  bool has_rows(const std::string &value) const;
  void check(const Node &node, const Node &single);

  // ---- Rules: whether the result of a node with a sample-major input is sample-major.
  bool elementwise(const Node &n) const;
  bool first_input_by_rows(const Node &n) const;
  bool along_axis(const Node &n) const;
  bool along_axes(const Node &n) const;
  bool transpose(const Node &n) const;
  bool concat(const Node &n) const;
  bool matmul(const Node &n) const;
  bool formula(const Node &n, const Node &single, const std::string &attribute) const;
  bool scan(const Node &n, const Node &single) const;
  Rule rule(const Node &n) const;

  const Graph &many_, &one_;
  int64_t samples_ = 0;
  std::set<std::string> dependent_;  // sample-major; all others are the same for any batch
};

bool Proof::has_same_constant(const std::string &value) const {
  const Tensor &a = many_.value(value).constant, &b = one_.value(value).constant;
  if (!a.defined()) return !b.defined();
  if (!b.defined() || a.shape() != b.shape() || a.type() != b.type() || a.type() == Type::text) return false;
  const Tensor x = a.in_layout(Layout::row_major), y = b.in_layout(Layout::row_major);
  return std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

bool Proof::has_rows(const std::string &value) const {
  const Shape &a = shape(value), &b = one_.value(value).shape;
  return !a.empty() && a.size() == b.size() && a[0] == samples_ * b[0] &&
         std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

bool Proof::elementwise(const Node &n) const {
  const Shape &y = shape(n.outputs[0]);
  for (const std::string &i : n.inputs) {
    const Shape &x = shape(i);
    // What is the same for all samples must not have the dimension that counts them.
    const bool fits =
        depends(i) ? has_rows(i) && x.size() == y.size() && x[0] == y[0] : x.size() < y.size() || x[0] == 1;
    if (!fits) return false;
  }
  return true;
}

bool Proof::first_input_by_rows(const Node &n) const {
  for (size_t i = 1; i < n.inputs.size(); ++i)
    if (depends(n.inputs[i])) return false;
  return has_rows(n.inputs[0]);
}

bool Proof::along_axis(const Node &n) const {
  const auto rank = static_cast<int64_t>(shape(n.inputs[0]).size());
  return first_input_by_rows(n) && (n.attributes.integer("axis") + rank) % rank != 0;
}

bool Proof::along_axes(const Node &n) const {
  const auto rank = static_cast<int64_t>(shape(n.inputs[0]).size());
  const std::vector<int64_t> &axes = n.attributes.integers("axes");
  return has_rows(n.inputs[0]) &&
         std::none_of(axes.begin(), axes.end(), [&](int64_t a) { return (a + rank) % rank == 0; });
}

bool Proof::transpose(const Node &n) const {
  return has_rows(n.inputs[0]) && n.attributes.integers("order").at(0) == 0;
}

bool Proof::concat(const Node &n) const {
  const auto rank = static_cast<int64_t>(shape(n.inputs[0]).size());
  for (const std::string &i : n.inputs)
    if (!depends(i) || !has_rows(i)) return false;
  return (n.attributes.integer("axis") + rank) % rank != 0;
}

bool Proof::matmul(const Node &n) const {
  const std::string &a = n.inputs[0], &b = n.inputs[1];
  if (!depends(b)) return has_rows(a) && (shape(b).size() < shape(n.outputs[0]).size() || shape(b).size() == 2);
  return shape(b).size() > 2 && elementwise(n);  // each sample has its own matrix
}

// Sample-major operands are read in the row of the element itself, and the place of the row is used for nothing else.
bool Proof::formula(const Node &n, const Node &single, const std::string &attribute) const {
  bool by_rows = true;
  const auto without_rows = [&](const Node &node, const Graph &graph) {
    return formula::replaced(node.attributes.expression(attribute), [&](const formula::Expression &leaf) {
      using Kind = formula::Expression::Kind;
      if (leaf->kind != Kind::load) return formula::Expression();
      const std::string &from = n.inputs.at(static_cast<size_t>(leaf->number));
      if (!depends(from)) return formula::Expression();
      std::vector<formula::Expression> indices = leaf->arguments;
      by_rows &= !indices.empty() && has_rows(from) && shape(from)[0] == shape(n.outputs[0])[0];
      if (!by_rows) return formula::Expression();
      const bool only_row = graph.value(from).shape[0] == 1 && indices[0]->kind == Kind::constant;
      by_rows &= only_row || (indices[0]->kind == Kind::axis && indices[0]->number == 0);
      indices[0] = formula::constant_integer(Type::i64, 0);
      return formula::load(leaf->number, leaf.type(), indices);
    });
  };
  const formula::Expression many = without_rows(n, many_), one = without_rows(single, one_);
  formula::for_each_node(many, [&](const formula::Expression::Node &e) {
    by_rows &= e.kind != formula::Expression::Kind::axis || e.number != 0;
  });
  return by_rows && to_string(many) == to_string(one);
}

// And goes along something else than the samples.
bool Proof::scan(const Node &n, const Node &single) const {
  return n.attributes.integer("along") != 0 && single.attributes.integer("along") == n.attributes.integer("along") &&
         formula(n, single, "before") && formula(n, single, "element");
}

Proof::Rule Proof::rule(const Node &n) const {
  static const std::map<std::string, Rule> rules = {
      {"average_pool2d", &Proof::first_input_by_rows},
      {"batch_norm", &Proof::first_input_by_rows},
      {"concat", &Proof::concat},
      {"conv2d", &Proof::first_input_by_rows},
      {"conv2d_gradient_x", &Proof::first_input_by_rows},
      {"dense", &Proof::first_input_by_rows},
      {"integer_conv2d", &Proof::first_input_by_rows},
      {"integer_dense", &Proof::first_input_by_rows},
      {"expand", &Proof::elementwise},
      {"layer_norm", &Proof::along_axis},
      {"log_softmax", &Proof::along_axis},
      {"matmul", &Proof::matmul},
      {"max_pool2d", &Proof::first_input_by_rows},
      {"rms_norm", &Proof::along_axis},
      {"slice", &Proof::along_axis},
      {"softmax", &Proof::along_axis},
      {"sum", &Proof::along_axes},
      {"transpose", &Proof::transpose},
  };
  const auto found = rules.find(n.operation);
  if (found != rules.end()) return found->second;
  const bool known = algorithms::find_row(algorithms::unary_rows(), n.operation) ||
                     algorithms::find_row(algorithms::binary_rows(), n.operation);
  return known ? &Proof::elementwise : nullptr;
}

void Proof::check(const Node &n, const Node &single) {
  const bool is_formula = n.operation == "formula", is_reshape = n.operation == "reshape";
  const bool is_scan = n.operation == "scan";
  if (n.operation != single.operation || n.inputs != single.inputs || n.outputs != single.outputs)
    unsupported(describe(n), " is another one (", single.operation, ") where the batch is one sample");
  bool any = false;
  for (const std::string &i : n.inputs) {
    any |= depends(i);
    if (!depends(i) && !has_same_constant(i))
      unsupported(describe(n), " reads '", i, "', which depends on the size of the batch");
  }
  const std::string &y = n.outputs[0];
  if (!any) {
    if (shape(y) != one_.value(y).shape || n.attributes != single.attributes)
      unsupported(describe(n), " depends on the size of the batch");
    return;
  }
  const Rule rule = this->rule(n);
  // A repetition is told the shape that it has.
  const bool same = n.operation == "expand" || n.attributes == single.attributes;
  const bool kept = is_reshape   ? true
                    : is_formula ? formula(n, single, "element")
                    : is_scan    ? scan(n, single)
                    : rule       ? (this->*rule)(n) && same
                                 : false;
  if (n.outputs.size() != 1 || !kept || !(is_reshape || has_rows(y)))
    unsupported(describe(n), " may mix the samples of a batch: the model cannot be compiled for any batch size");
  dependent_.insert(y);
}

int64_t Proof::samples() {
  if (many_.inputs != one_.inputs || many_.outputs != one_.outputs || many_.nodes.size() != one_.nodes.size())
    unsupported("the model is another one where the batch is one sample");
  if (!many_.state.empty()) unsupported("the state '", many_.state[0].value, "' would be that of all samples");
  for (const std::string &i : many_.inputs) {
    const Shape &a = shape(i), &b = one_.value(i).shape;
    if (samples_ == 0 && !a.empty() && !b.empty() && b[0] > 0) samples_ = a[0] / b[0];
    if (!has_rows(i)) unsupported("the input '", i, "' does not have the batch as its first dimension");
    dependent_.insert(i);
  }
  if (samples_ < 2) unsupported("no input has a batch");
  for (size_t n = 0; n < many_.nodes.size(); ++n) check(many_.nodes[n], one_.nodes[n]);
  for (const std::string &o : many_.outputs)
    if (!depends(o)) unsupported("the output '", o, "' is the same for any batch");
  return samples_;
}

}  // namespace

int64_t check_samples_are_independent(const Graph &many, const Graph &one) { return Proof(many, one).samples(); }

}  // namespace saltern::generators
