#include "dsl/keeping.h"

#include <map>
#include <set>

#include "dsl/structure.h"

namespace saltern::formula {

namespace {

bool is_dear(const Stage &s) {
  if (s.is_input() || s.is_map()) return false;
  const Pattern p = classify(s);
  return p == Pattern::contraction || p == Pattern::window || p == Pattern::scan;
}

}  // namespace

Values worth_giving(const Values &outputs, const Values &gradients) {
  std::set<const Stage *> made, seen;
  for (const auto &s : stages_of(outputs)) made.insert(s.get());
  Values found;
  const std::function<void(const std::shared_ptr<const Stage> &)> visit = [&](const auto &s) {
    if (!seen.insert(s.get()).second) return;
    if (made.count(s.get()) > 0 && is_dear(*s)) return found.emplace_back(s), void();
    for (const auto &from : loaded_by(*s)) visit(from);
  };
  for (const Value &v : gradients) visit(v.shared());
  return found;
}

Values with_given(const Values &values, const Values &stages, const Values &given) {
  std::map<const Stage *, Value> now;
  for (size_t i = 0; i < stages.size(); ++i) now[stages[i].get()] = given.at(i);
  for (const auto &s : stages_of(values)) {
    if (now.count(s.get()) > 0) continue;
    const auto changed = [&](const Expression &e) {
      return replaced(e, [&](const Expression &leaf) {
        return leaf->kind == Expression::Kind::load ? now.at(leaf->stage.get()).at(leaf->arguments) : Expression();
      });
    };
    Stage t = *s;
    if (!s->is_input()) t.element = changed(s->element);
    for (Expression &e : t.targets) e = changed(e);
    if (s->is_scan()) t.before = changed(s->before);
    now[s.get()] = s->is_input() ? Value(s) : stage(std::move(t));
  }
  Values all;
  for (const Value &v : values) all.push_back(now.at(v.get()));
  return all;
}

}  // namespace saltern::formula
