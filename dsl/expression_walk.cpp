#include "dsl/expression_walk.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace saltern::formula {

namespace {

// All that a node says, as bytes: its arguments by their addresses.
std::string contents(const Expression::Node &n) {
  std::string all;
  const auto add = [&](const auto &value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    all.append(bytes, sizeof value);
  };
  add(n.kind);
  add(n.type);
  add(n.function);
  add(n.number);
  add(n.real);  // by its bits: zeros have signs
  add(n.integer);
  for (const Expression &a : n.arguments) add(a.get());
  for (const Step &s : n.steps) add(s.id);
  return all;
}

}  // namespace

void descend(const Expression &e, const std::function<bool(const Expression::Node &)> &enter) {
  std::unordered_set<const Expression::Node *> seen;
  const std::function<void(const Expression &)> walk = [&](const Expression &at) {
    if (!seen.insert(at.get()).second || !enter(*at.get())) return;
    for (const Expression &a : at->arguments) walk(a);
  };
  walk(e);
}

Expression with_equal_parts_once(const Expression &e) {
  std::unordered_map<const Expression::Node *, Expression> done;
  std::unordered_map<std::string, Expression> known;
  const std::function<Expression(const Expression &)> walk = [&](const Expression &at) -> Expression {
    if (const auto it = done.find(at.get()); it != done.end()) return it->second;
    Expression::Node n = *at.get();
    bool changed = false;
    for (Expression &a : n.arguments) {
      const Expression once = walk(a);
      changed |= once.get() != a.get();
      a = once;
    }
    const auto [it, is_new] = known.emplace(contents(n), at);
    if (is_new && changed) it->second = Expression(std::make_shared<const Expression::Node>(std::move(n)));
    return done[at.get()] = it->second;
  };
  return walk(e);
}

}  // namespace saltern::formula
