#include "dsl/recurrence.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <stdexcept>

#include "dsl/derivative.h"
#include "dsl/structure.h"

namespace saltern::formula {

using Kind = Expression::Kind;
using SharedStage = std::shared_ptr<const Stage>;

namespace {

[[noreturn]] void refuse(const Recurrence &r, const std::string &why) {
  throw std::invalid_argument("recurrence '" + r.name + "' " + why);
}

std::vector<Expression> of_one_turn(std::vector<Expression> all) {
  all.erase(all.begin());
  return all;
}

std::vector<Expression> with_turn(const Expression &turn, std::vector<Expression> rest) {
  rest.insert(rest.begin(), turn);
  return rest;
}

// An axis of extent 1 is written as 0.
bool is_own_turn(const Recurrence &r, const Expression &index) {
  return is_same(index, axis(0)) || (is_number(r.turns, 1) && is_number(index, 0));
}

bool goes_by_turns(const Recurrence &r, const Stage &s) { return s.rank > 0 && is_same(s.extents[0], r.turns); }

// Throws where a stage that waits for states is not of one turn.
void check(const Recurrence &r, const Stage &s, const std::set<const Stage *> &waiting) {
  if (s.is_recurrent()) refuse(r, "has another one inside of it, '" + s.name + "', that waits for its states");
  if (!goes_by_turns(r, s)) refuse(r, "makes '" + s.name + "' of states of several turns");
  if (s.along == 0) refuse(r, "goes along its turns by a scan, '" + s.name + "'");
  if (s.is_scatter() && !is_own_turn(r, s.targets[0])) refuse(r, "scatters '" + s.name + "' to other turns");
  for (const Expression &e : expressions_of(s))
    for (const Expression &l : loads_in(e))
      if (waiting.count(l->stage.get()) > 0 && !is_own_turn(r, l->arguments[0]))
        refuse(r, "reads '" + l->stage->name + "' at another turn than its own in '" + s.name + "'");
}

std::shared_ptr<const Recurrence> made(Recurrence r) {
  std::set<const Stage *> waiting, read;
  for (const Value &v : r.before) waiting.insert(v.get());
  const auto add_read = [&](const SharedStage &s) {
    if (waiting.count(s.get()) == 0 && read.insert(s.get()).second) r.read.emplace_back(s);
  };
  for (const SharedStage &s : stages_of(r.next)) {
    const std::vector<SharedStage> from = loaded_by(*s);
    if (std::none_of(from.begin(), from.end(), [&](const SharedStage &f) { return waiting.count(f.get()) > 0; }))
      continue;
    check(r, *s, waiting);
    waiting.insert(s.get());
    r.waiting.push_back(s);
    for (const SharedStage &f : from) add_read(f);
  }
  for (const Value &v : r.next) add_read(v.shared());
  return std::make_shared<const Recurrence>(std::move(r));
}

// What states were before each turn, as is known once all turns are done.
Value known_before(const std::shared_ptr<const Recurrence> &r, size_t state) {
  const Value after = state_of(r, state);
  return named("before_" + r->name, inlined(after.extents(), [&](Axes at) {
                 const Expression turn = at[0], first = r->first[state].at(of_one_turn(at));
                 at[0] = r->backwards ? turn + 1 : turn - 1;
                 return select(turn == (r->backwards ? r->turns - 1 : 0), first, after.at(at));
               }));
}

// An input that is no other one.
Value new_input(const std::vector<Expression> &extents, Type type) {
  static std::atomic<int64_t> count{0};
  return input("input " + std::to_string(count++) + " of a recurrence", extents, type);
}

Value zeros(const std::vector<Expression> &extents, Type type) {
  return inlined(extents, [&](const Axes &) { return constant(type, 0); });
}

}  // namespace

Value state_of(const std::shared_ptr<const Recurrence> &r, size_t state) {
  Stage s = shaped(r->name, r->before[state].extents());
  s.type = r->before[state].type();
  s.kept = true;
  s.recurrence = r;
  s.state = static_cast<int>(state);
  return stage(std::move(s));
}

Values recurrent(const std::string &name, const Values &first, const Expression &turns, const NextStates &next,
                 bool backwards) {
  Recurrence r = {name, turns, backwards, first, {}, {}};
  for (const Value &v : first) r.before.push_back(new_input(with_turn(turns, v.extents()), v.type()));
  r.next = next(r.before);
  if (first.empty() || r.next.size() != first.size()) refuse(r, "has another number of states after a turn");
  for (size_t i = 0; i < first.size(); ++i) {
    const std::vector<Expression> was = r.before[i].extents(), is = r.next[i].extents();
    if (!std::equal(was.begin(), was.end(), is.begin(), is.end(), is_same) || r.next[i].type() != first[i].type())
      refuse(r, "has a state " + std::to_string(i) + " of another shape or type after a turn");
  }
  const std::shared_ptr<const Recurrence> all = made(std::move(r));
  Values states;
  for (size_t i = 0; i < first.size(); ++i) states.push_back(state_of(all, i));
  return states;
}

std::shared_ptr<const Recurrence> of_others(const Recurrence &r, const Values &first, const Values &read) {
  return made({r.name, r.turns, r.backwards, first, r.before, with_given(r.next, r.read, read)});
}

Turn turn_of(const Recurrence &r) {
  Turn t;
  t.number = input("turn", {}, Type::i64);
  std::map<const Stage *, Value> now;
  std::set<const Stage *> by_turn;
  const auto stands_for = [&](const Value &v, const std::string &name, bool of_turn) {
    if (of_turn) by_turn.insert(v.get());
    return now[v.get()] = input(name, of_turn ? of_one_turn(v.extents()) : v.extents(), v.type());
  };
  for (const Value &v : r.before) t.before.push_back(stands_for(v, "before" + std::to_string(t.before.size()), true));
  for (const Value &v : r.read) {
    bool own = goes_by_turns(r, *v.get());
    for (const SharedStage &s : r.waiting)
      for (const Expression &e : expressions_of(*s))
        for (const Expression &l : loads_in(e)) own &= l->stage.get() != v.get() || is_own_turn(r, l->arguments[0]);
    t.by_turn.push_back(own);
    t.read.push_back(stands_for(v, "read" + std::to_string(t.read.size()), own));
  }
  const Expression number = t.number.at({});
  const auto changed = [&](const Expression &e) {
    return replaced(e, [&](const Expression &leaf) -> Expression {
      if (leaf->kind == Kind::axis) return leaf->number == 0 ? number : axis(leaf->number - 1);
      if (leaf->kind != Kind::load) return {};
      const std::vector<Expression> &at = leaf->arguments;
      return now.at(leaf->stage.get()).at(by_turn.count(leaf->stage.get()) > 0 ? of_one_turn(at) : at);
    });
  };
  for (const SharedStage &s : r.waiting) {
    Stage one = *s;
    one.extents = of_one_turn(s->extents);
    one.rank -= 1;
    one.rule = nullptr;
    one.element = changed(s->element);
    for (Expression &e : one.targets) e = changed(e);
    if (s->is_scatter()) one.targets = of_one_turn(one.targets);
    if (s->is_scan()) one.before = changed(s->before);
    if (s->is_scan()) one.along -= 1;
    by_turn.insert(s.get());
    now[s.get()] = stage(std::move(one));
  }
  for (const Value &v : r.next)
    t.next.push_back(inlined(of_one_turn(v.extents()), [&](const Axes &at) {
      return now.at(v.get()).at(by_turn.count(v.get()) > 0 ? at : with_turn(number, at));
    }));
  // A state that is a stage of the turn is that stage.
  for (size_t i = 0; i < t.next.size(); ++i)
    if (by_turn.count(r.next[i].get()) > 0) t.next[i] = now.at(r.next[i].get());
  return t;
}

RecurrenceAdjoints adjoints_of(const std::shared_ptr<const Recurrence> &r, const Values &dy,
                               const std::function<bool(const Value &)> &wanted) {
  Values known, first, before;  // the last two of real states only
  std::vector<size_t> real;
  for (size_t i = 0; i < r->first.size(); ++i) {
    known.push_back(known_before(r, i));
    if (!is_real(r->first[i].type())) continue;
    real.push_back(i);
    first.push_back(zeros(r->first[i].extents(), r->first[i].type()));
    before.push_back(r->before[i]);
  }
  RecurrenceAdjoints all = {Values(r->first.size()), Values(r->read.size())};
  if (real.empty()) return all;
  // The adjoints of what turns are made of, where this is handed back to states by the turns behind.
  const auto back_through = [&](const Values &handed, const Values &to) {
    Values seeds(r->next.size());
    for (size_t k = 0; k < real.size(); ++k) {
      const Value &from_outside = dy[real[k]];
      seeds[real[k]] = from_outside.defined() ? from_outside + handed[k] : handed[k];
    }
    return with_given(gradient_at(r->next, seeds, to), r->before, known);
  };
  const Values back = recurrent(
      "back_" + r->name, first, r->turns, [&](const Values &handed) { return back_through(handed, before); },
      !r->backwards);
  Values handed, to;
  for (size_t k = 0; k < real.size(); ++k) handed.push_back(known_before(back[k]->recurrence, k));
  std::vector<size_t> of;
  for (size_t i = 0; i < r->read.size(); ++i) {
    if (!is_real(r->read[i].type()) || !wanted(r->read[i])) continue;
    of.push_back(i);
    to.push_back(r->read[i]);
  }
  const Values found = back_through(handed, to);
  for (size_t i = 0; i < of.size(); ++i) all.read[of[i]] = found[i];
  for (size_t k = 0; k < real.size(); ++k) {
    const Expression begin = r->backwards ? r->turns - 1 : 0;
    all.first[real[k]] =
        inlined(r->first[real[k]].extents(), [&](const Axes &at) { return back[k].at(with_turn(begin, at)); });
  }
  return all;
}

}  // namespace saltern::formula
