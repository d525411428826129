#include "runtime/onnx/lower_model.h"

#include "runtime/formula/evaluate.h"
#include "runtime/onnx/control_flow.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/run_model.h"
#include "runtime/onnx/undecided_branch.h"
#include "runtime/tensor/memory.h"

namespace saltern {

namespace {

constexpr int64_t most_turns = 4096;   // of a loop that is unrolled
constexpr int64_t largest_share = 16;  // what a constant is made of may be that many times as large as itself

using Operands = std::vector<Operand>;

class ModelLowering : public GraphWalk<Operand>, Turns<Operand> {
 public:
  ModelLowering(const Model &model, const LoweringLimits &limits, const LoweringNote &note)
      : GraphWalk(model), limits_(limits), note_(note), end_(std::chrono::steady_clock::now() + limits.time) {}

  Graph lower(const std::map<std::string, Shape> &shapes) {
    const Graph &g = model().graph;
    Operands inputs;
    for (const std::string &name : g.inputs) inputs.push_back(input(name, shapes));
    results_ = walk(g, inputs, nullptr);
    for (size_t i = 0; i < results_.size(); ++i) add_output(g.outputs[i], results_[i]);
    graph_.remove_unused();
    validate(graph_);
    return std::move(graph_);
  }

 private:
  Operand input(const std::string &name, const std::map<std::string, Shape> &shapes) {
    const Graph::Value &v = model().graph.value(name);
    if (v.constant.defined()) return constant(name, v.constant);
    if (v.container != Graph::Container::tensor) unsupported("the input '", name, "' is not a tensor");
    if (v.type == Type::text) unsupported("the input '", name, "' is of texts");
    Shape shape = v.shape;
    if (const auto given = shapes.find(name); given != shapes.end()) {
      if (!v.can_be(given->second))
        fail("the input '", name, "' is ", to_string(v.shape), "; given was ", to_string(given->second));
      shape = given->second;
    } else if (!v.ranked) {
      fail("the shape of the input '", name, "' is open; give one");
    }
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] < 0)
        fail("extent ", d, d < v.symbols.size() && !v.symbols[d].empty() ? " (" + v.symbols[d] + ")" : "",
             " of the input '", name, "' is open; give its shape");
    try {
      expect_room(v.type, shape);
    } catch (const OutOfMemory &e) {
      throw OutOfMemory("the input '" + name + "': " + e.what());
    }
    graph_.add_input(name, shape, v.type);
    return {name, v.type, shape, {}};
  }

  Operand constant(const std::string &stem, const Tensor &value) override {
    if (value.type() == Type::text) return {stem, value.type(), value.shape(), value};  // never in a kernel
    const std::string name = graph_.fresh_name(stem.empty() ? "constant" : stem);
    graph_.add_constant(name, value);
    return {name, value.type(), value.shape(), value};
  }

  // Every node counts, also one that is lowered again and again, and one of which nothing remains.
  Operands computed(const Graph::Node &n, const Operands &inputs, const Names &here) override {
    if (++nodes_ > limits_.nodes) unsupported("there are more than ", limits_.nodes, " nodes with loops unrolled");
    if (std::chrono::steady_clock::now() > end_)
      unsupported("lowering takes more than ", limits_.time.count(), " milliseconds");
    return GraphWalk::computed(n, inputs, here);
  }

  Operands apply(const Operator &op, const Graph::Node &n, int64_t opset, const Operands &inputs) override {
    const bool all_known =
        std::all_of(inputs.begin(), inputs.end(), [](const Operand &o) { return !o.present() || o.value.defined(); });
    if (all_known && !is_random(n)) return folded(op, n, opset, inputs);
    if (!op.lower) unsupported("the size of its result, or its kind, depends on data");
    return lowered(op, n, opset, inputs, graph_);
  }

  Operands lowered(const Operator &op, const Graph::Node &n, int64_t opset, const Operands &inputs,
                   Graph &graph) const {
    Lowering lowering(n, opset, inputs, graph, limits_.nodes);
    op.lower(lowering);
    return lowering.given();
  }

  static int64_t bytes_of(const Operands &all) {
    int64_t bytes = 0;
    for (const Operand &o : all) bytes += elements(o.shape) * facts(o.type).bytes();
    return bytes;
  }

  Operands folded(const Operator &op, const Graph::Node &n, int64_t opset, const Operands &inputs) {
    const bool texts =
        std::any_of(inputs.begin(), inputs.end(), [](const Operand &i) { return i.present() && i.type == Type::text; });
    if (op.lower && !texts) {  // a constant may be far larger than what it is made of
      Graph scratch;
      for (const Operand &i : inputs)
        if (i.present() && !scratch.values.count(i.name)) scratch.add_constant(i.name, i.value);
      const int64_t bytes =
          std::max(bytes_of(inputs) / largest_share, bytes_of(lowered(op, n, opset, inputs, scratch)));
      if (bytes > limits_.folded_bytes) return lowered(op, n, opset, inputs, graph_);
    }
    std::vector<HostValue> values;
    for (const Operand &i : inputs) values.push_back(i.present() ? HostValue(i.value) : HostValue());
    Operands results;
    const std::vector<HostValue> made = compute_operator(op, n, opset, values);
    for (size_t o = 0; o < made.size(); ++o) {
      if (made[o].is_sequence()) unsupported("it makes a sequence");
      results.push_back(made[o].is_tensor() ? constant(o < n.outputs.size() ? n.outputs[o] : "", made[o].tensor())
                                            : Operand());
    }
    return results;
  }

  Operands control_flow(const Graph::Node &n, int64_t opset, const Operands &inputs, const Names &here) override {
    if (n.operation == "If" && !inputs.at(0).value.defined()) return undecided(n, inputs[0], here);
    return ControlFlow<Operand>(*this, *this, n, here).results(opset, inputs);
  }

  // Data decides it: both branches are lowered, or the one that can be.
  Operands undecided(const Graph::Node &n, const Operand &condition, const Names &here) {
    const auto name = [](bool then) { return then ? "then_branch" : "else_branch"; };
    return either(
        Lowering(n, 0, {}, graph_), condition,
        [&](bool then) { return walk(n.attributes.graph(name(then)), {}, &here); },
        [&](bool then, const std::string &why) {
          if (note_)
            note_(describe(n) + ": results are NaN where data takes its " + name(then) +
                  ", which cannot be lowered: " + why);
        });
  }

  // ---- What loops ask.
  bool absent(const Operand &v) const override { return !v.present(); }
  bool truth(const Operand &v) const override {
    if (!v.value.defined()) unsupported("its condition depends on data");
    return v.value.integers().at(0) != 0;
  }
  int64_t count(const Operand &v) const override {
    if (!v.value.defined()) unsupported("its number of turns depends on data");
    return v.value.integers().at(0);
  }
  const Shape &shape(const Operand &v) const override { return v.shape; }
  Operand taken(const Graph::Node &n, const Operand &x, int axis, int64_t i) override {
    Shape shape = x.shape;
    shape.erase(shape.begin() + axis);
    return Lowering(n, 0, {}, graph_).formula(x.type, shape, {x}, [&](const Reads &r, const Axes &at) {
      Axes indices(at);
      indices.insert(indices.begin() + axis, index(i));
      return r[0](indices);
    });
  }
  Operand stacked(const Graph::Node &n, const Operands &parts, int64_t axis) override {
    Lowering to(n, 0, {}, graph_);
    Shape thick = parts.at(0).shape;
    const int at = to.axis(axis, static_cast<int>(thick.size()) + 1);
    thick.insert(thick.begin() + at, 1);
    Operands all;
    for (const Operand &p : parts) all.push_back(to.reshaped(p, thick));
    return concatenated(to, all, at);
  }
  void begin(int64_t turn) const override {
    if (turn == most_turns) unsupported("it has more than ", most_turns, " turns; a compiled loop is unrolled");
  }

  // An output is a value of its own, under the name that the model gives it; an input may be one as it is.
  void add_output(const std::string &name, Operand value) {
    if (value.type == Type::text) unsupported("the output '", name, "' is of texts");
    const bool is_input =
        value.name == name && std::find(graph_.inputs.begin(), graph_.inputs.end(), name) != graph_.inputs.end();
    const bool own = graph_.producer(value.name) && !graph_.is_output(value.name);
    if (!is_input && !own) {
      Graph::Node n;
      n.operation = "formula";
      n.outputs = {name};
      Lowering to(n, 0, {}, graph_);
      value = to.formula(value.type, value.shape, {value}, [](const Reads &r, const Axes &) { return r[0].here(); });
    }
    if (value.name != name) {
      if (graph_.values.count(name)) rename(name, graph_.fresh_name(name));
      rename(value.name, name);
    }
    graph_.outputs.push_back(name);
  }

  void rename(const std::string &from, const std::string &to) {
    graph_.values[to] = graph_.values.at(from);
    graph_.values.erase(from);
    graph_.replace_uses(from, to);
    std::replace(graph_.inputs.begin(), graph_.inputs.end(), from, to);
    for (Graph::Node &n : graph_.nodes) std::replace(n.outputs.begin(), n.outputs.end(), from, to);
    for (Operand &o : results_)
      if (o.name == from) o.name = to;
  }

  Operands results_;  // of the model, by the names that they have now
  LoweringLimits limits_;
  const LoweringNote &note_;
  std::chrono::steady_clock::time_point end_;
  size_t nodes_ = 0;
  Graph graph_;
};

}  // namespace

LoweringLimits quick_limits(const Model &model) {
  using namespace std::chrono_literals;
  return {(size_t{1} << 14) + 4 * model.graph.nodes.size(), int64_t{64} << 10, size_t{64} << 20, 1e8, 3s};
}

Graph lower_model(const Model &model, const std::map<std::string, Shape> &shapes, const LoweringLimits &limits,
                  const LoweringNote &note) {
  check_operators(model);
  const AllocationBudget bytes(limits.allocated_bytes);
  const StepBudget steps(limits.steps);
  return ModelLowering(model, limits, note).lower(shapes);
}

void expect_room(const Model &model, const std::map<std::string, Shape> &shapes) {
  try {
    lower_model(model, shapes, quick_limits(model));
  } catch (const OutOfMemory &) {
    throw;
  } catch (const Error &) {  // that is for whoever runs the model to say, or not
  }
}

}  // namespace saltern
