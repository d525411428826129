#include "generators/model/emit.h"

#include "generators/model/chains.h"
#include "generators/model/emitters.h"
#include "generators/model/views.h"
#include "runtime/operators/lowering.h"

namespace saltern::generators {

std::vector<int> memory_order(const Graph::Value &v) {
  if (is_channels_last(v)) return {1, 3, 2, 0};
  std::vector<int> order;
  for (int d = static_cast<int>(v.shape.size()) - 1; d >= 0; --d) order.push_back(d);
  return order;
}

std::vector<int> memory_extents(const Graph::Value &v) {
  std::vector<int> extents;
  for (int d : memory_order(v)) extents.push_back(static_cast<int>(v.shape[static_cast<size_t>(d)]));
  if (extents.empty()) extents.push_back(1);  // a single element
  return extents;
}

algorithms::Sliding2d expressions(const Sliding2d<int> &s) {
  return {{s.x.stride, s.x.dilation, s.x.pad_before, s.x.pad_after},
          {s.y.stride, s.y.dilation, s.y.pad_before, s.y.pad_after}};
}

EmittedArgument argument(const Graph &graph, const std::string &value, std::vector<int> extents) {
  const Graph::Value &v = graph.value(value);
  if (v.constant.defined()) return {std::move(extents), "", v.constant.in_layout(v.layout), v.type};
  return {std::move(extents), value, {}, v.type};
}

bool takes_epilogue(const Graph &graph, const Graph::Node &node) {
  if (is_view(graph, node)) return false;  // it has no kernel
  return has_packed_form(graph, node) || is_elementwise(graph, node) || has_library_epilogue(graph, node);
}

EmittedKernel with_strides(EmittedKernel kernel, const std::vector<std::vector<int>> &strides) {
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i].empty()) continue;
    kernel.key += " strides " + std::to_string(i);
    for (int stride : strides[i]) kernel.key += " " + std::to_string(stride);
  }
  kernel.build = [dense = std::move(kernel.build), strides](const Halide::Target &target) {
    Build b = dense(target);
    for (size_t i = 0; i < strides.size(); ++i)
      if (!strides[i].empty()) b.set_strides(i, strides[i]);
    return b;
  };
  return kernel;
}

EmittedKernel emit(const Graph &graph, const Group &group) {
  const Graph::Node &anchor = group.anchor();
  const std::string who = "node '" + group.output() + "' (" + anchor.operation + ")";
  try {
    if (has_packed_form(graph, anchor)) return emit_contraction(graph, group);
    if (has_chain_form(graph, group)) return emit_chain(graph, {{group}});
    if (is_elementwise(graph, anchor)) return emit_elementwise(graph, group);
    if (anchor.operation == "formula") return emit_formula(graph, group);
    if (anchor.operation == "attention") return emit_attention(graph, group);
    if (anchor.operation == "reshape") return emit_reshape(graph, group);
    if (anchor.operation == "concat") return emit_concat(graph, group);
    if (anchor.operation == "max_pool2d") return emit_max_pool(graph, group);
    if (has_library_form(anchor)) return emit_library(graph, group);
  } catch (const Unsupported &e) {
    unsupported(who, ": ", e.what());
  } catch (const Error &e) {
    fail(who, ": ", e.what());
  }
  unsupported(who, ": the model compiler does not know this operation");
}

}  // namespace saltern::generators
