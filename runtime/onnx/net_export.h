#pragma once
// A net on its way to ONNX: the graph that is written, and names for what is new in it.

#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/graph/graph_index.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/onnx/model.h"

namespace saltern {

constexpr int64_t exported_opset = 21;
constexpr char own_domain[] = "saltern";  // of functions

class NetExport {
 public:
  explicit NetExport(const Graph &net);

  // The graph so far; nothing is left of it here.
  Graph take() { return std::move(to_); }

  const Graph::Value &value(const std::string &name) const { return net_.value(name); }

  // Throws Unsupported where an attribute depends on an open size: in ONNX these are numbers.
  void add(const std::string &op, std::vector<std::string> inputs, std::vector<std::string> outputs,
           Attributes attributes = {}) {
    for (const auto &[name, a] : attributes) expect_closed(a, op);
    to_.nodes.push_back({op, std::move(attributes), std::move(inputs), std::move(outputs)});
  }
  // A node that calls a function. Labels become names of nodes, and no two are the same.
  void call(const ModelFunction &f, std::vector<std::string> inputs, std::vector<std::string> outputs,
            const std::string &label) {
    std::string name = label;
    for (int i = 2; !labels_.insert(name).second; ++i) name = label + "." + std::to_string(i);
    to_.nodes.push_back({f.name, {}, std::move(inputs), std::move(outputs), f.domain, name});
  }
  // Constants of new names that begin with `stem`.
  std::string constant(const std::string &stem, const Tensor &t) {
    if (t.size() == 1 && is_real(t.type())) expect_closed(t.reals()[0], stem);
    const std::string name = fresh(stem, stem);
    to_.add_constant(name, t);
    return name;
  }
  // Integers, i64; those that stand for open sizes are computed from the shapes of inputs.
  std::string integer(const std::string &stem, int64_t value);
  std::string integers(const std::string &stem, const std::vector<int64_t> &all);
  // The same for a Reshape, which finds out one extent by itself.
  std::string shape(const std::string &stem, Shape shape);
  bool is_open(int64_t value) const { return open_number(value, net_.sizes).is_open(); }
  // A name for a value that a node will make.
  std::string temporary(const std::string &stem) { return fresh(stem + "_1", stem); }

 private:
  std::string fresh(std::string name, const std::string &stem) {
    for (int i = 1; net_.values.count(name) || to_.values.count(name) || !taken_.insert(name).second; ++i)
      name = stem + "_" + std::to_string(i);
    return name;
  }

  void expect_closed(const Attribute &a, const std::string &where) const {
    if (saltern::is_open(a, net_.sizes)) unsupported(where, ": a number in it depends on a size that is open");
  }
  // Of one element.
  std::string computed(const std::string &stem, const OpenNumber &number);
  std::string size(const std::string &name);

  const Graph &net_;
  Graph to_;
  std::map<std::string, std::string> sizes_;  // the values that hold sizes, by the sizes' names
  std::unordered_set<std::string> taken_, labels_;
};

// A formula in operators of ONNX. Throws Unsupported that names the function where there is none.
void export_formula(NetExport &to, const Graph::Node &formula);

// An operation's formulas, which have one label (trace.h), as a call of a function, which is added where there is none like
// it. False where that is not what the nodes are, or a function cannot have them: nothing was done.
bool export_application(NetExport &to, const Graph &net, const GraphIndex &index, const std::vector<Graph::Node> &nodes,
                        std::vector<ModelFunction> &functions);

// The same net, in which operations without an operator of ONNX are their formulas.
Graph with_formulas(Graph net, const std::function<bool(const Graph::Node &)> &has_operator);

// The same net, in which sums at places that data says are values and places of their own; and what that becomes.
Graph with_scattered_values(Graph net);
void export_scatter(NetExport &to, const Graph::Node &scatter);

// The same net, in which scans have the body and the inputs that a Scan of ONNX has; and what that becomes.
Graph with_scan_bodies(Graph net);
void export_scan(NetExport &to, const Graph::Node &scan);

}  // namespace saltern
