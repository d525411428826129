#include "generators/model/merged_axes.h"

#include <algorithm>
#include <map>

namespace saltern::generators {

using formula::Expression;
using formula::Stage;
using formula::Value;
using formula::Values;
using Kind = Expression::Kind;

namespace {

class Merging {
 public:
  explicit Merging(const Values &values) : stages_(stages_of(values)) {
    for (const auto &s : stages_) {
      const size_t count = s->extents.size(), pairs = count < 2 ? 0 : count - 1;
      std::vector<bool> &with_next = with_next_[s.get()];
      with_next.assign(pairs, !s->is_scatter());
      // What a scan goes along stays by itself.
      for (int d : {s->along - 1, s->along})
        if (s->is_scan() && d >= 0 && d < static_cast<int>(pairs)) with_next[static_cast<size_t>(d)] = false;
      // A dimension of the result and a step are two things.
      if (s->rank > 0 && static_cast<size_t>(s->rank) <= pairs) with_next[static_cast<size_t>(s->rank) - 1] = false;
    }
    do {
      changed_ = false;
      for (const auto &s : stages_)
        if (!s->is_input()) look_at(*s);
    } while (changed_);
  }

  std::map<const Stage *, Value> merged() const {
    std::map<const Stage *, Value> all;
    for (const auto &s : stages_) {
      const std::vector<int> to = places(*s);
      const auto changed = [&](const Expression &e) {
        return formula::replaced(e, [&](const Expression &leaf) -> Expression {
          if (leaf->kind == Kind::axis) return formula::axis(to[static_cast<size_t>(leaf->number)]);
          const std::vector<int> place = places(*leaf->stage);
          std::vector<Expression> indices;
          for (size_t d = 0; d < leaf->arguments.size(); ++d)
            if (place[d] == static_cast<int>(indices.size())) indices.push_back(leaf->arguments[d]);
          return all.at(leaf->stage.get()).at(indices);
        });
      };
      Stage t = *s;
      t.rule = nullptr;
      t.extents.clear();
      for (size_t d = 0; d < to.size(); ++d) {
        if (to[d] == static_cast<int>(t.extents.size()))
          t.extents.push_back(s->extents[d]);
        else
          t.extents.back() = t.extents.back() * s->extents[d];
        if (static_cast<int>(d) + 1 == s->rank) t.rank = static_cast<int>(t.extents.size());
      }
      if (!s->is_input()) t.element = changed(s->element);
      for (Expression &target : t.targets) target = changed(target);
      if (s->is_scan()) t.before = changed(s->before);
      if (s->is_scan()) t.along = to[static_cast<size_t>(s->along)];
      all[s.get()] = stage(std::move(t));
    }
    return all;
  }

 private:
  // The dimension that each becomes a part of.
  std::vector<int> places(const Stage &s) const {
    const std::vector<bool> &with_next = with_next_.at(&s);
    std::vector<int> to;
    for (size_t d = 0; d < s.extents.size(); ++d) to.push_back(d == 0 ? 0 : to[d - 1] + (with_next[d - 1] ? 0 : 1));
    return to;
  }

  bool is_with_next(const Stage &s, int d) const {
    const std::vector<bool> &with_next = with_next_.at(&s);
    return d >= 0 && d < static_cast<int>(with_next.size()) && with_next[static_cast<size_t>(d)];
  }
  void part(const Stage &s, int d) {
    if (!is_with_next(s, d)) return;
    with_next_[&s][static_cast<size_t>(d)] = false;
    changed_ = true;
  }

  void look_at(const Stage &s) {
    const auto alone = [&](const Expression &e) {
      if (e->kind != Kind::axis) return;
      part(s, e->number - 1);
      part(s, e->number);
    };
    const auto look = [&](const Expression &root) {
      alone(root);
      formula::for_each_node(root, [&](const Expression::Node &n) {
        if (n.kind == Kind::load) return look_at(s, n);
        for (const Expression &a : n.arguments) alone(a);
      });
    };
    for (const Expression &e : expressions_of(s)) look(e);
  }

  // Of dimensions that are one, both indices are neighbours that are one, too, or both are the only element, and not
  // beside dimensions that are two.
  void look_at(const Stage &s, const Expression::Node &load) {
    const Stage &from = *load.stage;
    const auto &index = load.arguments;
    const auto neighbours = [&](size_t d) {  // d and d + 1
      return d + 1 < index.size() && index[d]->kind == Kind::axis && index[d + 1]->kind == Kind::axis &&
             index[d + 1]->number == index[d]->number + 1 && is_with_next(s, index[d]->number) &&
             is_same(s.extents[static_cast<size_t>(index[d]->number)], from.extents[d]) &&
             is_same(s.extents[static_cast<size_t>(index[d]->number) + 1], from.extents[d + 1]);
    };
    for (size_t d = 0; d + 1 < index.size(); ++d) {
      const bool only = formula::is_number(from.extents[d], 1) && formula::is_number(from.extents[d + 1], 1) &&
                        formula::is_number(index[d], 0) && formula::is_number(index[d + 1], 0) &&
                        (from.rank != s.rank || is_with_next(s, static_cast<int>(d)));
      if (!only && !neighbours(d)) part(from, static_cast<int>(d));
    }
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d]->kind != Kind::axis) continue;
      const int number = index[d]->number;
      if (!(neighbours(d) && is_with_next(from, static_cast<int>(d)))) part(s, number);
      if (!(d > 0 && neighbours(d - 1) && is_with_next(from, static_cast<int>(d) - 1))) part(s, number - 1);
    }
  }

  const std::vector<std::shared_ptr<const Stage>> stages_;
  std::map<const Stage *, std::vector<bool>> with_next_;  // by dimension and step
  bool changed_ = false;
};

}  // namespace

MergedAxes merged_axes(const Values &inputs, const Values &outputs) {
  Values all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  const std::map<const Stage *, Value> to = Merging(all).merged();
  MergedAxes m;
  for (const Value &v : inputs) m.inputs.push_back(to.at(v.get()));
  for (const Value &v : outputs) m.outputs.push_back(to.at(v.get()));
  return m;
}

}  // namespace saltern::generators
