#pragma once
// The walk over an imported graph, whatever flows through it: tensors where a model runs (run_model.cpp), operands of
// the graph under construction where it is lowered (lower_model.cpp), shapes where these are inferred
// (infer_shapes.cpp).
//
// Here is what is the same for all: names and the graphs around a graph, calls of the model's functions with their
// attributes and opsets, branches and loops (control_flow.h), errors that name the node. A kind of value says how an
// operator is applied to it, and the few things that loops do with values.

#include <algorithm>
#include <unordered_map>

#include "runtime/onnx/model.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/memory.h"

namespace saltern {

bool is_control_flow(const Graph::Node &node);
// Whether it gives other results each time.
bool is_random(const Graph::Node &node);
// Whether one of its attributes is a graph.
bool has_graph(const Graph::Node &node);

// A function's body with the attributes of a call in the place of references to them.
Graph with_attributes(const Graph &body, const Attributes &attributes);

// How many nodes read each value, of values that only this graph's nodes read by their inputs: none where a node has a
// graph inside, which may read any value at any time.
std::unordered_map<std::string, int> count_readers(const Graph &graph);

// The names that one graph's nodes see: its own values, then those of the graphs around it.
template <typename Value>
struct Scope {
  std::unordered_map<std::string, Value> values;
  const Scope *outer = nullptr;

  const Value *find(const std::string &name) const {
    for (const Scope *s = this; s; s = s->outer) {
      const auto it = s->values.find(name);
      if (it != s->values.end()) return &it->second;
    }
    return nullptr;
  }
};

template <typename Value>
class GraphWalk {
 public:
  using Values = std::vector<Value>;
  using Names = Scope<Value>;

  explicit GraphWalk(const Model &model) : model_(model), opsets_(&model.opsets) {}
  virtual ~GraphWalk() = default;

  // The values of the graph's outputs. An input that is not given is its constant, or absent.
  Values walk(const Graph &g, const Values &inputs, const Names *outer) {
    if (inputs.size() > g.inputs.size()) fail(inputs.size(), " inputs for a graph of ", g.inputs.size());
    Names here;
    here.outer = outer;
    for (size_t i = 0; i < inputs.size(); ++i) here.values[g.inputs[i]] = inputs[i];
    for (const auto &[name, v] : g.values)
      if (v.constant.defined() && !here.values.count(name)) here.values[name] = constant(name, v.constant);
    for (const std::string &i : g.inputs) here.values.emplace(i, Value());
    std::unordered_map<std::string, int> readers = count_readers(g);
    for (const Graph::Node &n : g.nodes) {
      visit(n, here);
      // A value's memory is freed after its last reader.
      for (const std::string &i : n.inputs)
        if (auto it = readers.find(i); it != readers.end() && --it->second == 0) here.values.erase(i);
    }
    Values results;
    for (const std::string &o : g.outputs) {
      const Value *v = here.find(o);
      if (!v) fail("nothing makes the output '", o, "'");
      results.push_back(*v);
    }
    return results;
  }

  // ---- What is different for each kind of value.
  virtual Value constant(const std::string &name, const Tensor &value) = 0;
  virtual Values apply(const Operator &op, const Graph::Node &n, int64_t opset, const Values &inputs) = 0;
  virtual Values control_flow(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here) = 0;

 protected:
  const Model &model() const { return model_; }

  void visit(const Graph::Node &n, Names &here) {
    try {
      Values inputs;
      for (const std::string &i : n.inputs) {
        const Value *v = i.empty() ? nullptr : here.find(i);
        if (!i.empty() && !v) fail("its input '", i, "' was not made");
        inputs.push_back(v ? *v : Value());
      }
      const Values results = computed(n, inputs, here);
      for (size_t o = 0; o < n.outputs.size(); ++o) {
        if (n.outputs[o].empty()) continue;
        if (o >= results.size()) fail("it makes no output ", o);
        here.values[n.outputs[o]] = results[o];
      }
    } catch (const Unsupported &e) {
      unsupported(describe(n), ": ", e.what());
    } catch (const OutOfMemory &e) {
      throw OutOfMemory(describe(n) + ": " + e.what());
    } catch (const std::exception &e) {
      fail(describe(n), ": ", e.what());
    }
  }

  virtual Values computed(const Graph::Node &n, const Values &inputs, const Names &here) {
    if (is_control_flow(n)) return control_flow(n, opset(n.domain), inputs, here);
    if (const ModelFunction *f = model_.function(n.domain, n.operation)) return call(*f, n, inputs);
    const Operator *op = find_operator(n.domain, n.operation);
    if (!op) unsupported("there is no such operator");
    return apply(*op, n, opset(n.domain), inputs);
  }

 private:
  static constexpr int deepest_call = 200;

  Values call(const ModelFunction &f, const Graph::Node &n, const Values &inputs) {
    if (depth_ >= deepest_call) fail("functions call each other more than ", deepest_call, " deep");
    // The caller's, also where the body fails and somebody goes on without it.
    struct Caller {
      GraphWalk &walk;
      const Opsets *opsets = walk.opsets_;
      ~Caller() {
        walk.opsets_ = opsets;
        --walk.depth_;
      }
    } const caller{*this};
    ++depth_;
    opsets_ = &f.opsets;
    Attributes attributes = f.defaults;
    for (const auto &[name, a] : n.attributes) attributes.set(name, a);
    return walk(with_attributes(f.body, attributes), inputs, nullptr);
  }

  int64_t opset(const std::string &domain) const {
    const auto it = opsets_->find(domain);
    return it == opsets_->end() ? 1 : it->second;
  }

  const Model &model_;
  const Opsets *opsets_;
  int depth_ = 0;
};

}  // namespace saltern
