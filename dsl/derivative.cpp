#include "dsl/derivative.h"

#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "dsl/index_arithmetic.h"
#include "dsl/partials.h"
#include "dsl/recurrence.h"
#include "dsl/transpose.h"

namespace saltern::formula {

using Kind = Expression::Kind;
using SharedStage = std::shared_ptr<const Stage>;

namespace {

struct AdjointOfLoad {
  Expression load, adjoint;
};

// Adjoints of all loads in `element`, whose own is `seed`; `value` is where its value can be read.
std::vector<AdjointOfLoad> adjoints_of_loads(const Expression &element, const Expression &value,
                                             const Expression &seed) {
  std::vector<Expression> order;
  std::set<const Expression::Node *> seen;
  const std::function<void(const Expression &)> walk = [&](const Expression &at) {
    if (!seen.insert(at.get()).second) return;
    for (const Expression &a : at->arguments) walk(a);
    order.push_back(at);
  };
  walk(element);
  std::unordered_map<const Expression::Node *, Expression> adjoint = {{element.get(), seed}};
  std::vector<AdjointOfLoad> loads;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Expression &at = *it;
    const auto found = adjoint.find(at.get());
    if (found == adjoint.end() || !is_real(at.type())) continue;
    const Expression dy = found->second;
    const auto send = [&](const Expression &to, const Expression &part) {
      if (!is_real(to.type()) || is_number(part, 0)) return;
      Expression &sum = adjoint[to.get()];
      sum = sum.defined() ? plus(sum, part) : part;
    };
    const std::vector<Expression> &a = at->arguments;
    const Expression zero = constant(at.type(), 0);
    switch (at->kind) {
      case Kind::load:
        loads.push_back({at, dy});
        break;
      case Kind::select:
        send(a[1], select(a[0], dy, zero));
        send(a[2], select(a[0], zero, dy));
        break;
      case Kind::cast:
        if (is_real(a[0].type())) send(a[0], cast(a[0].type(), dy));
        break;
      case Kind::call: {
        const std::vector<Expression> parts = partials(at, is_same(at, element) ? value : at, dy);
        for (size_t i = 0; i < parts.size(); ++i) send(a[i], parts[i]);
        break;
      }
      default:
        break;
    }
  }
  return loads;
}

// Goes to the element whose place was found: the first of equal ones.
Expression adjoint_at_place(const Stage &s, const Expression &dy) {
  Stage place = s;
  place.reduction = s.reduction == Function::greatest ? Function::first_greatest : Function::first_least;
  place.name = s.name + "_place";
  place.rule = nullptr;
  Expression number = 0;
  for (size_t i = static_cast<size_t>(s.rank); i < s.extents.size(); ++i)
    number = number * s.extents[i] + axis(static_cast<int>(i));
  return select(stage(place).at(axes_between(0, s.rank)) == number, dy, constant(dy.type(), 0));
}

// Times the product of all others: of those before it, and of those behind it.
Expression adjoint_of_factor(const Stage &s, const Expression &dy) {
  const auto rank = static_cast<size_t>(s.rank);
  const Type type = is_real(s.type) && facts(s.type).bits < 32 ? Type::f32 : s.type;
  std::vector<Expression> extents(s.extents.begin(), s.extents.begin() + s.rank), place = axes_between(0, s.rank);
  Expression count = 1, number = 0;
  for (size_t i = rank; i < s.extents.size(); ++i) {
    count = count * s.extents[i];
    number = number * s.extents[i] + axis(static_cast<int>(i));
  }
  extents.push_back(count);
  const auto product_before = [&](bool backwards, const Expression &at) {
    const Value all = scan(s.name + "_of_others", extents, s.rank, constant_value(type, 1),
                           [&](const Axes &here, const Expression &so_far) {
                             const Expression t = here.back();
                             std::vector<Expression> by(s.extents.size());
                             std::copy_n(here.begin(), s.rank, by.begin());
                             Expression rest = backwards ? count - t : t - 1;
                             for (size_t i = by.size(); i-- > rank;) {
                               by[i] = i == rank ? rest : modulo(rest, s.extents[i]);
                               rest = quotient(rest, s.extents[i]);
                             }
                             return select(t == 0, so_far, so_far * cast(type, with_axes(s.element, by)));
                           });
    std::vector<Expression> index = place;
    index.push_back(at);
    return all.at(index);
  };
  return times(dy, cast(s.type, product_before(false, number) * product_before(true, count - 1 - number)));
}

// The adjoint of a stage's element, given the adjoint of the stage.
Expression adjoint_of_element(const Stage &s, const Value &dy) {
  if (s.is_scatter()) return dy.at(s.targets);
  const Expression result = dy.at(axes_between(0, s.rank));
  if (s.reduction == Function::greatest || s.reduction == Function::least) return adjoint_at_place(s, result);
  return s.reduction == Function::product ? adjoint_of_factor(s, result) : result;
}

// What a sum may be multiplied by once: the factors of its element that do not depend on its steps.
struct Factored {
  Expression once, each;  // either may be undefined: 1
};

Factored factored(const Expression &e, int rank) {
  bool depends = false;
  for_each_node(e, [&](const Expression::Node &at) { depends |= at.kind == Kind::axis && at.number >= rank; });
  if (!depends) return {e, {}};
  const auto both_of = [](const Expression &a, const Expression &b) {
    return !a.defined() ? b : !b.defined() ? a : times(a, b);
  };
  if (is_call(e, Function::negate)) {
    const Factored f = factored(e->arguments[0], rank);
    return {both_of(f.once, constant(e.type(), -1)), f.each};
  }
  if (is_call(e, Function::multiply)) {
    const Factored a = factored(e->arguments[0], rank), b = factored(e->arguments[1], rank);
    return {both_of(a.once, b.once), both_of(a.each, b.each)};
  }
  if (is_call(e, Function::divide)) {
    const Factored a = factored(e->arguments[0], rank), b = factored(e->arguments[1], rank);
    const auto divided = [&](const Expression &p, const Expression &q) {
      return !q.defined() ? p : (p.defined() ? p : constant(e.type(), 1)) / q;
    };
    return {divided(a.once, b.once), divided(a.each, b.each)};
  }
  return {{}, e};
}

// The sum, its constant factors taken out.
Value factored_sum(Stage s) {
  if (s.reduction != Function::sum || s.is_scatter()) return stage(std::move(s));
  s.element = simplified(s.element, s.extents);
  const Factored f = factored(s.element, s.rank);
  if (!f.once.defined() || !f.each.defined()) return stage(std::move(s));
  const int rank = s.rank;
  Stage result = shaped(s.name, {s.extents.begin(), s.extents.begin() + rank});
  s.element = f.each;
  result.element = times(f.once, stage(std::move(s)).at(axes_between(0, rank)));
  return stage(std::move(result));
}

// What one load contributes to the adjoint of what it loads.
Value transposed_load(const Stage &s, const AdjointOfLoad &part) {
  // A scatter does not run over the axes that it scatters along.
  std::vector<Expression> iterators = s.extents;
  for (size_t d = 0; d < s.targets.size(); ++d)
    if (!is_same(s.targets[d], axis(static_cast<int>(d)))) iterators[d] = 1;
  const Value source(part.load->stage);
  const Transposed t = transposed(part.load->arguments, iterators, source.extents());
  Stage gathered = shaped("d_" + source->name, source.extents());
  gathered.extents.insert(gathered.extents.end(), t.steps.begin(), t.steps.end());
  gathered.element = select(t.condition, assuming(t.condition, with_axes(part.adjoint, t.iterators)),
                            constant(part.adjoint.type(), 0));
  gathered.targets = t.targets;
  if (!t.steps.empty() || !t.targets.empty()) gathered.reduction = Function::sum;
  return factored_sum(std::move(gathered));
}

// The adjoint of a scan's elements, given what comes to them from elsewhere: that, and what the element behind hands back.
Expression adjoint_of_scan(const SharedStage &s, const Value &dy) {
  const auto along = static_cast<size_t>(s->along);
  const std::vector<Expression> here = axes_between(0, s->rank);
  const auto at = [&](const Expression &t) {
    std::vector<Expression> other = here;
    other[along] = t;
    return other;
  };
  const Expression t = here[along], extent = s->extents[along], zero = constant(s->type, 0);
  const Expression element = with_carried(s->element, load(s, at(t - 1)));
  Expression handed = zero;
  for (const AdjointOfLoad &part : adjoints_of_loads(element, load(s, here), carried(s->type)))
    if (part.load->stage == s) handed = plus(handed, part.adjoint);
  if (is_number(handed, 0)) return dy.at(here);
  Stage back = shaped("back_" + s->name, s->extents);
  back.along = s->along;
  back.before = zero;
  // Its element t is that of the scan's extent - 1 - t.
  back.element = plus(dy.at(at(extent - 1 - t)), select(t == 0, zero, with_axes(handed, at(extent - t))));
  return stage(std::move(back)).at(at(extent - 1 - t));
}

// Where the adjoint of a stage goes. The inputs of a rule need not be stages of the formula: maps without a name are not.
std::vector<SharedStage> sources_of(const Stage &s) {
  if (s.is_input()) return {};
  if (!s.rule) return loaded_by(s);
  std::vector<SharedStage> from;
  for (const Value &v : s.rule->inputs) from.push_back(v.shared());
  return from;
}

// All that adjoints go to, each after its sources.
std::vector<SharedStage> adjoint_order(const Values &outputs) {
  std::vector<SharedStage> order;
  std::set<const Stage *> seen;
  const std::function<void(const SharedStage &)> visit = [&](const SharedStage &s) {
    if (!seen.insert(s.get()).second) return;
    for (const SharedStage &from : sources_of(*s)) visit(from);
    order.push_back(s);
  };
  for (const Value &v : outputs) visit(v.shared());
  return order;
}

class Adjoints {
 public:
  Adjoints(const Values &outputs, const Values &seeds, const Values &wanted) : order_(adjoint_order(outputs)) {
    for (const Value &w : wanted) needed_.insert(w.get());
    for (const SharedStage &s : order_) {
      if (s->is_recurrent() && !s->rule) ++states_left_[s->recurrence.get()];
      if (!is_real(s->type)) continue;
      for (const SharedStage &from : sources_of(*s))
        if (needed_.count(from.get()) > 0 && is_real(from->type)) needed_.insert(s.get());
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (seeds[i].defined()) send(outputs[i].get(), seeds[i]);
  }

  // Nothing goes back through the leaves.
  void run(const Values &leaves) {
    std::set<const Stage *> ends;
    for (const Value &v : leaves) ends.insert(v.get());
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      const Stage &s = **at;
      if (ends.count(&s) > 0) continue;
      if (s.is_recurrent() && !s.rule) {
        if (--states_left_[s.recurrence.get()] == 0) differentiate(s.recurrence);
        continue;
      }
      const auto found = adjoint_.find(&s);
      if (found == adjoint_.end() || s.is_input() || needed_.count(&s) == 0) continue;
      const Value dy = named("d_" + s.name, found->second);
      if (s.rule) {
        const Values parts = s.rule->of(dy);
        for (size_t i = 0; i < parts.size(); ++i)
          if (parts[i].defined()) send(s.rule->inputs[i].get(), parts[i]);
      } else {
        differentiate(*at, dy);
      }
    }
  }

  Value of(const Value &wanted) const {
    const auto found = adjoint_.find(wanted.get());
    if (found != adjoint_.end()) return found->second;
    return inlined(wanted.extents(), [&](const Axes &) { return constant(wanted.type(), 0); });
  }

 private:
  void send(const Stage *to, const Value &part) {
    const auto found = adjoint_.find(to);
    adjoint_[to] = found == adjoint_.end() ? part : found->second + part;
  }

  // Once the adjoints of all its states are there.
  void differentiate(const std::shared_ptr<const Recurrence> &r) {
    Values dy(r->first.size());
    bool any = false;
    for (size_t i = 0; i < dy.size(); ++i) {
      const Value state = state_of(r, i);
      const auto found = adjoint_.find(state.get());
      if (found == adjoint_.end() || needed_.count(state.get()) == 0) continue;
      dy[i] = named("d_" + r->name, found->second);
      any = true;
    }
    if (!any) return;
    const auto is_needed = [&](const Value &v) { return needed_.count(v.get()) > 0; };
    const RecurrenceAdjoints back = adjoints_of(r, dy, is_needed);
    const auto send_all = [&](const Values &to, const Values &parts) {
      for (size_t i = 0; i < to.size(); ++i)
        if (parts[i].defined() && is_needed(to[i])) send(to[i].get(), parts[i]);
    };
    send_all(r->first, back.first);
    send_all(r->read, back.read);
  }

  void differentiate(const SharedStage &s, const Value &dy) {
    if (s->reduction && finds_a_place(*s->reduction)) return;
    const std::vector<Expression> here = axes_between(0, s->rank);
    Expression element = s->element, seed = s->is_scan() ? adjoint_of_scan(s, dy) : adjoint_of_element(*s, dy);
    if (s->is_scan()) {
      std::vector<Expression> before = here;
      Expression &t = before[static_cast<size_t>(s->along)];
      const Expression is_first = t == 0;
      t = t - 1;
      element = with_carried(element, select(is_first, s->before, load(s, before)));
    }
    const Expression value = (s->is_map() && s->kept) || s->is_scan() ? load(s, here) : element;
    for (const AdjointOfLoad &part : adjoints_of_loads(element, value, seed))
      if (part.load->stage && part.load->stage != s && needed_.count(part.load->stage.get()) > 0)
        send(part.load->stage.get(), transposed_load(*s, part));
  }

  std::vector<SharedStage> order_;
  std::set<const Stage *> needed_;                 // what depends on something wanted
  std::map<const Recurrence *, int> states_left_;  // whose adjoints may still grow
  std::unordered_map<const Stage *, Value> adjoint_;
};

}  // namespace

Value with_gradient(const Value &y, GradientRule rule) {
  Stage s = *y.get();
  s.kept = true;
  s.rule = std::make_shared<const GradientRule>(std::move(rule));
  return stage(std::move(s));
}

namespace {

Values gradient(const Values &outputs, const Values &seeds, const Values &wanted, bool as_inputs) {
  if (seeds.size() != outputs.size()) throw std::invalid_argument("gradient: not a seed for each output");
  Adjoints adjoints(outputs, seeds, wanted);
  adjoints.run(as_inputs ? wanted : Values());
  Values result;
  for (const Value &w : wanted) result.push_back(adjoints.of(w));
  return result;
}

}  // namespace

Values gradient(const Values &outputs, const Values &seeds, const Values &wanted) {
  return gradient(outputs, seeds, wanted, false);
}

Values gradient_at(const Values &outputs, const Values &seeds, const Values &wanted) {
  return gradient(outputs, seeds, wanted, true);
}

Value adjoint(const std::vector<Expression> &extents, const Value &dy, const std::function<Value(const Value &)> &f) {
  const Value x = input("wanted", extents, dy.type());
  return gradient({f(x)}, {dy}, {x})[0];
}

}  // namespace saltern::formula
