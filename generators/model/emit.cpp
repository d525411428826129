#include "generators/model/emit.h"

#include "generators/model/chains.h"
#include "generators/model/emitters.h"
#include "generators/model/views.h"
#include "generators/model/winograd.h"

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

EmittedArgument argument(const Graph &graph, const std::string &value, std::vector<int> extents, Layout layout,
                         Type type) {
  const Tensor &constant = graph.value(value).constant;
  if (constant.defined()) return {std::move(extents), "", constant.in_layout(layout), type, layout};
  return {std::move(extents), value, {}, type, layout};
}

EmittedArgument argument(const Graph &graph, const std::string &value) {
  const Graph::Value &v = graph.value(value);
  return argument(graph, value, memory_extents(v), is_channels_last(v) ? v.layout : Layout::row_major, v.type);
}

std::vector<int> image_extents(const Shape &shape) {
  if (shape.size() != 4) fail("a value of ", saltern::to_string(shape), "; expected an image (N, C, H, W)");
  const auto extent = [&](size_t d) { return static_cast<int>(shape[d]); };
  return {extent(1), extent(3), extent(2), extent(0)};
}

bool lies_as(const Graph::Value &v, Layout layout) {
  if (v.shape.size() != 4) return layout == Layout::row_major;
  return v.layout == layout || v.shape[1] == 1 || v.shape[2] * v.shape[3] == 1;
}

bool takes_epilogue(const Graph &graph, const Graph::Node &node) {
  if (is_view(graph, node)) return false;  // it has no kernel
  return winograd_tile(node) > 0 || is_integer_product(node) || has_packed_form(graph, node) ||
         is_elementwise(graph, node) || has_library_epilogue(graph, node);
}

namespace {

std::string key_of(const EmittedArgument &a) {
  std::string key = "\n" + std::string(facts(a.type).name) + (a.layout == Layout::channels_last ? " c" : " r");
  for (int extent : a.extents) key += " " + std::to_string(extent);
  key += " by";
  for (int stride : a.strides) key += " " + std::to_string(stride);
  return key + (a.aligned ? " aligned" : "");
}

}  // namespace

EmittedKernel placed(EmittedKernel kernel) {
  for (const EmittedArgument &a : kernel.arguments) kernel.key += key_of(a);
  kernel.build = [dense = std::move(kernel.build), arguments = kernel.arguments](const Halide::Target &target) {
    Build b = dense(target);
    for (size_t i = 0; i < arguments.size(); ++i)
      if (!arguments[i].aligned) b.set_strides(i, arguments[i].strides);
    return b;
  };
  return kernel;
}

EmittedKernel emit(const Graph &graph, const Group &group) {
  const Graph::Node &anchor = group.anchor();
  const std::string who = "node '" + group.output() + "' (" + anchor.operation + ")";
  try {
    if (winograd_tile(anchor) > 0) return emit_winograd(graph, group);
    if (is_integer_product(anchor)) return emit_integer_product(graph, group);
    if (has_packed_form(graph, anchor)) return emit_contraction(graph, group);
    if (has_chain_form(graph, group)) return emit_chain(graph, {{group}});
    if (is_elementwise(graph, anchor)) return emit_elementwise(graph, group);
    if (anchor.operation == "formula") return emit_formula(graph, group);
    if (anchor.operation == "scatter_sum" || anchor.operation == "scan") return emit_stage(graph, group);
    if (anchor.operation == "attention") return emit_attention(graph, group);
    if (anchor.operation == "reshape") return emit_reshape(graph, group);
    if (anchor.operation == "concat") return emit_concat(graph, group);
    if (anchor.operation == "max_pool2d") return emit_max_pool(graph, group);
    if (has_window_rows(graph, anchor)) return emit_window_rows(graph, group);
    if (has_library_form(anchor)) return emit_library(graph, group);
  } catch (const Unsupported &e) {
    unsupported(who, ": ", e.what());
  } catch (const Error &e) {
    fail(who, ": ", e.what());
  }
  unsupported(who, ": the model compiler does not know this operation");
}

}  // namespace saltern::generators
