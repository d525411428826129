// Stages: interned as expressions are, in a simple form.

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_set>

#include "dsl/index_arithmetic.h"
#include "dsl/recurrence.h"

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

// A sum of what does not depend on a step is a product: Halide would not even go through such steps.
void take_out_idle_steps(Stage &s) {
  if (s.reduction != Function::sum || s.is_scatter() || !is_real(s.element.type())) return;
  std::set<int> used;
  for_each_node(s.element, [&](const Expression::Node &at) {
    if (at.kind == Kind::axis) used.insert(at.number);
  });
  for (size_t i = static_cast<size_t>(s.rank); i < s.extents.size(); ++i) {
    if (used.count(static_cast<int>(i)) > 0 || is_number(s.extents[i], 1)) continue;
    s.element = s.element * cast(s.element.type(), s.extents[i]);
    s.extents[i] = 1;
  }
}

// Reductions over one step need no step; without any, a reduction is a map.
void take_out_single_steps(Stage &s) {
  std::vector<Expression> by = axes_between(0, s.rank), extents(s.extents.begin(), s.extents.begin() + s.rank);
  for (size_t d = static_cast<size_t>(s.rank); d < s.extents.size(); ++d) {
    const bool single = is_number(s.extents[d], 1);
    by.push_back(single ? Expression(0) : axis(static_cast<int>(extents.size())));
    if (!single) extents.push_back(s.extents[d]);
  }
  if (extents.size() < s.extents.size()) {
    s.element = with_axes(s.element, by);
    for (Expression &t : s.targets) t = with_axes(t, by);
    s.extents = std::move(extents);
  }
  if (s.reduction && static_cast<int>(s.extents.size()) == s.rank && !s.is_scatter()) {
    if (finds_a_place(*s.reduction)) s.element = 0;
    s.reduction.reset();
  }
}

// A scan of one element has nothing before it.
void take_out_single_scan(Stage &s) {
  if (s.before.type() != s.element.type() || (is_real(s.before.type()) && facts(s.before.type()).bits < 32))
    throw std::invalid_argument("scan '" + s.name + "' goes from " + std::string(facts(s.before.type()).name) + " to " +
                                std::string(facts(s.element.type()).name));
  for_each_node(s.before, [&](const Expression::Node &at) {
    if (at.kind == Kind::carried || (at.kind == Kind::axis && at.number == s.along))
      throw std::invalid_argument("scan '" + s.name + "' begins with what depends on how far it is");
  });
  if (!is_number(s.extents[static_cast<size_t>(s.along)], 1)) return;
  s.element = with_carried(s.element, s.before);
  s.along = -1;
  s.before = {};
}

// What makes two stages one; of the names only an input's.
using Key = std::tuple<std::string, int, int, std::vector<const void *>, const void *>;

Key key_of(const Stage &s) {
  std::vector<const void *> parts;
  for (const Expression &e : s.extents) parts.push_back(e.get());
  parts.push_back(nullptr);
  parts.push_back(s.element.get());
  for (const Expression &t : s.targets) parts.push_back(t.get());
  if (s.is_scan()) parts.push_back(s.before.get());
  if (s.is_recurrent())
    parts.insert(parts.end(), {s.recurrence.get(), s.recurrence->before[static_cast<size_t>(s.state)].get()});
  const int flags = static_cast<int>(s.type) * 4 + (s.kept ? 2 : 0) + (s.literal ? 1 : 0);
  const int reduction = s.reduction ? static_cast<int>(*s.reduction) : -1;
  return {s.is_input() ? s.name : std::string(), flags, (s.rank * 64 + s.along) * 64 + reduction, std::move(parts),
          s.rule.get()};
}

class Table {
 public:
  std::shared_ptr<const Stage> find_or_add(Stage s) {
    const Key key = key_of(s);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::weak_ptr<const Stage> &row = rows_[key];
    if (std::shared_ptr<const Stage> known = row.lock()) return known;
    s.id = next_++;
    std::shared_ptr<const Stage> made(new Stage(std::move(s)), [this, key](const Stage *old) {
      {
        const std::lock_guard<std::mutex> forget(mutex_);
        const auto at = rows_.find(key);
        if (at != rows_.end() && at->second.expired()) rows_.erase(at);
      }
      delete old;  // and what it loads, maybe: outside of the lock
    });
    row = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Stage>> rows_;
  int next_ = 0;
};

}  // namespace

Value stage(Stage s) {
  static auto *table = new Table;  // never destroyed: values may be held by what is destroyed last
  if (s.element.defined()) {
    s.element = simplified(s.element, s.extents);
    take_out_idle_steps(s);
    take_out_single_steps(s);
    s.kept |= s.is_scan();
    if (s.is_scan()) take_out_single_scan(s);
    s.type = s.reduction && finds_a_place(*s.reduction) ? Type::i64 : s.element.type();
    s.kept |= s.reduction.has_value();
  }
  return Value(table->find_or_add(std::move(s)));
}

Expression with_carried(const Expression &e, const Expression &by) {
  return transformed(e, [&](const Expression &at) { return at->kind == Kind::carried ? by : Expression(); });
}

std::vector<Expression> expressions_of(const Stage &s) {
  std::vector<Expression> all;
  if (s.element.defined()) all.push_back(s.element);
  all.insert(all.end(), s.targets.begin(), s.targets.end());
  if (s.is_scan()) all.push_back(s.before);
  return all;
}

namespace {

void add_loaded(const Expression &e, std::vector<std::shared_ptr<const Stage>> &found) {
  for_each_node(e, [&](const Expression::Node &at) {
    if (at.kind == Kind::load && at.stage && std::find(found.begin(), found.end(), at.stage) == found.end())
      found.push_back(at.stage);
  });
}

}  // namespace

std::vector<std::shared_ptr<const Stage>> loaded_by(const Expression &e) {
  std::vector<std::shared_ptr<const Stage>> found;
  add_loaded(e, found);
  return found;
}

std::vector<std::shared_ptr<const Stage>> loaded_by(const Stage &s) {
  std::vector<std::shared_ptr<const Stage>> found;
  for (const Expression &e : expressions_of(s)) add_loaded(e, found);
  if (s.is_recurrent())
    for (const Values &all : {s.recurrence->first, s.recurrence->read})
      for (const Value &v : all)
        if (std::find(found.begin(), found.end(), v.shared()) == found.end()) found.push_back(v.shared());
  return found;
}

std::vector<std::shared_ptr<const Stage>> stages_of(const Values &outputs) {
  std::vector<std::shared_ptr<const Stage>> order;
  std::unordered_set<const Stage *> seen;
  const std::function<void(const std::shared_ptr<const Stage> &)> visit = [&](const auto &s) {
    if (!seen.insert(s.get()).second) return;
    for (const auto &from : loaded_by(*s)) visit(from);
    order.push_back(s);
  };
  for (const Value &v : outputs) visit(v.shared());
  return order;
}

std::string to_string(const Stage &s) {
  std::string text = s.name + "{";
  for (size_t d = 0; d < s.extents.size(); ++d) {
    if (d > 0) text += static_cast<int>(d) == s.rank ? " | " : ", ";
    text += to_string(s.extents[d]);
  }
  text += "}";
  if (s.is_input()) return text;
  if (s.is_recurrent()) return text + " = state " + std::to_string(s.state) + " after each turn";
  if (s.is_scatter()) {
    text += " at [";
    for (const Expression &t : s.targets) text += to_string(t) + " ";
    text += "]";
  }
  if (s.is_scan()) text += " along a" + std::to_string(s.along) + " from " + to_string(s.before);
  return text + " = " + (s.reduction ? name(*s.reduction) + " " : "") + to_string(s.element);
}

}  // namespace saltern::formula
