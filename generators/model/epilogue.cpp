#include "generators/model/epilogue.h"

#include <algorithm>

#include "generators/formula_functions.h"
#include "generators/model/emitters.h"

namespace saltern::generators {

namespace {

// Whether all extents are 1 but, perhaps, the one that broadcasting puts beside the result's innermost in memory.
bool lies_along_innermost(const Graph::Value &operand, const Graph::Value &result) {
  if (result.shape.empty() || operand.shape.size() > result.shape.size()) return false;
  const size_t missing = result.shape.size() - operand.shape.size();
  const auto innermost = static_cast<size_t>(memory_order(result)[0]);
  for (size_t d = 0; d < operand.shape.size(); ++d)
    if (operand.shape[d] != 1 && (d + missing != innermost || operand.shape[d] != result.shape[innermost]))
      return false;
  return true;
}

bool lies_alike(const Graph::Value &operand, const Graph::Value &result) {
  return operand.shape == result.shape && (operand.layout == result.layout || operand.constant.defined());
}

}  // namespace

bool meets(const Graph::Value &operand, const Graph::Value &result) {
  return lies_alike(operand, result) || elements(operand.shape) == 1 || lies_along_innermost(operand, result);
}

Epilogue::Place Epilogue::place(const Graph::Value &operand, const Graph::Value &result) {
  if (elements(operand.shape) == 1) return Place::once;
  return lies_alike(operand, result) ? Place::everywhere : Place::innermost;
}

Epilogue::Epilogue(const Graph &graph, const Group &group)
    : graph_(graph), nodes_(group.nodes), operands_(other_operands(group.nodes, 1, group.anchor().outputs[0])) {}

std::string Epilogue::key() const {
  std::string text = epilogue_key(nodes_, 1, nodes_[0].outputs[0]);
  for (const std::string &name : operands_)
    text += " " + std::string(facts(graph_.value(name).type).name) +
            std::to_string(static_cast<int>(place(graph_.value(name), result())));
  return text;
}

std::vector<EmittedArgument> Epilogue::arguments(const std::vector<int> &extents) const {
  std::vector<EmittedArgument> all;
  for (const std::string &name : operands_) {
    const Graph::Value &v = graph_.value(name);
    const Place at = place(v, result());
    all.push_back(at == Place::everywhere
                      ? argument(graph_, name, extents, result().layout, v.type)
                      : argument(graph_, name, {static_cast<int>(elements(v.shape))}, Layout::row_major, v.type));
  }
  return all;
}

std::vector<forms::Tensor> Epilogue::inputs(Build &build, size_t result_rank) const {
  std::vector<forms::Tensor> all;
  for (const std::string &name : operands_) {
    const Graph::Value &v = graph_.value(name);
    const int rank = place(v, result()) == Place::everywhere ? static_cast<int>(result_rank) : 1;
    all.push_back(build.input("operand_" + std::to_string(build.inputs().size()), rank, storage_type(v.type)));
  }
  return all;
}

Halide::Expr Epilogue::operator()(const Halide::Expr &value, const std::vector<forms::Tensor> &inputs,
                                  const std::vector<Halide::Expr> &at) const {
  const auto read = [&](const std::string &name) {
    const auto i = static_cast<size_t>(std::find(operands_.begin(), operands_.end(), name) - operands_.begin());
    switch (place(graph_.value(name), result())) {
      case Place::everywhere:
        return inputs.at(i)(at);
      case Place::innermost:
        return inputs.at(i)({at[0]});
      default:
        return inputs.at(i)({Halide::Expr(0)});
    }
  };
  return apply_elementwise(graph_, nodes_, 1, value, nodes_[0].outputs[0], read);
}

}  // namespace saltern::generators
