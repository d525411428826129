#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

#include "algorithms/movement.h"
#include "algorithms/pooling.h"
#include "generators/model/emitters.h"
#include "generators/model/passes/passes.h"
#include "runtime/graph/formula_node.h"
#include "runtime/layers/window.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/convolution.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern::generators {

namespace {

// One node written anew; everything that it becomes stands in its place.
class Rewriter {
 public:
  // `read` are the values that anybody reads.
  Rewriter(Graph &graph, std::unordered_set<std::string> read) : graph_(graph), read_(std::move(read)) {}

  void rewrite(const Graph::Node &n) {
    static const std::map<std::string, void (Rewriter::*)(const Graph::Node &)> rules = {
        {"average_pool2d", &Rewriter::average_pool},
        {"batch_norm", &Rewriter::batch_norm},
        {"conv2d_gradient_w", &Rewriter::weight_gradient},
        {"conv2d_gradient_x", &Rewriter::transposed_convolution},
        {"cross_entropy", &Rewriter::cross_entropy},
        {"expand", &Rewriter::repeated},
        {"identity", &Rewriter::repeated},
        {"log_softmax", &Rewriter::softmax},
        {"matmul", &Rewriter::matmul},
        {"max_pool2d", &Rewriter::max_pool},
        {"slice", &Rewriter::slice},
        {"softmax", &Rewriter::softmax},
        {"sum", &Rewriter::sum},
        {"transpose", &Rewriter::transpose},
    };
    begin_ = graph_.nodes.size();
    const bool scatters_nothing = n.attributes.has("space") && elements(n.attributes.integers("space")) == 0;
    const bool is_empty =
        scatters_nothing || (n.outputs.size() == 1 && elements(graph_.value(n.outputs[0]).shape) == 0);
    const auto rule = rules.find(n.operation);
    if (is_empty)
      nothing(n);
    else if (rule != rules.end())
      (this->*rule->second)(n);
    else if (const Operation *own = find_operation(n.operation); own && own->has_kernels && own->algorithm)
      as_formulas(n, own->algorithm);
    else
      graph_.nodes.push_back(n);
  }

 private:
  Operand operand(const std::string &name) const {
    const Graph::Value &v = graph_.value(name);
    return {name, v.type, v.shape, v.constant};
  }

  // Makes `made` the value that the node n gave: under its name where it was made for n, else as a reshape of what was
  // there before, to the same shape. Nobody but n's readers may see another value under that name.
  void give(const Graph::Node &n, const Operand &made) {
    const bool is_new = graph_.nodes.size() > begin_ && graph_.nodes.back().outputs[0] == made.name;
    if (!is_new) return graph_.nodes.push_back({"reshape", {{"shape", made.shape}}, {made.name}, n.outputs});
    graph_.nodes.back().outputs[0] = n.outputs[0];
    graph_.values.erase(made.name);
  }

  std::vector<Expression> result_extents(const Graph::Node &n) const {
    return extents(graph_.value(n.outputs[0]).shape);
  }

  void matmul(const Graph::Node &n) {
    const Operand a = operand(n.inputs.at(0)), b = operand(n.inputs.at(1));
    Lowering to(n, 0, {a, b}, graph_);
    const Shape &y = graph_.value(n.outputs[0]).shape;
    const int64_t k = a.shape.back(), columns = b.shape.back();
    if (b.value.defined() && b.rank() == 2 && elements(a.shape) > 0) {
      const Tensor turned = Tensor::empty({columns, k});
      turned.copy_from(b.value.viewed(turned.shape(), {b.value.strides()[1], b.value.strides()[0]}));
      const int64_t rows = elements(a.shape) / k;
      const Operand product =
          to.operation("dense", {to.reshaped(a, {rows, k}), to.constant(turned)}, {}, {rows, columns});
      return give(n, to.reshaped(product, y));
    }
    const Shape batch(y.begin(), y.end() - 2);
    const auto spread = [&](const Operand &x) {
      Shape whole = batch;
      whole.insert(whole.end(), x.shape.end() - 2, x.shape.end());
      return to.broadcasted(x, whole);
    };
    const bool one_matrix = elements(Shape(b.shape.begin(), b.shape.end() - 2)) == 1;
    const bool rows_only = one_matrix && Shape(a.shape.begin(), a.shape.end() - 2) == batch;
    give(n, to.operation("matmul", {rows_only ? a : spread(a), rows_only ? b : spread(b)}, {}, y));
  }

  void softmax(const Graph::Node &n) {
    const Operand x = operand(n.inputs.at(0));
    Lowering to(n, 0, {x}, graph_);
    const int axis = to.axis(n.attributes.integer("axis", -1), x.rank());
    if (axis == x.rank() - 1) return graph_.nodes.push_back(n);
    // Without a stage for the powers, which are made again: that costs less than a trip through memory.
    const Value largest = formula::greatest(x, {axis}), less = Value(x) - largest,
                total = formula::sum(exp(less), {axis});
    give(n, to.computed(n.operation == "log_softmax" ? less - log(total) : exp(less) / total));
  }

  // One window that is the whole image asks for no layout of it.
  void average_pool(const Graph::Node &n) {
    const Operand x = operand(n.inputs.at(0));
    const Shape plane = {x.shape.at(2), x.shape.at(3)}, result = {x.shape[0], x.shape[1], 1, 1};
    const auto &pads = n.attributes.integers("pads");
    const bool padded = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
    if (n.attributes.integers("kernel") != plane || padded || graph_.value(n.outputs[0]).shape != result)
      return graph_.nodes.push_back(n);
    Lowering to(n, 0, {x}, graph_);
    give(n, to.computed(formula::mean(x, {2, 3})));
  }

  void slice(const Graph::Node &n) {
    const Operand x = operand(n.inputs.at(0));
    Lowering to(n, 0, {x}, graph_);
    const auto axis = static_cast<size_t>(to.axis(n.attributes.integer("axis"), x.rank()));
    std::vector<int64_t> begin(x.shape.size(), 0);
    begin[axis] = n.attributes.integer("begin");
    give(n, to.computed(algorithms::strided(x, begin, std::vector<int64_t>(begin.size(), 1), result_extents(n))));
  }

  void transpose(const Graph::Node &n) {
    const Operand x = operand(n.inputs.at(0));
    const std::vector<int64_t> &order = n.attributes.integers("order");
    Lowering to(n, 0, {x}, graph_);
    // Where only extents of 1 change their places, elements do not.
    std::vector<int64_t> moved;
    for (int64_t d : order)
      if (x.shape.at(static_cast<size_t>(d)) != 1) moved.push_back(d);
    if (std::is_sorted(moved.begin(), moved.end())) return give(n, to.reshaped(x, graph_.value(n.outputs[0]).shape));
    give(n, to.computed(formula::permuted(x, {order.begin(), order.end()})));
  }

  void sum(const Graph::Node &n) {
    const Operand x = operand(n.inputs.at(0));
    Lowering to(n, 0, {x}, graph_);
    std::vector<int> axes;
    for (int64_t d : n.attributes.integers("axes")) axes.push_back(to.axis(d, x.rank()));
    give(n, to.computed(formula::sum(x, axes) * n.attributes.real("scale", 1)));
  }

  // Also what does nothing, between an input and an output.
  void repeated(const Graph::Node &n) {
    const Operand x = operand(n.inputs.at(0));
    Lowering to(n, 0, {x}, graph_);
    give(n, to.computed(algorithms::broadcasted(x, result_extents(n))));
  }

  // Without elements there is nothing to compute; and where none are added, zeros are what is made.
  void nothing(const Graph::Node &n) {
    const Graph::Value y = graph_.value(n.outputs[0]);
    Lowering to(n, 0, {}, graph_);
    give(n, filled(to, y.type, y.shape, 0));
  }

  void as_formulas(const Graph::Node &n, const Operation::Algorithm &algorithm) {
    Values in;
    for (const std::string &i : n.inputs) {
      const Graph::Value &v = graph_.value(i);
      in.push_back(formula::input("x" + std::to_string(in.size()), {v.shape.begin(), v.shape.end()}, v.type));
    }
    formula::ExactFormulas formulas;
    try {
      formulas = formula::exact_formulas(in, algorithm(in, n.attributes));
    } catch (const std::exception &e) {  // also those of the standard library: a node may have too few inputs
      fail(describe(n), ": ", e.what());
    }
    const size_t begin = graph_.nodes.size();
    add_formulas(graph_, formulas, n.inputs, [&](int output) {
      return output < 0 ? graph_.fresh_name(n.outputs[0]) : n.outputs.at(static_cast<size_t>(output));
    });
    // People look for it by its name (model_plan.cpp).
    for (size_t i = begin; i < graph_.nodes.size(); ++i) graph_.nodes[i].label = n.operation;
  }

  // Positions of maxima, which gradients read, come from a formula of their own: the kernel has the maxima only.
  void max_pool(const Graph::Node &n) {
    Graph::Node maxima = n;
    if (n.outputs.size() > 1 && read_.count(n.outputs[1]) > 0) {
      const auto positions = [](const Values &in, const Attributes &a) -> Values {
        return {algorithms::positions_of_maxima(in.at(0), extents(a, "kernel"), slides(a), Type::i32)};
      };
      as_formulas({n.operation, n.attributes, n.inputs, {n.outputs[1]}}, positions);
      maxima.outputs.resize(1);
    }
    graph_.nodes.push_back(std::move(maxima));
  }

  // One of ONNX's operators in its place, which is a formula.
  void as_operator(const Graph::Node &n, const std::string &name, const std::vector<std::string> &inputs,
                   const Attributes &attributes) {
    constexpr int64_t opset = 21;
    const Graph::Node node = {name, attributes, inputs, {n.outputs[0]}};
    std::vector<Operand> operands;
    for (const std::string &i : inputs) operands.push_back(operand(i));
    Lowering to(node, opset, operands, graph_);
    find_operator("", name)->lower(to);
    give(n, to.given().at(0));
  }

  // Whose statistics and parameters are computed: constant ones are arithmetic already.
  void batch_norm(const Graph::Node &n) {
    as_operator(n, "BatchNormalization",
                {n.inputs.at(0), n.inputs.at(3), n.inputs.at(4), n.inputs.at(1), n.inputs.at(2)},
                {{"epsilon", n.attributes.real("epsilon")}});
  }

  void cross_entropy(const Graph::Node &n) {
    Attributes a = {{"reduction", std::string("none")}};
    if (n.attributes.has("ignore")) a.set("ignore_index", n.attributes.integer("ignore"));
    as_operator(n, "SoftmaxCrossEntropyLoss", n.inputs, a);
  }

  // Where windows go by steps of one, and weights are computed, as those are that train: a convolution with the weights
  // turned around, each from its outputs to its channels. That has the better kernel: 1.5 ms for the 12.7 of the formula (64 of 14x14, 5x5,
  // 6 to 16 channels, one core).
  bool as_convolution(const Graph::Node &n, const Operand &w, const Operand &x, const SlidingAxes &axes) {
    const int64_t groups = n.attributes.integer("groups", 1), outputs = w.shape[0] / groups, channels = w.shape[1];
    std::vector<int64_t> before, after;
    for (const SlidingAxis &a : axes) {
      if (a.stride != 1) return false;
      before.push_back(a.dilation * (a.kernel - 1) - a.before);
      after.push_back(a.extent - a.positions - before.back() + a.dilation * (a.kernel - 1));
      if (before.back() < 0 || after.back() < 0) return false;
    }
    Lowering to(n, 0, {w, x}, graph_);
    const Operand turned = to.computed(
        formula::compute("turned", {channels * groups, outputs, axes[0].kernel, axes[1].kernel},
                         [&](const Expression &c, const Expression &o, const Expression &y, const Expression &x) {
                           return Value(w)(quotient(c, channels) * outputs + o, modulo(c, channels),
                                           axes[0].kernel - 1 - y, axes[1].kernel - 1 - x);
                         }));
    const Shape ones = {1, 1};
    const Attributes a = {{"strides", ones},
                          {"dilations", n.attributes.integers("dilations")},
                          {"pads", Shape{before[0], before[1], after[0], after[1]}},
                          {"groups", groups}};
    give(n, to.operation("conv2d", {x, turned}, a, graph_.value(n.outputs[0]).shape));
    return true;
  }

  // Whether the library's kernels of a convolution's gradients are better than formulas: outputs of a group fill half a vector
  // (39.9 GF/s for 10.4 where 16 channels become 16). For that of the weights, which takes whole windows into its registers, a
  // quarter will do.
  static bool has_wide_groups(const Graph::Node &n, const Shape &w, int64_t least = 8) {
    return w[0] / n.attributes.integer("groups", 1) >= least;
  }

  void weight_gradient(const Graph::Node &n) {
    if (has_wide_groups(n, graph_.value(n.outputs[0]).shape, 4)) return graph_.nodes.push_back(n);
    as_formulas(n, find_operation(n.operation)->algorithm);
  }

  void transposed_convolution(const Graph::Node &n) {
    const Operand w = operand(n.inputs.at(0)), x = operand(n.inputs.at(1));
    const auto list = [&](const char *name, size_t d) { return n.attributes.integers(name).at(d); };
    SlidingAxes axes;
    for (size_t d = 0; d < 2; ++d)
      axes.push_back({list("shape", d + 2), w.shape[d + 2], list("strides", d), list("dilations", d), list("pads", d),
                      list("pads", d + 2), x.shape[d + 2]});
    if (!w.value.defined() && has_window_rows(graph_, n)) return graph_.nodes.push_back(n);
    if (!w.value.defined() && as_convolution(n, w, x, axes)) return;
    if (!w.value.defined() && has_wide_groups(n, w.shape)) return graph_.nodes.push_back(n);
    Lowering to(n, 0, {w, x}, graph_);
    give(n, scattered(to, x, w, {}, axes, n.attributes.integer("groups", 1)));
  }

  Graph &graph_;
  std::unordered_set<std::string> read_;
  size_t begin_ = 0;  // where the nodes begin that the one at hand becomes
};

}  // namespace

Graph with_compilable_operations(Graph graph) {
  const std::vector<Graph::Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  std::unordered_set<std::string> read(graph.outputs.begin(), graph.outputs.end());
  for (const Graph::Node &n : nodes) read.insert(n.inputs.begin(), n.inputs.end());
  Rewriter rewriter(graph, std::move(read));
  for (const Graph::Node &n : nodes) rewriter.rewrite(n);
  return without_identities(std::move(graph));  // what moves nothing was left as one
}

}  // namespace saltern::generators
