#include "dsl/exact_formulas.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "dsl/recurrence.h"

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

Expression with_numbers(const Expression &e, const Numbers &numbers) {
  return transformed(e, [&](const Expression &at) -> Expression {
    if (at->kind == Kind::call && at->function == Function::stopped) return at->arguments[0];
    if (at->kind != Kind::symbol) return {};
    const auto found = numbers.find(at->name);
    if (found == numbers.end()) throw std::invalid_argument("'" + at->name + "' has no number");
    return constant(at.type(), found->second);
  });
}

// Which of its operands this is to a formula, from now on.
int operand_number(ExactFormula &f, int operand) {
  auto known = std::find(f.operands.begin(), f.operands.end(), operand);
  if (known == f.operands.end()) known = f.operands.insert(known, operand);
  return static_cast<int>(known - f.operands.begin());
}

using Stages = std::vector<std::shared_ptr<const Stage>>;

bool reads_own_element(const Expression::Node &load, const Stage &reader) {
  bool own = reader.is_map() && reader.rank == load.stage->rank;
  for (int d = 0; own && d < reader.rank; ++d) {
    const auto i = static_cast<size_t>(d);
    own = is_same(reader.extents[i], load.stage->extents[i]) &&
          (is_same(load.arguments[i], axis(d)) || is_number(reader.extents[i], 1));
  }
  return own;
}

// Stages that are written into the one that reads them.
std::set<const Stage *> parts_of(const Stages &all, const Values &outputs) {
  std::set<const Stage *> parts, apart;
  for (const Value &v : outputs) apart.insert(v.get());
  for (const auto &reader : all) {
    if (reader->is_input()) continue;
    std::set<const Stage *> loaded;
    const auto look = [&](const Expression::Node &at) {
      if (at.kind != Kind::load) return;
      const Stage *s = at.stage.get();
      if (loaded.insert(s).second && !parts.insert(s).second) apart.insert(s);
      if (!s->element.defined() || s->is_scatter() || s->is_scan() || !reads_own_element(at, *reader)) apart.insert(s);
    };
    for (const Expression &e : expressions_of(*reader)) for_each_node(e, look);
    if (reader->is_recurrent())
      for (const auto &s : loaded_by(*reader)) apart.insert(s.get());
  }
  for (const Stage *s : apart) parts.erase(s);
  return parts;
}

class Writer {
 public:
  Writer(const Values &inputs, const Numbers &numbers, std::set<const Stage *> parts)
      : numbers_(numbers), parts_(std::move(parts)) {
    for (const Value &v : inputs) number_.emplace(v.get(), static_cast<int>(number_.size()));
    count_ = static_cast<int>(inputs.size());
  }

  void add(const Stage &s) {
    if (s.is_input()) {
      if (number_.count(&s) == 0) throw std::invalid_argument("'" + s.name + "' is read and not given");
      return;
    }
    if (parts_.count(&s) > 0) return;
    number_[&s] = count_ + static_cast<int>(result.stages.size());
    ExactFormula f;
    f.name = s.name;
    f.type = s.type;
    const std::vector<int64_t> space = space_of(s);
    f.shape.assign(space.begin(), space.begin() + s.rank);
    if (s.is_recurrent()) {
      write_state(s, f);
    } else if (s.is_scatter()) {
      f.space = space;
      write_scatter(s, f);
    } else {
      f.element = numbered(reduction_of(s), f);
      f.along = s.along;
      if (s.is_scan()) f.before = numbered(with_numbers(s.before, numbers_), f);
    }
    result.stages.push_back(std::move(f));
  }

  int number(const Stage *s) const { return number_.at(s); }

  ExactFormulas result;

 private:
  std::vector<int64_t> space_of(const Stage &s) const {
    std::vector<int64_t> space;
    for (const Expression &e : s.extents) {
      space.push_back(number_of(e, numbers_));
      if (space.back() < 0)
        throw std::invalid_argument("'" + s.name + "' has the extent " + std::to_string(space.back()));
    }
    return space;
  }

  Expression reduction_of(const Stage &s) const {
    const Expression element = with_numbers(s.element, numbers_);
    if (!s.reduction) return element;
    const std::vector<int64_t> space = space_of(s), steps(space.begin() + s.rank, space.end());
    return reduce(*s.reduction, steps, [&](const std::vector<Expression> &at) {
      Axes by = axes_between(0, s.rank);
      by.insert(by.end(), at.begin(), at.end());
      return with_axes(element, by);
    });
  }

  void write_scatter(const Stage &s, ExactFormula &f) {
    for (size_t d = 0; d < s.targets.size(); ++d) {
      const bool at_its_axis = is_same(s.targets[d], axis(static_cast<int>(d)));
      f.targets.push_back(at_its_axis ? Expression() : numbered(with_numbers(s.targets[d], numbers_), f));
      if (!at_its_axis) f.space[d] = 1;
    }
    f.element = numbered(with_numbers(s.element, numbers_), f);
  }

  void write_state(const Stage &s, ExactFormula &f) {
    const Recurrence &r = *s.recurrence;
    std::shared_ptr<const ExactRecurrence> &known = recurrences_[&r];
    if (!known) {
      const Turn turn = turn_of(r);
      Values inputs = turn.before;
      inputs.insert(inputs.end(), turn.read.begin(), turn.read.end());
      inputs.push_back(turn.number);
      known = std::make_shared<const ExactRecurrence>(ExactRecurrence{
          exact_formulas(inputs, turn.next, numbers_), turn.by_turn, number_of(r.turns, numbers_), r.backwards});
    }
    f.recurrence = known;
    f.state = s.state;
    for (const Values &all : {r.first, r.read})
      for (const Value &v : all) f.operands.push_back(number_.at(v.get()));
  }

  Expression numbered(const Expression &e, ExactFormula &f) {
    return transformed(e, [&](const Expression &at) -> Expression {
      if (at->kind != Kind::load) return {};
      if (parts_.count(at->stage.get()) > 0) return numbered(with_axes(reduction_of(*at->stage), at->arguments), f);
      return load(operand_number(f, number_.at(at->stage.get())), at.type(), at->arguments);
    });
  }

  const Numbers &numbers_;
  std::set<const Stage *> parts_;
  std::map<const Stage *, int> number_;
  std::map<const Recurrence *, std::shared_ptr<const ExactRecurrence>> recurrences_;
  int count_ = 0;
};

}  // namespace

int64_t number_of(const Expression &e, const Numbers &numbers) {
  const Expression n = with_numbers(e, numbers);
  if (n->kind != Kind::constant) throw std::invalid_argument("an extent is no number: " + to_string(e));
  return n->integer;
}

ExactFormulas exact_formulas(const Values &inputs, const Values &outputs, const Numbers &numbers, Cut cut) {
  const Stages all = stages_of(outputs);
  Writer writer(inputs, numbers, cut == Cut::at_stages ? std::set<const Stage *>() : parts_of(all, outputs));
  for (const auto &s : all) writer.add(*s);
  for (const Value &v : outputs) writer.result.outputs.push_back(writer.number(v.get()));
  return std::move(writer.result);
}

ExactFormulas at_turn(const ExactRecurrence &r, int64_t turn) {
  ExactFormulas all = r.turn;
  const auto is_by_turn = [&](int operand) {
    const int read = operand - static_cast<int>(r.states());
    return read >= 0 && read < static_cast<int>(r.by_turn.size()) && r.by_turn[static_cast<size_t>(read)];
  };
  for (ExactFormula &f : all.stages) {
    const std::vector<int> operands = std::exchange(f.operands, {});
    const auto at = [&](const Expression &e) {
      return transformed(e, [&](const Expression &was) -> Expression {
        if (was->kind != Kind::load) return {};
        const int operand = operands[static_cast<size_t>(was->number)];
        if (operand == static_cast<int>(r.operands())) return Expression(turn);
        std::vector<Expression> index = was->arguments;
        if (is_by_turn(operand)) index.insert(index.begin(), Expression(turn));
        return load(operand_number(f, operand), was.type(), index);
      });
    };
    for (Expression *e : {&f.element, &f.before})
      if (e->defined()) *e = at(*e);
    for (Expression &t : f.targets)
      if (t.defined()) t = at(t);
  }
  return all;
}

Value value_of(const ExactFormula &f, const Values &operands) {
  if (f.is_recurrent()) throw std::invalid_argument("'" + f.name + "' is a recurrence, of which there is no way back");
  const std::vector<Expression> extents(f.shape.begin(), f.shape.end());
  if (!f.is_scatter() && !f.is_scan()) return of_formula(f.name, f.element, extents, operands);
  Stage s = shaped(f.name, extents);
  s.element = with_operands(f.element, operands);
  s.along = f.along;
  if (f.is_scan()) s.before = with_operands(f.before, operands);
  if (f.is_scatter()) s.reduction = Function::sum;
  if (f.is_scatter()) s.extents.insert(s.extents.end(), f.space.begin() + s.rank, f.space.end());
  for (const Expression &t : f.targets)
    s.targets.push_back(t.defined() ? with_operands(t, operands) : axis(static_cast<int>(s.targets.size())));
  return stage(std::move(s));
}

Values values_of(const ExactFormulas &formulas, const Values &inputs) {
  Values all = inputs, outputs;
  for (const ExactFormula &f : formulas.stages) {
    Values operands;
    for (int o : f.operands) operands.push_back(all.at(static_cast<size_t>(o)));
    all.push_back(value_of(f, operands));
  }
  for (int o : formulas.outputs) outputs.push_back(all.at(static_cast<size_t>(o)));
  return outputs;
}

}  // namespace saltern::formula
