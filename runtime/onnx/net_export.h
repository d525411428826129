#pragma once
// A net on its way to ONNX: the graph that is written, and names for what is new in it.

#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

class NetExport {
 public:
  explicit NetExport(const Graph &net);

  // The graph so far; nothing is left of it here.
  Graph take() { return std::move(to_); }

  const Graph::Value &value(const std::string &name) const { return net_.value(name); }

  void add(const std::string &op, std::vector<std::string> inputs, std::vector<std::string> outputs,
           Attributes attributes = {}) {
    to_.nodes.push_back({op, std::move(attributes), std::move(inputs), std::move(outputs)});
  }
  // Constants of new names that begin with `stem`.
  std::string constant(const std::string &stem, const Tensor &t) {
    const std::string name = fresh(stem, stem);
    to_.add_constant(name, t);
    return name;
  }
  std::string integers(const std::string &stem, const std::vector<int64_t> &all) {
    return constant(stem, Tensor::of<int64_t>({static_cast<int64_t>(all.size())}, all));
  }
  // A name for a value that a node will make.
  std::string temporary(const std::string &stem) { return fresh(stem + "_1", stem); }

 private:
  std::string fresh(std::string name, const std::string &stem) {
    for (int i = 1; net_.values.count(name) || to_.values.count(name) || !taken_.insert(name).second; ++i)
      name = stem + "_" + std::to_string(i);
    return name;
  }

  const Graph &net_;
  Graph to_;
  std::unordered_set<std::string> taken_;
};

// A formula in operators of ONNX. Throws Unsupported that names the function where there is none.
void export_formula(NetExport &to, const Graph::Node &formula);

}  // namespace saltern
