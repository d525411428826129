#include <algorithm>

#include "runtime/onnx/optimize.h"

namespace saltern {

Model without_constant_inputs(Model m) {
  constexpr int64_t first_with_defaults = 4;
  if (m.ir_version >= first_with_defaults) return m;
  Graph &g = m.graph;
  const auto is_constant = [&](const std::string &i) { return g.value(i).constant.defined(); };
  g.inputs.erase(std::remove_if(g.inputs.begin(), g.inputs.end(), is_constant), g.inputs.end());
  m.ir_version = first_with_defaults;  // where a constant need not be an input
  return m;
}

}  // namespace saltern
