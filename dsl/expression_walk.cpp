#include "dsl/expression_walk.h"

#include <unordered_set>

namespace saltern::formula {

void descend(const Expression &e, const std::function<bool(const Expression::Node &)> &enter) {
  std::unordered_set<const Expression::Node *> seen;
  const std::function<void(const Expression &)> walk = [&](const Expression &at) {
    if (!seen.insert(at.get()).second || !enter(*at.get())) return;
    for (const Expression &a : at->arguments) walk(a);
  };
  walk(e);
}

}  // namespace saltern::formula
