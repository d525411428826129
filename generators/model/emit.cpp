#include "generators/model/emit.h"

#include "generators/model/emitters.h"

namespace saltern::generators {

std::vector<int> memory_order(int rank) {
  if (rank == 4) return {1, 3, 2, 0};
  std::vector<int> order;
  for (int d = rank - 1; d >= 0; --d) order.push_back(d);
  return order;
}

std::vector<int> memory_extents(const Shape &shape) {
  std::vector<int> extents;
  for (int d : memory_order(static_cast<int>(shape.size()))) extents.push_back(static_cast<int>(shape[d]));
  return extents;
}

algorithms::Sliding2d expressions(const Sliding2d<int> &s) {
  return {{s.x.stride, s.x.dilation, s.x.pad_before, s.x.pad_after},
          {s.y.stride, s.y.dilation, s.y.pad_before, s.y.pad_after}};
}

EmittedArgument argument(const Graph &graph, const std::string &value, std::vector<int> extents) {
  const Graph::Value &v = graph.value(value);
  if (v.constant.defined()) return {std::move(extents), "", v.constant.in_layout(memory_layout(v.shape)), v.type};
  return {std::move(extents), value, {}, v.type};
}

bool takes_epilogue(const Graph &graph, const Graph::Node &node) {
  return has_packed_form(graph, node) || is_elementwise(graph, node);
}

bool is_alias(const Graph &graph, const Graph::Node &node) {
  if (node.operation != "reshape") return false;
  // An image keeps its memory if its channels, or its pixels, are one.
  const auto row_major_too = [&](const std::string &name) {
    const Shape &s = graph.value(name).shape;
    return s.size() != 4 || s[1] == 1 || s[2] * s[3] == 1;
  };
  return row_major_too(node.inputs[0]) && row_major_too(node.outputs[0]);
}

EmittedKernel emit(const Graph &graph, const Group &group) {
  const Graph::Node &anchor = group.anchor();
  const std::string who = "node '" + group.output() + "' (" + anchor.operation + ")";
  for (const Graph::Node &n : group.nodes)
    for (const auto *names : {&n.inputs, &n.outputs})
      for (const std::string &name : *names)
        if (const Type type = graph.value(name).type; type != Type::f32 && type != Type::i32)
          fail(who, ": '", name, "' is ", facts(type).name, "; compiled models compute in f32");
  try {
    if (has_packed_form(graph, anchor)) return emit_contraction(graph, group);
    if (is_elementwise(graph, anchor)) return emit_elementwise(graph, group);
    if (anchor.operation == "reshape") return emit_reshape(graph, group);
    if (anchor.operation == "max_pool2d") return emit_max_pool(graph, group);
    if (has_library_form(anchor)) return emit_library(graph, group);
  } catch (const Error &e) {
    fail(who, ": ", e.what());
  }
  fail(who, ": the model compiler does not know this operation");
}

}  // namespace saltern::generators
