#include "generators/model/views.h"

#include <set>

#include "generators/model/affine.h"
#include "generators/model/emitters.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using Kind = Expression::Kind;

int64_t bytes_of(const Graph::Value &v) { return elements(v.shape) * facts(v.type).bytes(); }

// Elements from one place of each public dimension to the next.
Shape memory_strides(const Graph::Value &v) {
  Shape strides(v.shape.size());
  int64_t stride = 1;
  for (int d : memory_order(v)) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= v.shape[static_cast<size_t>(d)];
  }
  return strides;
}

// Where the elements that a formula loads begin in its operand's memory, if they lie there as they do in its result.
std::optional<int64_t> loaded_piece(const Expression &element, const Graph::Value &from, const Graph::Value &to) {
  if (element->kind != Kind::load || from.type != to.type) return std::nullopt;
  const Shape there = memory_strides(from), here = memory_strides(to);
  int64_t begin = 0;
  Shape steps(to.shape.size(), 0);
  for (size_t d = 0; d < element->arguments.size(); ++d) {
    const auto index = affine(element->arguments[d], to.shape.size());
    if (!index) return std::nullopt;
    begin += there[d] * index->constant;
    for (size_t a = 0; a < steps.size(); ++a) steps[a] += there[d] * index->factors[a];
  }
  for (size_t a = 0; a < steps.size(); ++a)
    if (to.shape[a] != 1 && steps[a] != here[a]) return std::nullopt;
  // A formula may look past its operand where nobody reads what it saw.
  if (begin < 0 || begin + elements(to.shape) > elements(from.shape)) return std::nullopt;
  return begin * facts(to.type).bytes();
}

bool is_row_major_too(const Graph::Value &v) {
  // An image keeps its memory if its channels, or its pixels, are one.
  return !is_channels_last(v) || v.shape[1] == 1 || v.shape[2] * v.shape[3] == 1;
}

}  // namespace

std::optional<int64_t> view_offset(const Graph &graph, const Graph::Node &node) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const Graph::Value &from = graph.value(node.inputs[0]), &to = graph.value(node.outputs[0]);
  if (from.constant.defined() || elements(to.shape) == 0) return std::nullopt;
  if (node.operation == "reshape")
    return is_row_major_too(from) && is_row_major_too(to) ? std::optional<int64_t>(0) : std::nullopt;
  if (node.operation != "formula") return std::nullopt;
  const auto offset = loaded_piece(node.attributes.expression("element"), from, to);
  return offset && *offset % buffer_alignment == 0 ? offset : std::nullopt;
}

std::vector<int64_t> part_offsets(const Graph &graph, const Graph::Node &concat) {
  const Graph::Value &whole = graph.value(concat.outputs[0]);
  const auto rank = static_cast<int64_t>(whole.shape.size());
  const int64_t given = concat.attributes.integer("axis"), axis = given < 0 ? given + rank : given;
  // Nothing may lie between the places of a part: all that is outside of the axis in memory is one.
  const std::vector<int> order = memory_order(whole);
  bool outside = false;
  for (int d : order) {
    if (outside && whole.shape[static_cast<size_t>(d)] != 1) return {};
    outside |= d == axis;
  }
  std::vector<int64_t> offsets;
  int64_t at = 0;
  for (const std::string &part : concat.inputs) {
    const Graph::Value &v = graph.value(part);
    if (is_channels_last(v) != is_channels_last(whole) && !(is_row_major_too(v) && is_row_major_too(whole))) return {};
    if (at % buffer_alignment != 0) return {};
    offsets.push_back(at);
    at += bytes_of(v);
  }
  return offsets;
}

Homes::Homes(const Graph &graph) {
  for (const Graph::Node &n : graph.nodes)
    if (const auto offset = view_offset(graph, n)) homes_[n.outputs[0]] = {n.inputs[0], *offset};
  for (const Graph::Node &n : graph.nodes)
    if (n.operation == "concat") place_parts(graph, n);
}

Homes::Home Homes::of(const std::string &value) const {
  Home home = {value, 0};
  for (auto it = homes_.find(value); it != homes_.end(); it = homes_.find(home.value))
    home = {it->second.value, home.offset + it->second.offset};
  return home;
}

bool Homes::take_over(const Graph &graph, const std::string &result, const std::string &operand) {
  const Home from = of(operand), to = of(result);
  if (to.value != result || from.offset != 0 || bytes_of(graph.value(from.value)) != bytes_of(graph.value(result)))
    return false;
  homes_[result] = {from.value, 0};
  return true;
}

bool Homes::is_placed(const Graph::Node &concat, size_t input) const {
  const auto it = placed_.find(concat.outputs[0]);
  return it != placed_.end() && it->second.at(input);
}

// A part that a kernel makes, and that has no other place yet, is made in its place. The whole of its memory must be
// the part, since there is room for no more.
void Homes::place_parts(const Graph &graph, const Graph::Node &concat) {
  const std::vector<int64_t> offsets = part_offsets(graph, concat);
  std::vector<bool> placed(concat.inputs.size(), false);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const std::string &part = concat.inputs[i];
    const Home home = of(part);
    const bool whole = home.offset == 0 && bytes_of(graph.value(home.value)) == bytes_of(graph.value(part));
    const Graph::Node *maker = graph.producer(home.value);
    if (!whole || !maker || maker->outputs.size() != 1 || home.value == concat.outputs[0]) continue;
    homes_[home.value] = {concat.outputs[0], offsets[i]};
    placed[i] = true;
  }
  placed_[concat.outputs[0]] = placed;
}

}  // namespace saltern::generators
