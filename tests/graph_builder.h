#pragma once
// Small graphs with random weights, for tests.

#include "dsl/shapes.h"
#include "tests/naive_graph.h"

namespace saltern {

class GraphBuilder {
 public:
  Graph graph;

  explicit GraphBuilder(Shape shape) { input("x", std::move(shape)); }

  GraphBuilder() = default;

  std::string input(const std::string &name, Shape shape) {
    graph.add_input(name, std::move(shape));
    return name;
  }

  struct Conv {
    int64_t channels, kernel = 3, stride = 1, padding = 1, dilation = 1, groups = 1;
    bool bias = true;
  };

  std::string conv2d(const std::string &x, const Conv &c) {
    const Shape s = graph.value(x).shape;
    const std::string name = "conv" + number();
    const Sliding<int64_t> slide = {c.stride, c.dilation, c.padding, c.padding};
    std::vector<std::string> from = {x, constant(name + ".weight", {c.channels, s[1] / c.groups, c.kernel, c.kernel})};
    if (c.bias) from.push_back(constant(name + ".bias", {c.channels}));
    Attributes a = sliding(c.stride, c.padding, c.dilation);
    a.set("groups", c.groups);
    return graph.add_node(
        "conv2d", from, name,
        {s[0], c.channels, window_positions(s[2], c.kernel, slide), window_positions(s[3], c.kernel, slide)}, a);
  }

  std::string pool(const std::string &operation, const std::string &x, int64_t kernel, int64_t stride,
                   int64_t padding = 0, bool count_padding = true) {
    const Shape s = graph.value(x).shape;
    const Sliding<int64_t> slide = {stride, 1, padding, padding};
    Attributes a = sliding(stride, padding, 1);
    a.set("kernel", Shape{kernel, kernel});
    if (operation == "average_pool2d") a.set("count_padding", int64_t{count_padding});
    return graph.add_node(operation, {x}, "pool" + number(),
                          {s[0], s[1], window_positions(s[2], kernel, slide), window_positions(s[3], kernel, slide)},
                          a);
  }

  std::string flatten(const std::string &x) {
    const Shape s = graph.value(x).shape, rows = {s[0], elements(s) / s[0]};
    return graph.add_node("reshape", {x}, "flat" + number(), rows, {{"shape", rows}});
  }

  std::string dense(const std::string &x, int64_t outputs) {
    const Shape s = graph.value(x).shape;
    const std::string name = "dense" + number();
    return graph.add_node("dense",
                          {x, constant(name + ".weight", {outputs, s[1]}), constant(name + ".bias", {outputs})}, name,
                          {s[0], outputs});
  }

  std::string batch_norm(const std::string &x) {
    const Shape s = graph.value(x).shape, c = {s[1]};
    const std::string name = "norm" + number();
    return graph.add_node("batch_norm",
                          {x, constant(name + ".mean", c), constant(name + ".variance", c, 0.2f, 2),
                           constant(name + ".scale", c), constant(name + ".shift", c)},
                          name, s, {{"epsilon", 1e-5}});
  }

  // An elementwise operation with the shape of its first operand.
  std::string apply(const std::string &operation, std::vector<std::string> from, Attributes a = {}) {
    const Shape s = graph.value(from[0]).shape;
    return graph.add_node(operation, std::move(from), operation + number(), s, std::move(a));
  }

  // Weights whose results are about as large as what they are applied to.
  std::string constant(const std::string &name, const Shape &shape) {
    const auto inputs = static_cast<float>(elements(shape) / shape[0]);
    const float bound = shape.size() < 2 ? 0.5f : std::sqrt(3 / inputs);
    return constant(name, shape, -bound, bound);
  }

  std::string constant(const std::string &name, const Shape &shape, float low, float high) {
    graph.add_constant(name, random_tensor(shape, ++seed_, low, high));
    return name;
  }

  Graph finish(const std::vector<std::string> &outputs) {
    graph.outputs = outputs;
    validate(graph);
    return graph;
  }

 private:
  static Attributes sliding(int64_t stride, int64_t padding, int64_t dilation) {
    return {{"strides", Shape{stride, stride}},
            {"pads", Shape{padding, padding, padding, padding}},
            {"dilations", Shape{dilation, dilation}}};
  }
  std::string number() { return std::to_string(graph.nodes.size()); }

  unsigned seed_ = 0;
};

}  // namespace saltern
