#include "dsl/structure.h"

#include <algorithm>
#include <map>

#include "dsl/derivative.h"
#include "dsl/recurrence.h"

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

bool is_multiplication(const Expression &e) { return e->kind == Kind::call && e->function == Function::multiply; }

// Functions that cost many instructions.
bool is_costly(const Expression::Node &n) {
  static const std::set<Function> costly = {
      Function::exp,     Function::log,     Function::sqrt,    Function::sine,      Function::cosine,
      Function::tangent, Function::arcsine, Function::sinh,    Function::arccosine, Function::arctangent,
      Function::cosh,    Function::tanh,    Function::arcsinh, Function::arccosh,   Function::arctanh,
      Function::erf,     Function::divide,  Function::power,   Function::remainder, Function::modulo};
  return n.kind == Kind::call && is_real(n.type) && costly.count(n.function) > 0;
}

bool is_costly(const Expression &e) {
  bool costly = false;
  for_each_node(e, [&](const Expression::Node &n) { costly |= is_costly(n); });
  return costly;
}

}  // namespace

std::set<int> axes_in(const Expression &e) {
  std::set<int> axes;
  for_each_node(e, [&](const Expression::Node &n) {
    if (n.kind == Kind::axis) axes.insert(n.number);
  });
  return axes;
}

std::vector<Expression> loads_in(const Expression &e) {
  std::vector<Expression> loads;
  for_each_node(e, [&](const Expression::Node &n) {
    if (n.kind == Kind::load) loads.push_back(interned(n));
  });
  return loads;
}

const char *name(Pattern p) {
  static const char *const names[] = {"map",         "gather",  "row",  "column",    "window",
                                      "contraction", "scatter", "scan", "recurrence"};
  return names[static_cast<int>(p)];
}

std::optional<Contraction> contraction_of(const Stage &s) {
  if (s.is_input() || s.reduction != Function::sum || s.is_scatter() || s.rank < 2) return {};
  Contraction c;
  Expression product = s.element;
  if (product->kind == Kind::select && is_number(product->arguments[2], 0)) {
    c.where = product->arguments[0];
    product = product->arguments[1];
  }
  if (!is_multiplication(product)) return {};
  const Expression &a = product->arguments[0], &b = product->arguments[1];
  if (a->kind != Kind::load || b->kind != Kind::load) return {};
  // A tile that goes past the edge would ask for places there, where nobody has written any.
  if (loads_in(a).size() > 1 || loads_in(b).size() > 1) return {};
  c.column = s.rank - 1;
  const std::set<int> in_a = axes_in(a), in_b = axes_in(b);
  const bool a_has_column = in_a.count(c.column) > 0;
  if (a_has_column == (in_b.count(c.column) > 0)) return {};
  c.by_column = a_has_column ? a : b;
  c.by_row = a_has_column ? b : a;
  // The innermost of the axes that only the other operand varies with, if it is long enough for a tile; else the longest.
  const std::set<int> &with_column = a_has_column ? in_a : in_b, &with_row = a_has_column ? in_b : in_a;
  double longest = 0;
  for (int d = s.rank - 2; d >= 0; --d) {
    const double extent = typical_value(s.extents[static_cast<size_t>(d)]);
    if (with_row.count(d) == 0 || with_column.count(d) > 0 || extent <= longest) continue;
    c.row = d;
    if (extent >= 6) break;
    longest = extent;
  }
  if (c.row < 0) return {};
  if (c.where.defined()) {
    const std::set<int> in_where = axes_in(c.where);
    if (in_where.count(c.row) + in_where.count(c.column) > 0) return {};
  }
  return c;
}

namespace {

// Whether one step runs along the innermost dimension of what is read, or does not matter, whatever the indices further
// out are: the channels of a group are an index of an axis and a step, and yet no window.
bool has_rows(const Stage &s, const std::vector<Expression> &loads) {
  const auto is_step = [&](const Expression &i) { return i->kind == Kind::axis && i->number >= s.rank; };
  const auto of_row = std::find_if(loads.begin(), loads.end(), [&](const Expression &l) {
    return !l->arguments.empty() && is_step(l->arguments.back());
  });
  if (of_row == loads.end()) return false;
  const Expression &step = (*of_row)->arguments.back();
  return std::all_of(loads.begin(), loads.end(), [&](const Expression &l) {
    if (axes_in(l).count(step->number) == 0) return true;
    for (size_t d = 0; d + 1 < l->arguments.size(); ++d)
      if (axes_in(l->arguments[d]).count(step->number) > 0) return false;
    return is_same(l->arguments.back(), step);
  });
}

}  // namespace

Pattern classify(const Stage &s) {
  if (s.is_recurrent()) return Pattern::recurrence;
  if (s.is_scatter()) return Pattern::scatter;
  if (s.is_scan()) return Pattern::scan;
  const std::vector<Expression> loads = loads_in(s.element);
  if (s.is_map()) {
    for (const Expression &l : loads)
      for (const Expression &i : l->arguments)
        if (!loads_in(i).empty()) return Pattern::gather;
    return Pattern::map;
  }
  if (contraction_of(s)) return Pattern::contraction;
  const auto is_step = [&](int a) { return a >= s.rank; };
  bool along_axes = false, slides = false;
  for (const Expression &l : loads) {
    for (const Expression &i : l->arguments) {
      const std::set<int> axes = axes_in(i);
      const bool steps = std::any_of(axes.begin(), axes.end(), is_step);
      slides |= steps && !std::all_of(axes.begin(), axes.end(), is_step);
    }
    // What is the same for all steps has no part in where they run.
    const std::set<int> all = axes_in(l);
    if (std::none_of(all.begin(), all.end(), is_step)) continue;
    const std::set<int> innermost = axes_in(l->arguments.back());
    along_axes |= !innermost.empty() && std::none_of(innermost.begin(), innermost.end(), is_step);
  }
  if (slides) return has_rows(s, loads) ? Pattern::row : Pattern::window;
  return along_axes ? Pattern::column : Pattern::row;
}

Expression written_out(const Value &v) {
  return transformed(v->element, [](const Expression &at) {
    const bool is_map = at->kind == Kind::load && at->stage && at->stage->is_map();
    return is_map ? with_axes(written_out(Value(at->stage)), at->arguments) : Expression();
  });
}

std::set<Pattern> classes_of(const Values &outputs) {
  std::set<Pattern> all;
  for (const auto &s : stages_of(outputs))
    if (!s->is_input()) all.insert(classify(*s));
  if (all.empty()) all.insert(Pattern::map);
  return all;
}

std::vector<std::shared_ptr<const Stage>> worth_keeping(const Values &outputs) {
  std::map<const Stage *, int> readers;
  std::set<const Stage *> repeated;
  const auto order = stages_of(outputs);
  for (const auto &s : order) {
    if (s->is_input()) continue;
    for (const Expression &l : loads_in(s->element)) {
      ++readers[l->stage.get()];
      const std::set<int> axes = axes_in(l);
      for (size_t i = 0; i < s->extents.size(); ++i)
        if (!is_number(s->extents[i], 1) && axes.count(static_cast<int>(i)) == 0) repeated.insert(l->stage.get());
    }
  }
  std::vector<std::shared_ptr<const Stage>> kept;
  for (const auto &s : order) {
    if (s->is_input()) continue;
    const bool is_output =
        std::any_of(outputs.begin(), outputs.end(), [&](const Value &v) { return v.get() == s.get(); });
    const bool read_again = readers[s.get()] > 1 || repeated.count(s.get()) > 0;
    if (!s->is_map() || (!is_output && read_again && is_costly(s->element))) kept.push_back(s);
  }
  return kept;
}

bool is_light(const Value &v) {
  const Expression e = written_out(v);
  int operations = 0;
  for_each_node(e, [&](const Expression::Node &n) { operations += n.kind == Kind::call || n.kind == Kind::select; });
  return operations <= 8 && !is_costly(e);
}

bool is_at_own_place(const Expression &load, const Stage &reader) {
  const Stage &s = *load->stage;
  if (s.rank != reader.rank) return false;
  for (int d = 0; d < s.rank; ++d) {
    const auto at = static_cast<size_t>(d);
    if (!is_same(s.extents[at], reader.extents[at])) return false;
    if (!is_number(s.extents[at], 1) && !is_same(load->arguments[at], axis(d))) return false;
  }
  return true;
}

std::map<const Stage *, std::shared_ptr<const Stage>> epilogues_of(const Values &outputs) {
  std::map<const Stage *, const Stage *>
      reader;  // of each stage that is read; null: there are several, or other places
  const auto order = stages_of(outputs);
  for (const auto &s : order)
    for (const Expression &e : expressions_of(*s))
      for (const Expression &load : loads_in(e)) {
        const Stage *&known = reader.emplace(load->stage.get(), s.get()).first->second;
        if (known != s.get() || !is_at_own_place(load, *s)) known = nullptr;
      }
  std::set<const Stage *> kept, results;
  for (const auto &s : worth_keeping(outputs)) kept.insert(s.get());
  for (const Value &v : outputs)
    if (!results.insert(v.get()).second) reader[v.get()] = nullptr;  // given twice: made for neither
  std::map<const Stage *, std::shared_ptr<const Stage>> found;
  for (const auto &s : order) {
    if (s->is_input() || results.count(s.get()) > 0 || !contraction_of(*s)) continue;
    const Stage *by = reader[s.get()];
    // Maps that are neither kept nor results are written into who reads them.
    while (by && by->is_map() && kept.count(by) + results.count(by) == 0) by = reader[by];
    if (by && by->is_map() && (kept.count(by) > 0 || reader.count(by) == 0)) found.emplace(by, s);
  }
  return found;
}

namespace {

bool is_dear(const Stage &s) {
  if (s.is_input() || s.is_map()) return false;
  const Pattern p = classify(s);
  return p == Pattern::contraction || p == Pattern::window || p == Pattern::scan || p == Pattern::recurrence;
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

namespace {

// Values that read others now, each made once.
class WithGiven {
 public:
  WithGiven(const Values &stages, const Values &given) : stages_(stages), given_(given) {
    for (size_t i = 0; i < stages.size(); ++i) now_[stages[i].get()] = given.at(i);
  }

  Value of(const std::shared_ptr<const Stage> &s) {
    const auto known = now_.find(s.get());
    if (known != now_.end()) return known->second;
    const Value changed = s->is_input()       ? Value(s)
                          : s->is_recurrent() ? state_of(of(s->recurrence), static_cast<size_t>(s->state))
                                              : changed_stage(*s);
    return now_[s.get()] = changed;
  }

  Values of(const Values &all) {
    Values changed;
    for (const Value &v : all) changed.push_back(of(v.shared()));
    return changed;
  }

 private:
  using SharedRecurrence = std::shared_ptr<const Recurrence>;
  using SharedRule = std::shared_ptr<const GradientRule>;

  static bool are_same(const Values &a, const Values &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Value &x, const Value &y) { return x.get() == y.get(); });
  }

  Value changed_stage(Stage s) {
    const auto changed = [&](const Expression &e) {
      return replaced(e, [&](const Expression &leaf) {
        return leaf->kind == Kind::load ? of(leaf->stage).at(leaf->arguments) : Expression();
      });
    };
    s.element = changed(s.element);
    for (Expression &e : s.targets) e = changed(e);
    if (s.is_scan()) s.before = changed(s.before);
    if (s.rule) s.rule = of(s.rule);
    return stage(std::move(s));
  }

  // States of one recurrence are of one.
  SharedRecurrence of(const SharedRecurrence &r) {
    SharedRecurrence &changed = recurrences_[r.get()];
    if (changed) return changed;
    const Values first = of(r->first), read = of(r->read);
    return changed = are_same(first, r->first) && are_same(read, r->read) ? r : of_others(*r, first, read);
  }

  SharedRule of(const SharedRule &rule) {
    const Values inputs = of(rule->inputs);
    if (are_same(inputs, rule->inputs)) return rule;
    return std::make_shared<const GradientRule>(GradientRule{
        inputs,
        [rule, stages = stages_, given = given_](const Value &dy) { return with_given(rule->of(dy), stages, given); }});
  }

  const Values &stages_, &given_;
  std::map<const Stage *, Value> now_;
  std::map<const Recurrence *, SharedRecurrence> recurrences_;
};

}  // namespace

Values with_given(const Values &values, const Values &stages, const Values &given) {
  return WithGiven(stages, given).of(values);
}

}  // namespace saltern::formula
