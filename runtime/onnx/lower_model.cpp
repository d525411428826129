#include "runtime/onnx/lower_model.h"

#include "algorithms/movement.h"
#include "runtime/formula/evaluate.h"
#include "runtime/onnx/control_flow.h"
#include "runtime/onnx/flat_values.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/run_model.h"
#include "runtime/onnx/undecided_branch.h"
#include "runtime/tensor/memory.h"

namespace saltern {

namespace {

constexpr int64_t most_unrolled_turns = 4096;   // of a loop that is unrolled
constexpr int64_t largest_share = 16;  // what a constant is made of may be that many times as large as itself

using Operands = std::vector<Operand>;
using Shapes = std::map<std::string, Shape>;

bool is_known(const Operand &v) {
  if (v.sequence) return std::all_of(v.sequence->begin(), v.sequence->end(), is_known);
  return !v.present() || v.value.defined();
}

// Of what is known.
HostValue host_value(const Operand &v) {
  if (!v.sequence) return v.present() ? HostValue(v.value) : HostValue();
  HostValue::Sequence all;
  for (const Operand &e : *v.sequence) all.push_back(host_value(e));
  return HostValue(std::move(all), v.type);
}

class ModelLowering : public GraphWalk<Operand> {
 public:
  ModelLowering(const Model &model, const LoweringLimits &limits, const LoweringNote &note)
      : GraphWalk(model), limits_(limits), note_(note), end_(std::chrono::steady_clock::now() + limits.time) {}

  Graph lower(const Shapes &shapes) {
    const Graph &g = model().graph;
    Operands inputs;
    for (const std::string &name : g.inputs) inputs.push_back(input(name, shapes));
    std::vector<std::string> names;
    const Operands results = walk(g, inputs, nullptr);
    for (size_t i = 0; i < results.size(); ++i) {
      const Operands tensors = tensors_in(results[i]);  // none where an optional is empty
      for (size_t e = 0; e < tensors.size(); ++e) {
        names.push_back(results[i].sequence ? element_name(g.outputs[i], e) : g.outputs[i]);
        if (results[i].sequence && std::find(g.outputs.begin(), g.outputs.end(), names.back()) != g.outputs.end())
          fail("two outputs are called '", names.back(), "'");
      }
      results_.insert(results_.end(), tensors.begin(), tensors.end());
    }
    for (size_t i = 0; i < results_.size(); ++i) add_output(names[i], results_[i]);
    graph_.remove_unused();
    validate(graph_);
    return std::move(graph_);
  }

 private:
  friend class ControlFlow<ModelLowering>;

  // A sequence is the elements that shapes are given for, an optional without a shape is empty.
  Operand input(const std::string &name, const Shapes &shapes) {
    const Graph::Value &v = model().graph.value(name);
    if (v.constant.defined()) return constant(name, v.constant);
    if (!is_sequence(v)) return is_optional(v) && !shapes.count(name) ? Operand() : tensor_input(name, v, shapes);
    Operands elements;
    const auto next = [&] { return element_name(name, elements.size()); };
    while (shapes.count(next())) elements.push_back(tensor_input(next(), v, shapes));
    for (const auto &[given, shape] : shapes)
      if (is_element_of(given, name) && !graph_.values.count(given) && !model().graph.values.count(given))
        fail("the sequence '", name, "' has no element '", next(), "', and given was '", given, "'");
    const auto own = shapes.find(name);
    const bool told = own != shapes.end();
    if (told ? !elements.empty() || !own->second.empty() : elements.empty() && !is_optional(v))
      fail("the input '", name, "' is a sequence; give the shapes of its elements: ", element_name(name, 0), ", ...");
    return told || !elements.empty() ? sequence_of(std::move(elements), v.type) : Operand();
  }

  Operand tensor_input(const std::string &name, const Graph::Value &v, const Shapes &shapes) {
    if (graph_.values.count(name)) fail("two inputs are called '", name, "'");
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
    if (std::all_of(inputs.begin(), inputs.end(), is_known) && !is_random(n)) return folded(op, n, opset, inputs);
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
    for (const Operand &o : all)
      for (const Operand &t : tensors_in(o)) bytes += saltern::elements(t.shape) * facts(t.type).bytes();
    return bytes;
  }

  Operands folded(const Operator &op, const Graph::Node &n, int64_t opset, const Operands &inputs) {
    const bool numbers = std::none_of(inputs.begin(), inputs.end(), [](const Operand &i) {
      return i.sequence || (i.present() && i.type == Type::text);
    });
    if (op.lower && numbers) {  // a constant may be far larger than what it is made of
      Graph scratch;
      for (const Operand &i : inputs)
        if (i.present() && !scratch.values.count(i.name)) scratch.add_constant(i.name, i.value);
      const int64_t bytes =
          std::max(bytes_of(inputs) / largest_share, bytes_of(lowered(op, n, opset, inputs, scratch)));
      if (bytes > limits_.folded_bytes) return lowered(op, n, opset, inputs, graph_);
    }
    std::vector<HostValue> values;
    std::unordered_map<const void *, Operand> given;  // by the address of elements
    for (const Operand &i : inputs) {
      values.push_back(host_value(i));
      for (const Operand &t : tensors_in(i)) given.emplace(t.value.raw(), t);
    }
    Operands results;
    const std::vector<HostValue> made = compute_operator(op, n, opset, values);
    for (size_t o = 0; o < made.size(); ++o)
      results.push_back(operand(o < n.outputs.size() ? n.outputs[o] : "", made[o], given));
    return results;
  }

  // What was computed of known tensors. Those that are passed on as they are stay what they are in the graph: a loop
  // may put thousands into a sequence, one by one.
  Operand operand(const std::string &stem, const HostValue &v, const std::unordered_map<const void *, Operand> &given) {
    if (v.is_map()) unsupported("it makes a map");
    if (v.is_empty()) return {};
    if (v.is_tensor()) {
      const Tensor &t = v.tensor();
      const auto same = given.find(t.raw());
      const bool as_it_is = same != given.end() && t.type() == same->second.type && t.shape() == same->second.shape &&
                            t.strides() == same->second.value.strides();
      return as_it_is ? same->second : constant(stem, t);
    }
    Operands all;
    for (const HostValue &e : v.sequence()) all.push_back(operand(stem, e, given));
    return sequence_of(std::move(all), v.element_type());
  }

  Operands control_flow(const Graph::Node &n, int64_t opset, const Operands &inputs, const Names &here) override {
    if (n.operation == "If" && !inputs.at(0).value.defined()) return undecided(n, inputs[0], here);
    return ControlFlow<ModelLowering>(*this, n, here).results(opset, inputs);
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
  bool absent(const Operand &v) const { return !v.present(); }
  bool truth(const Operand &v) const { return known_value(graph_, v, "its condition").integers().at(0) != 0; }
  int64_t count(const Operand &v) const { return known_value(graph_, v, "its number of turns").integers().at(0); }
  const Shape &shape(const Operand &v) const { return v.tensor().shape; }
  Operand taken(const Graph::Node &n, const Operand &x, int axis, int64_t i) {
    Lowering to(n, 0, {}, graph_);
    return saltern::taken(to, x, axis, i);
  }
  Operand stacked(const Graph::Node &n, const Operands &parts, int64_t axis) {
    Lowering to(n, 0, {}, graph_);
    return saltern::stacked(to, parts, axis);
  }
  const Operands *elements(const Operand &v) const { return v.sequence.get(); }
  Operand sequence(Operands elements, Type type) const { return sequence_of(std::move(elements), type); }
  void begin(int64_t turn) const {
    if (turn == most_unrolled_turns) unsupported("it has more than ", most_unrolled_turns, " turns; a compiled loop is unrolled");
  }

  // An output is a value of its own, under the name that the model gives it; an input may be one as it is.
  void add_output(const std::string &name, Operand value) {
    if (value.type == Type::text) unsupported("the output '", name, "' is of texts");
    const bool names_input = std::find(graph_.inputs.begin(), graph_.inputs.end(), name) != graph_.inputs.end(),
               is_input = names_input && value.name == name;
    if (names_input && !is_input) fail("an input and an output are called '", name, "'");
    const bool own = graph_.producer(value.name) && !graph_.is_output(value.name);
    if (!is_input && !own) {
      Graph::Node n;
      n.operation = "formula";
      n.outputs = {name};
      Lowering to(n, 0, {}, graph_);
      value = to.computed(algorithms::broadcasted(value, extents(value.shape)));
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

Model with_shapes(Model model, const Shapes &shapes) {
  for (const auto &[name, shape] : shapes) {
    if (!model.graph.values.count(name)) continue;  // an element of a sequence
    Graph::Value &v = model.graph.values.at(name);
    if (v.constant.defined() || is_sequence(v) || !v.can_be(shape)) continue;
    v.shape = shape;
    v.symbols.clear();
    v.ranked = true;
  }
  return model;
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
