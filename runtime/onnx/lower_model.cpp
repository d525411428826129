#include "runtime/onnx/lower_model.h"

#include <algorithm>

#include "runtime/onnx/control_flow.h"
#include "runtime/onnx/run_model.h"
#include "runtime/operators/operators.h"

namespace saltern {

namespace {

constexpr int64_t most_turns = 4096;          // of a loop that is unrolled
constexpr int64_t largest_folded = 64 << 20;  // bytes of a constant that is computed here
constexpr int deepest_call = 200;

bool is_random(const std::string &operation) {
  return operation.rfind("Random", 0) == 0 || operation == "Bernoulli" || operation == "Multinomial";
}

// The names that one graph's nodes see.
struct Scope {
  std::map<std::string, Operand> values;
  const Scope *outer = nullptr;

  const Operand *find(const std::string &name) const {
    for (const Scope *s = this; s; s = s->outer) {
      const auto it = s->values.find(name);
      if (it != s->values.end()) return &it->second;
    }
    return nullptr;
  }
};

using Operands = std::vector<Operand>;

class ModelLowering {
 public:
  explicit ModelLowering(const Model &model) : model_(model), opsets_(&model.opsets) {}

  Graph lower(const std::map<std::string, Shape> &shapes) {
    const Graph &g = model_.graph;
    Operands inputs;
    for (const std::string &name : g.inputs) inputs.push_back(input(name, shapes));
    results_ = lower_graph(g, inputs, nullptr);
    for (size_t i = 0; i < results_.size(); ++i) add_output(g.outputs[i], results_[i]);
    graph_.remove_unused();
    validate(graph_);
    return std::move(graph_);
  }

 private:
  Operand input(const std::string &name, const std::map<std::string, Shape> &shapes) {
    const Graph::Value &v = model_.graph.value(name);
    if (v.constant.defined()) return known(name, v.constant);
    if (v.container != Graph::Container::tensor) unsupported("the input '", name, "' is not a tensor");
    if (v.type == Type::text) unsupported("the input '", name, "' is of texts");
    Shape shape = v.shape;
    if (const auto given = shapes.find(name); given != shapes.end()) {
      bool fits = !v.ranked || given->second.size() == shape.size();
      for (size_t d = 0; fits && v.ranked && d < shape.size(); ++d) fits = shape[d] < 0 || shape[d] == given->second[d];
      if (!fits) fail("the input '", name, "' is ", to_string(v.shape), "; given was ", to_string(given->second));
      shape = given->second;
    } else if (!v.ranked) {
      fail("the shape of the input '", name, "' is open; give one");
    }
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] < 0)
        fail("extent ", d, d < v.symbols.size() && !v.symbols[d].empty() ? " (" + v.symbols[d] + ")" : "",
             " of the input '", name, "' is open; give its shape");
    graph_.add_input(name, shape, v.type);
    return {name, v.type, shape, {}};
  }

  Operand known(const std::string &stem, const Tensor &value) {
    if (value.type() == Type::text) return {stem, value.type(), value.shape(), value};  // never in a kernel
    const std::string name = graph_.fresh_name(stem.empty() ? "constant" : stem);
    graph_.add_constant(name, value);
    return {name, value.type(), value.shape(), value};
  }

  Operands lower_graph(const Graph &g, const Operands &inputs, const Scope *outer) {
    Scope here;
    here.outer = outer;
    for (size_t i = 0; i < g.inputs.size(); ++i) here.values[g.inputs[i]] = i < inputs.size() ? inputs[i] : Operand();
    for (const auto &[name, v] : g.values)
      if (v.constant.defined() && !here.values.count(name)) here.values[name] = known(name, v.constant);
    for (const Graph::Node &n : g.nodes) lower_node(n, here);
    Operands results;
    for (const std::string &o : g.outputs) {
      const Operand *v = here.find(o);
      if (!v) fail("nothing makes the output '", o, "'");
      results.push_back(*v);
    }
    return results;
  }

  void lower_node(const Graph::Node &n, Scope &here) {
    try {
      Operands inputs;
      for (const std::string &i : n.inputs) {
        const Operand *v = i.empty() ? nullptr : here.find(i);
        if (!i.empty() && !v) fail("its input '", i, "' was not made");
        inputs.push_back(v ? *v : Operand());
      }
      const Operands results = lowered(n, inputs, here);
      for (size_t o = 0; o < n.outputs.size(); ++o) {
        if (n.outputs[o].empty()) continue;
        if (o >= results.size()) fail("it makes no output ", o);
        here.values[n.outputs[o]] = results[o];
      }
    } catch (const Unsupported &e) {
      unsupported(describe(n), ": ", e.what());
    } catch (const std::exception &e) {
      fail(describe(n), ": ", e.what());
    }
  }

  Operands lowered(const Graph::Node &n, const Operands &inputs, const Scope &here) {
    if (n.domain.empty() && n.operation == "If") return branch(n, inputs, here);
    if (n.domain.empty() && n.operation == "Loop") return loop(n, inputs, here);
    if (n.domain.empty() && n.operation == "Scan") return scan(n, inputs, here);
    if (const ModelFunction *f = model_.function(n.domain, n.operation)) return call(*f, n, inputs);
    const Operator *op = find_operator(n.domain, n.operation);
    if (!op) unsupported("there is no such operator");
    const bool all_known =
        std::all_of(inputs.begin(), inputs.end(), [](const Operand &o) { return !o.present() || o.value.defined(); });
    if (all_known && !is_random(n.operation)) return folded(*op, n, inputs);
    if (!op->lower) unsupported("the size of its result, or its kind, depends on data");
    Lowering lowering(n, opset(n.domain), inputs, graph_);
    op->lower(lowering);
    return lowering.given();
  }

  Operands folded(const Operator &op, const Graph::Node &n, const Operands &inputs) {
    if (op.lower) {  // a constant may be far larger than what it is made of
      Graph scratch;
      Operands copies = inputs;
      Lowering trial(n, opset(n.domain), copies, scratch);
      for (const Operand &i : inputs)
        if (i.present() && i.type != Type::text && !scratch.values.count(i.name)) scratch.add_constant(i.name, i.value);
      int64_t bytes = 0;
      if (std::none_of(inputs.begin(), inputs.end(),
                       [](const Operand &i) { return i.present() && i.type == Type::text; })) {
        op.lower(trial);
        for (const Operand &o : trial.given()) bytes += elements(o.shape) * facts(o.type).bytes();
      }
      if (bytes > largest_folded) {
        Lowering lowering(n, opset(n.domain), inputs, graph_);
        op.lower(lowering);
        return lowering.given();
      }
    }
    std::vector<HostValue> values;
    for (const Operand &i : inputs) values.push_back(i.present() ? HostValue(i.value) : HostValue());
    Operands results;
    const std::vector<HostValue> made = compute_operator(op, n, opset(n.domain), values);
    for (size_t o = 0; o < made.size(); ++o) {
      if (made[o].is_sequence()) unsupported("it makes a sequence");
      results.push_back(made[o].is_tensor() ? known(o < n.outputs.size() ? n.outputs[o] : "", made[o].tensor())
                                            : Operand());
    }
    return results;
  }

  bool decided(const Operand &condition) const {
    if (!condition.value.defined()) unsupported("its condition depends on data");
    return condition.value.integers().at(0) != 0;
  }

  Operands branch(const Graph::Node &n, const Operands &inputs, const Scope &here) {
    return lower_graph(n.attributes.graph(decided(inputs.at(0)) ? "then_branch" : "else_branch"), {}, &here);
  }

  // Tensors of one shape along a new dimension.
  Operand stacked(const Graph::Node &n, const Operands &parts, int64_t axis) {
    Lowering to(n, 0, {}, graph_);
    Shape shape = parts.at(0).shape;
    const int at = to.axis(axis, static_cast<int>(shape.size()) + 1);
    shape.insert(shape.begin() + at, static_cast<int64_t>(parts.size()));
    return to.formula(parts[0].type, shape, parts, [&](const Reads &r, const Axes &axes) {
      std::vector<Expression> indices(axes);
      indices.erase(indices.begin() + at);
      Expression e = r.back()(indices);
      for (size_t p = parts.size() - 1; p-- > 0;)
        e = select(axes[static_cast<size_t>(at)] == static_cast<int64_t>(p), r[p](indices), e);
      return e;
    });
  }

  Operands loop(const Graph::Node &n, const Operands &inputs, const Scope &here) {
    const Graph &body = n.attributes.graph("body");
    if (inputs.size() < 2) fail("a loop has a count and a condition");
    const size_t carried = inputs.size() - 2;
    if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1)
      fail("its body does not take and give its carried values");
    if (inputs[0].present() && !inputs[0].value.defined()) unsupported("its number of turns depends on data");
    const int64_t count = inputs[0].present() ? inputs[0].value.integers().at(0) : most_turns + 1;
    bool going = !inputs[1].present() || decided(inputs[1]);
    Operands state(inputs.begin() + 2, inputs.end());
    std::vector<Operands> scanned(body.outputs.size() - carried - 1);
    for (int64_t turn = 0; turn < count && going; ++turn) {
      if (turn == most_turns) unsupported("it has more than ", most_turns, " turns; a compiled loop is unrolled");
      Operands given = {known("turn", Tensor::of<int64_t>({}, {turn})), known("going", Tensor::of<bool>({}, {true}))};
      given.insert(given.end(), state.begin(), state.end());
      const Operands results = lower_graph(body, given, &here);
      going = decided(results[0]);
      std::copy_n(results.begin() + 1, carried, state.begin());
      for (size_t s = 0; s < scanned.size(); ++s) scanned[s].push_back(results[1 + carried + s]);
    }
    for (const Operands &parts : scanned) {
      if (parts.empty()) unsupported("it has no turn, and its results no shape");
      state.push_back(stacked(n, parts, 0));
    }
    return state;
  }

  Operands scan(const Graph::Node &n, const Operands &inputs, const Scope &here) {
    if (opset("") < 9) unsupported("Scan of opset 8");
    const Attributes &a = n.attributes;
    const Graph &body = a.graph("body");
    const auto scans = static_cast<size_t>(a.integer("num_scan_inputs"));
    if (scans < 1 || inputs.size() < scans) fail("has ", inputs.size(), " inputs, of which ", scans, " are scanned");
    const size_t states = inputs.size() - scans;
    const auto at = [](const std::vector<int64_t> &list, size_t i) { return i < list.size() ? list[i] : 0; };
    const std::vector<int64_t> axes = a.integers("scan_input_axes", {}), back = a.integers("scan_input_directions", {}),
                               out_axes = a.integers("scan_output_axes", {}),
                               out_back = a.integers("scan_output_directions", {});
    Lowering to(n, 0, {}, graph_);
    Operands state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(states));
    const auto axis_of = [&](size_t i) { return to.axis(at(axes, i), inputs[states + i].rank()); };
    const int64_t length = inputs[states].shape.at(static_cast<size_t>(axis_of(0)));
    if (length > most_turns) unsupported("it has more than ", most_turns, " turns; a compiled loop is unrolled");
    std::vector<Operands> scanned(body.outputs.size() - states);
    for (int64_t turn = 0; turn < length; ++turn) {
      Operands given = state;
      for (size_t i = 0; i < scans; ++i) {
        const Operand &x = inputs[states + i];
        const auto axis = static_cast<size_t>(axis_of(i));
        Shape shape = x.shape;
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
        const int64_t place = at(back, i) != 0 ? length - 1 - turn : turn;
        given.push_back(to.formula(x.type, shape, {x}, [&](const Reads &r, const Axes &here_axes) {
          std::vector<Expression> indices(here_axes);
          indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(axis),
                         formula::constant_integer(Type::i64, place));
          return r[0](indices);
        }));
      }
      const Operands results = lower_graph(body, given, &here);
      std::copy_n(results.begin(), states, state.begin());
      for (size_t o = 0; o < scanned.size(); ++o) scanned[o].push_back(results[states + o]);
    }
    for (size_t o = 0; o < scanned.size(); ++o) {
      if (scanned[o].empty()) unsupported("it has no turn, and its results no shape");
      if (at(out_back, o) != 0) std::reverse(scanned[o].begin(), scanned[o].end());
      state.push_back(stacked(n, scanned[o], at(out_axes, o)));
    }
    return state;
  }

  Operands call(const ModelFunction &f, const Graph::Node &n, const Operands &inputs) {
    if (++depth_ > deepest_call) fail("functions call each other more than ", deepest_call, " deep");
    Attributes attributes = f.defaults;
    for (const auto &[name, a] : n.attributes) attributes.set(name, a);
    const Opsets *outer = opsets_;
    opsets_ = &f.opsets;
    Operands results = lower_graph(with_attributes(f.body, attributes), inputs, nullptr);
    opsets_ = outer;
    --depth_;
    return results;
  }

  // An output is a value of its own, under the name that the model gives it.
  void add_output(const std::string &name, Operand value) {
    if (value.type == Type::text) unsupported("the output '", name, "' is of texts");
    const bool own = graph_.producer(value.name) && !graph_.is_output(value.name);
    if (!own) {
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

  int64_t opset(const std::string &domain) const {
    const auto it = opsets_->find(domain);
    return it == opsets_->end() ? 1 : it->second;
  }

  Operands results_;  // of the model, by the names that they have now
  const Model &model_;
  const Opsets *opsets_;
  Graph graph_;
  int depth_ = 0;
};

}  // namespace

Graph lower_model(const Model &model, const std::map<std::string, Shape> &shapes) {
  check_operators(model);
  return ModelLowering(model).lower(shapes);
}

}  // namespace saltern
