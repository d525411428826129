#include "generators/model/views.h"

#include "generators/model/affine.h"
#include "generators/model/emitters.h"
#include "runtime/onnx/operators/axis.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using Kind = Expression::Kind;

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

// The elements that a formula loads, if they lie in its operand's memory in the order of its result.
std::optional<Piece> loaded_piece(const Expression &element, const Graph::Value &from, const Graph::Value &to) {
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
  Piece piece = Piece::dense(begin, elements(to.shape));
  for (int d : memory_order(to)) {
    const auto a = static_cast<size_t>(d);
    if (to.shape[a] == 1) continue;
    if (piece.is_dense() && steps[a] > here[a]) piece = {begin, piece.count, here[a], steps[a]};
    const int64_t expected = piece.is_dense() ? here[a] : here[a] / piece.run * piece.pitch;
    if (steps[a] != expected) return std::nullopt;
  }
  // A formula may look past its operand where nobody reads what it saw.
  const int64_t end = begin + (piece.count / piece.run - 1) * piece.pitch + piece.run;
  return begin < 0 || end > elements(from.shape) ? std::nullopt : std::optional<Piece>(piece);
}

}  // namespace

std::optional<Piece> loaded_piece(const Graph &graph, const Graph::Node &node) {
  if (node.operation != "formula" || node.inputs.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const Graph::Value &from = graph.value(node.inputs[0]), &to = graph.value(node.outputs[0]);
  if (from.constant.defined() || elements(to.shape) == 0) return std::nullopt;
  return loaded_piece(node.attributes.expression("element"), from, to);
}

std::optional<int64_t> view_offset(const Graph &graph, const Graph::Node &node) {
  if (node.operation == "reshape") {
    const Graph::Value &from = graph.value(node.inputs.at(0)), &to = graph.value(node.outputs.at(0));
    const bool view = !from.constant.defined() && elements(to.shape) > 0 && lies_as(from, Layout::row_major) &&
                      lies_as(to, Layout::row_major);
    return view ? std::optional<int64_t>(0) : std::nullopt;
  }
  const std::optional<Piece> piece = loaded_piece(graph, node);
  if (!piece || !piece->is_dense()) return std::nullopt;
  const int64_t offset = piece->offset * facts(graph.value(node.outputs[0]).type).bytes();
  return offset % buffer_alignment == 0 ? std::optional<int64_t>(offset) : std::nullopt;
}

std::vector<Piece> part_pieces(const Graph &graph, const Graph::Node &concat) {
  const Graph::Value &whole = graph.value(concat.outputs[0]);
  const auto rank = static_cast<int64_t>(whole.shape.size());
  const auto axis = static_cast<size_t>(axis_within(concat.attributes.integer("axis"), rank));
  const int64_t step = memory_strides(whole)[axis], pitch = step * whole.shape[axis];
  std::vector<Piece> pieces;
  int64_t at = 0;
  for (const std::string &part : concat.inputs) {
    const Graph::Value &v = graph.value(part);
    if (!lies_as(v, whole.layout)) return {};
    pieces.push_back({at, elements(v.shape), step * v.shape[axis], pitch});
    at += pieces.back().run;
  }
  return pieces;
}

}  // namespace saltern::generators
