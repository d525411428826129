#include "apps/saltern/replaced_head.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/onnx/optimize.h"
#include "runtime/tensor/random.h"

namespace saltern {

namespace {

void set_constant(Graph &graph, const std::string &name, const Tensor &t) {
  if (graph.uses(name) != 1) fail("--replace-head: the weights '", name, "' of the last layer are read elsewhere, too");
  Graph::Value &v = graph.values.at(name);
  v.constant = t;
  v.shape = t.shape();
}

bool is_constant(const Graph &graph, const std::string &name, size_t rank) {
  const auto found = graph.values.find(name);
  return found != graph.values.end() && found->second.constant.defined() &&
         found->second.constant.type() == Type::f32 && found->second.constant.shape().size() == rank;
}

}  // namespace

Model with_replaced_head(Model model, int64_t classes, uint64_t seed) {
  model = without_constant_inputs(std::move(model));
  Graph &g = model.graph;
  const std::set<std::string> behind = {"Softmax", "LogSoftmax", "Sigmoid", "Identity"};
  std::string value = g.outputs.at(0);
  const auto renew =
      [&](const std::string &made) {  // of the shapes that the file tells only the last extent is another
        Graph::Value &v = g.values[made];
        if (v.ranked && !v.shape.empty()) v.shape.back() = classes;
        if (v.shape.size() == v.symbols.size() && !v.symbols.empty()) v.symbols.back().clear();
      };
  for (;;) {
    const Graph::Node *n = g.producer(value);
    if (!n) fail("--replace-head: nothing makes '", value, "'");
    renew(value);
    if (behind.count(n->operation)) {
      value = n->inputs.at(0);
      continue;
    }
    if (n->operation == "Add") {
      const size_t bias = is_constant(g, n->inputs.at(1), 1) ? 1 : 0;
      if (!is_constant(g, n->inputs.at(bias), 1)) fail("--replace-head: ", describe(*n), " adds no constant bias");
      set_constant(g, n->inputs[bias], Tensor::zeros({classes}));
      value = n->inputs[1 - bias];
      continue;
    }
    const bool gemm = n->operation == "Gemm";
    if ((!gemm && n->operation != "MatMul") || !is_constant(g, n->inputs.at(1), 2))
      fail("--replace-head: the last layer is ", describe(*n), "; expected a Gemm or MatMul with constant weights");
    const bool turned = gemm && n->attributes.integer("transB", 0) != 0;
    const Shape before = g.value(n->inputs[1]).constant.shape();
    const int64_t inputs = before[turned ? 1 : 0];
    const auto most = static_cast<float>(1 / std::sqrt(static_cast<double>(inputs)));
    Random random(seed);
    set_constant(g, n->inputs[1],
                 random.uniform_tensor(turned ? Shape{classes, inputs} : Shape{inputs, classes}, -most, most));
    if (gemm && n->inputs.size() > 2 && !n->inputs[2].empty()) set_constant(g, n->inputs[2], Tensor::zeros({classes}));
    return model;
  }
}

}  // namespace saltern
