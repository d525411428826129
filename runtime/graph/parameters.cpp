#include "runtime/graph/parameters.h"

namespace saltern {

bool holds_parameters(const Tensor &constant) {
  using Kind = TypeFacts::Kind;
  const TypeFacts &type = facts(constant.type());
  const bool quantised = (type.kind == Kind::integer || type.kind == Kind::natural) && type.bits <= 8;
  return constant.rank() > 0 && (type.kind == Kind::real || quantised);
}

int64_t parameter_count(const Graph &graph) {
  int64_t count = 0;
  for (const auto &[name, v] : graph.values)
    if (v.constant.defined() && holds_parameters(v.constant)) count += v.constant.size();
  for (const Graph::Node &n : graph.nodes)
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) count += parameter_count(**inner);
  return count;
}

}  // namespace saltern
