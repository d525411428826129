// Operations that ONNX has no operator for, as what their formulas say.

#include "runtime/autograd/formula_operation.h"
#include "runtime/graph/formula_node.h"
#include "runtime/onnx/net_export.h"

namespace saltern {

Graph with_formulas(Graph net, const std::function<bool(const Graph::Node &)> &has_operator) {
  const std::vector<Graph::Node> nodes = std::move(net.nodes);
  net.nodes.clear();
  for (const Graph::Node &n : nodes) {
    const bool stays = is_formula_node(n) || has_operator(n);
    const Operation *operation = stays ? nullptr : find_operation(n.operation);
    if (!operation || !operation->algorithm) {
      net.nodes.push_back(n);
      continue;
    }
    std::vector<Tensor> outlines;
    for (const std::string &i : n.inputs) outlines.push_back(Tensor::outline(net.value(i).shape, net.value(i).type));
    add_formulas(net, formulas_of(*operation, outlines, n.attributes), n.inputs, [&](int output) {
      const auto o = static_cast<size_t>(output);
      return output >= 0 && o < n.outputs.size() ? n.outputs[o] : net.fresh_name(n.outputs[0]);
    });
  }
  return net;
}

}  // namespace saltern
