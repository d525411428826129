#include "dsl/axis_order.h"

#include <map>
#include <stdexcept>

namespace saltern::formula {

using Kind = Expression::Kind;

Values in_order(const Values &values, const std::vector<int> &order) {
  std::map<const Stage *, Value> now;
  const auto turned = [&](const Stage &s) { return !s.is_input() && s.rank == static_cast<int>(order.size()); };
  for (const auto &s : stages_of(values)) {
    if (s->is_scatter() || s->is_scan()) throw std::invalid_argument("'" + s->name + "' has an order of its own");
    if (s->is_input()) {
      now[s.get()] = Value(s);
      continue;
    }
    Stage t = *s;
    t.rule = {};
    Axes axes = axes_between(0, static_cast<int>(s->extents.size()));
    for (size_t d = 0; turned(*s) && d < order.size(); ++d) {
      t.extents[d] = s->extents[static_cast<size_t>(order[d])];
      axes[static_cast<size_t>(order[d])] = axis(static_cast<int>(d));
    }
    t.element = replaced(s->element, [&](const Expression &leaf) {
      if (leaf->kind == Kind::axis) return axes.at(static_cast<size_t>(leaf->number));
      if (leaf->kind != Kind::load) return Expression();
      Axes at = leaf->arguments;
      for (size_t d = 0; turned(*leaf->stage) && d < order.size(); ++d)
        at[d] = leaf->arguments[static_cast<size_t>(order[d])];
      return now.at(leaf->stage.get()).at(at);
    });
    now[s.get()] = stage(std::move(t));
  }
  Values all;
  for (const Value &v : values) all.push_back(now.at(v.get()));
  return all;
}

}  // namespace saltern::formula
