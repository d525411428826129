#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"

namespace saltern {

namespace {

// A tensor that is transposed already, so that a Transpose by `order` gives the one that is given.
Tensor before_transpose(const Tensor &t, const Order &order) {
  const size_t rank = order.size();
  Shape shape(rank - t.shape().size(), 1), strides(rank - t.shape().size(), 0);
  shape.insert(shape.end(), t.shape().begin(), t.shape().end());
  strides.insert(strides.end(), t.strides().begin(), t.strides().end());
  Shape to(rank), steps(rank);
  for (size_t d = 0; d < rank; ++d) {
    to[static_cast<size_t>(order[d])] = shape[d];
    steps[static_cast<size_t>(order[d])] = strides[d];
  }
  return t.viewed(to, steps).in_layout(Layout::row_major).clone();
}

// One node as it would stand before the Transpose of its inputs: the same operator with other axes.
struct Pushed {
  Graph::Node node;
  Order order;  // of the Transpose after it
};

class Pushing {
 public:
  Pushing(Model &m, const Inferred &known, bool shared) : opset_(m.opset()), shared_(shared), sweep_(m.graph, known) {}

  void run() {
    sweep_.run([this](Graph::Node n) { visit(std::move(n)); });
  }

 private:
  // How a kind of node goes before a Transpose; false where it does not.
  using Rule = bool (Pushing::*)(Pushed &);
  struct Row {
    Rule rule;
    bool many_operands;  // all inputs are transposed alike, or constants
    std::set<std::string> operations;
  };

  static const std::vector<Row> &rows() {
    static const std::vector<Row> all = {
        {&Pushing::elementwise, true, {"Cast", "Identity"}},  // and all that is elementwise
        {&Pushing::softmax, false, {"Softmax", "LogSoftmax", "Hardmax"}},
        {&Pushing::concat, true, {"Concat"}},
        {&Pushing::split, false, {"Split"}},
        {&Pushing::reduce,
         false,
         {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
          "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin"}},
        {&Pushing::pad, false, {"Pad"}},
    };
    return all;
  }

  void visit(Graph::Node n) {
    if (is_onnx_operator(n, "Transpose") && n.attributes.has("perm")) return transpose(std::move(n));
    for (const Row &r : rows())
      if (n.domain.empty() && n.references.empty() &&
          (r.operations.count(n.operation) || (r.rule == &Pushing::elementwise && is_elementwise(n)))) {
        Pushed p{n, {}};
        if (!take_operands(p, r.many_operands && n.operation != "Clip") || !(this->*r.rule)(p)) break;
        return keep_transposed(std::move(p));
      }
    sweep_.keep(std::move(n));
  }

  // The Transpose that makes a value, where there is one to push.
  const Graph::Node *transpose_of(const std::string &name) {
    const Graph::Node *n = name.empty() ? nullptr : sweep_.maker(name);
    if (!n || !is_onnx_operator(*n, "Transpose") || !n->attributes.has("perm")) return nullptr;
    if (!is_order(n->attributes.integers("perm"))) return nullptr;
    return shared_ || made_.count(name) || sweep_.has_one_reader(name) ? n : nullptr;
  }

  // Gives the node its operands as they are before the Transpose.
  bool take_operands(Pushed &p, bool many) {
    const size_t count = many ? p.node.inputs.size() : 1;
    if (p.node.inputs.size() < count) return false;
    for (size_t i = 0; i < count; ++i)
      if (const Graph::Node *t = transpose_of(p.node.inputs[i])) p.order = t->attributes.integers("perm");
    if (p.order.empty()) return false;
    std::vector<std::pair<size_t, Tensor>> constants;
    for (size_t i = 0; i < count; ++i) {
      std::string &name = p.node.inputs[i];
      const Graph::Node *t = transpose_of(name);
      if (t && t->attributes.integers("perm") == p.order) {
        name = t->inputs[0];
        continue;
      }
      const Tensor *c = sweep_.constant_of(name);
      if (!c || c->shape().size() > p.order.size() || c->type() == Type::text) return false;
      constants.emplace_back(i, *c);
    }
    for (const auto &[i, c] : constants)
      if (c.size() != 1 || p.node.operation == "Concat")
        p.node.inputs[i] = sweep_.constant(p.node.inputs[i] + ".transposed", before_transpose(c, p.order));
    return true;
  }

  void keep_transposed(Pushed p) {
    std::vector<Graph::Node> after;
    for (std::string &o : p.node.outputs) {
      if (o.empty()) continue;
      Graph::Node t;
      t.operation = "Transpose";
      t.attributes = {{"perm", p.order}};
      t.attributes.set_owner(t.operation);
      t.outputs = {o};
      made_.insert(o);
      o.append(".before");
      o = sweep_.fresh(o);
      t.inputs = {o};
      after.push_back(std::move(t));
    }
    const bool stays = moves_nothing(p.order);
    if (stays)
      for (size_t o = 0, next = 0; o < p.node.outputs.size(); ++o)
        if (!p.node.outputs[o].empty()) p.node.outputs[o] = after[next++].outputs[0];
    sweep_.keep(std::move(p.node));
    if (!stays)
      for (Graph::Node &t : after) sweep_.keep(std::move(t));
  }

  // A Transpose of a Transpose is one, or none.
  void transpose(Graph::Node n) {
    const Graph::Node *before = transpose_of(n.inputs[0]);
    const Order both = before ? merged(before->attributes.integers("perm"), n.attributes.integers("perm")) : Order();
    if (both.empty()) return sweep_.keep(std::move(n));
    n.inputs[0] = before->inputs[0];
    if (moves_nothing(both) && !sweep_.is_fixed(n.outputs[0])) return sweep_.rename(n.outputs[0], n.inputs[0]);
    n.attributes.set("perm", both);
    sweep_.keep(std::move(n));
  }

  // ---- Rules.
  int64_t before(int64_t axis, const Order &order) const {
    const auto rank = static_cast<int64_t>(order.size());
    return order[static_cast<size_t>(axis_within(axis, rank))];
  }

  // Operands that broadcast have the rank of the result only as constants; the others are its Transposes' own. Before
  // opset 7 they need not be aligned at their ends.
  bool elementwise(Pushed &p) { return p.node.outputs.size() == 1 && (opset_ >= 7 || p.node.inputs.size() == 1); }

  // Before opset 13 these flatten, which a Transpose changes.
  bool softmax(Pushed &p) { return opset_ >= 13 && along_axis(p, -1); }
  bool concat(Pushed &p) { return p.node.attributes.has("axis") && along_axis(p, 0); }
  bool split(Pushed &p) { return along_axis(p, 0); }
  bool along_axis(Pushed &p, int64_t otherwise) {
    p.node.attributes.set("axis", before(p.node.attributes.integer("axis", otherwise), p.order));
    return true;
  }

  // Axes by attribute or by a constant input; without dimensions that are dropped, the order has gaps to close.
  bool reduce(Pushed &p) {
    Graph::Node &n = p.node;
    const bool of_one = n.operation == "ArgMax" || n.operation == "ArgMin";
    std::vector<int64_t> axes;
    if (of_one) {
      axes = {before(n.attributes.integer("axis", 0), p.order)};
      n.attributes.set("axis", axes[0]);
    } else if (n.attributes.has("axes")) {
      for (const int64_t a : n.attributes.integers("axes")) axes.push_back(before(a, p.order));
      n.attributes.set("axes", axes);
    } else {
      const Tensor *given = n.inputs.size() > 1 ? sweep_.constant_of(n.inputs[1]) : nullptr;
      if (!given || given->size() == 0) return false;
      for (const int64_t a : given->integers()) axes.push_back(before(a, p.order));
      n.inputs[1] = sweep_.constant(n.inputs[1] + ".moved", list_of(axes));
    }
    if (n.attributes.integer("keepdims", 1) != 0) return true;
    const auto is_dropped = [&](int64_t d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); };
    Order kept;
    for (const int64_t d : p.order)
      if (!is_dropped(d)) kept.push_back(d - std::count_if(axes.begin(), axes.end(), [&](int64_t a) { return a < d; }));
    p.order = kept;
    return is_order(p.order);
  }

  bool pad(Pushed &p) {
    Graph::Node &n = p.node;
    const size_t rank = p.order.size();
    const Tensor *given = n.inputs.size() > 1 ? sweep_.constant_of(n.inputs[1]) : nullptr;
    if (!given || given->size() != static_cast<int64_t>(2 * rank) || (n.inputs.size() > 3 && !n.inputs[3].empty()))
      return false;
    const std::vector<int64_t> pads = given->integers();
    std::vector<int64_t> moved(pads.size());
    for (size_t d = 0; d < rank; ++d) {
      const auto to = static_cast<size_t>(p.order[d]);
      moved[to] = pads[d];
      moved[rank + to] = pads[rank + d];
    }
    n.inputs[1] = sweep_.constant(n.inputs[1] + ".moved", list_of(moved));
    return true;
  }

  int64_t opset_;
  bool shared_;                 // Transposes that more than one node reads are pushed too
  std::set<std::string> made_;  // by Transposes that stand where they were pushed to
  Sweep sweep_;
};

int64_t transposes_in(const Graph &g) {
  return std::count_if(g.nodes.begin(), g.nodes.end(),
                       [](const Graph::Node &n) { return is_onnx_operator(n, "Transpose"); });
}

}  // namespace

Model with_pushed_transposes(Model m, const Inferred &known) {
  const int64_t before = transposes_in(m.graph);
  for (const bool shared : {true, false}) {
    if (before == 0) break;
    Model pushed = m;
    Pushing(pushed, known, shared).run();
    pushed = without_dead_code(std::move(pushed));
    if (transposes_in(pushed.graph) < before) return pushed;
  }
  return m;
}

}  // namespace saltern
