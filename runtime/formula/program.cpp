#include "runtime/formula/program.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "dsl/index_bounds.h"
#include "dsl/polynomial.h"

namespace saltern {

using formula::Expression;
using Kind = Expression::Kind;

Lane lane_of(Type type) {
  if (type == Type::f64) return Lane::f64;
  if (is_real(type)) return Lane::f32;
  return type == Type::u64 ? Lane::u64 : Lane::i64;
}

namespace {

// Nothing where the indices are not such sums. The caller has seen that they stay inside the operand. `strides` are
// those of the result, which is dense; `slots` are by a step's id.
std::optional<Walk> walk_of(const Expression::Node &load, const Tensor &operand, const Shape &shape,
                            const Shape &strides, const std::unordered_map<int, int> &slots) {
  Walk walk;
  // Unsigned: what is inside of the operand in the end may wrap round on its way there.
  uint64_t start = 0;
  std::map<int, uint64_t> along_axes, along_steps;  // by number and by id
  for (size_t d = 0; d < load.arguments.size(); ++d) {
    const formula::Polynomial index = formula::Polynomial::of(load.arguments[d]);
    for (const auto &[atoms, factor] : index.terms()) {
      if (atoms.size() > 1 || (atoms.size() == 1 && atoms[0]->kind != Kind::axis && atoms[0]->kind != Kind::step))
        return std::nullopt;
      uint64_t &stride = atoms.empty()                  ? start
                         : atoms[0]->kind == Kind::axis ? along_axes[atoms[0]->number]
                                                        : along_steps[atoms[0]->number];
      stride += static_cast<uint64_t>(factor) * static_cast<uint64_t>(operand.strides()[d]);
    }
  }
  walk.start = static_cast<int64_t>(start);
  for (const auto &[id, stride] : along_steps) walk.steps.push_back({slots.at(id), static_cast<int64_t>(stride)});

  for (int d : memory_order(strides)) {
    if (shape[static_cast<size_t>(d)] == 1) continue;
    const Walk::Dimension next = {shape[static_cast<size_t>(d)], static_cast<int64_t>(along_axes[d])};
    if (!walk.dimensions.empty() && next.stride == walk.dimensions.back().stride * walk.dimensions.back().extent)
      walk.dimensions.back().extent *= next.extent;
    else
      walk.dimensions.push_back(next);
  }
  if (walk.dimensions.empty()) walk.dimensions.push_back({1, 0});
  return walk;
}

class Compiler {
 public:
  Compiler(const std::vector<Tensor> &operands, const Shape &shape, const Shape &strides)
      : operands_(operands), shape_(shape), strides_(strides), bounds_(shape) {
    program_.scopes.resize(2);
    open_.push_back({FormulaProgram::of_element, {the_element}});
  }

  FormulaProgram compile(const Expression &e) {
    program_.result = emit(e);
    return std::move(program_);
  }

  FormulaProgram compile_scan(const Expression &e, const Expression &before, const Expression &step) {
    FormulaProgram::Scan scan = {step->integer, static_cast<int>(program_.scopes.size()), program_.slots++, 0,
                                 emit(before)};
    program_.scopes.emplace_back();
    scan_step_ = step->number;
    slots_[step->number] = scan.slot;
    open_.push_back({scan.scope, {scan_step_}});
    program_.result = emit(e);
    scan.carried = program_.registers++;
    formula::for_each_node(e, [&](const Expression::Node &n) {
      if (n.kind == Kind::carried) scan.carried = registers_.at(&n);
    });
    program_.scan = scan;
    return std::move(program_);
  }

 private:
  static constexpr int the_element = -1;  // beside the ids of steps, which are not negative

  struct Scope {
    int number;
    std::set<int> steps;
  };

  int scope_for(const Expression &e) {
    const std::set<int> &wanted = needs_.of(e);
    for (auto s = open_.rbegin(); s != open_.rend(); ++s)
      for (int id : wanted)
        if (s->steps.count(id)) return s->number;
    return FormulaProgram::once;
  }

  int emit(const Expression &e) {
    const auto known = registers_.find(e.get());
    if (known != registers_.end()) return known->second;
    Instruction i{e.get(), 0, {}, {}};
    if (e->kind == Kind::reduce) {
      i.scope = static_cast<int>(program_.scopes.size());
      program_.scopes.emplace_back();
      Scope scope{i.scope, {}};
      for (const formula::ReductionStep &s : e->steps) {
        scope.steps.insert(s.id);
        i.slots.push_back(slots_[s.id] = program_.slots++);
      }
      open_.push_back(std::move(scope));
      i.arguments.push_back(emit(e->arguments[0]));
      open_.pop_back();
    } else {
      if (e->kind == Kind::load) look_at_indices(i);
      if (!i.walk)
        for (const Expression &a : e->arguments) i.arguments.push_back(emit(a));
    }
    if (e->kind == Kind::step) i.slots.push_back(slots_.at(e->number));
    i.result = program_.registers++;
    program_.scopes[static_cast<size_t>(scope_for(e))].push_back(i);
    return registers_[e.get()] = i.result;
  }

  void look_at_indices(Instruction &i) {
    const Tensor &x = operands_.at(static_cast<size_t>(i.node->number));
    i.empty = x.size() == 0;
    bool inside = true;
    for (size_t d = 0; d < i.node->arguments.size(); ++d) {
      const formula::Interval b = bounds_.of(i.node->arguments[d]);
      i.in_bounds.push_back(b.least >= 0 && b.greatest < x.shape()[d]);
      inside &= i.in_bounds.back();
    }
    if (inside) i.walk = walk_of(*i.node, x, shape_, strides_, slots_);
  }

  const std::vector<Tensor> &operands_;
  const Shape &shape_, &strides_;
  formula::IndexBounds bounds_;
  FormulaProgram program_;
  int scan_step_ = the_element;  // the id of a scan's
  std::vector<Scope> open_;
  std::unordered_map<const Expression::Node *, int> registers_;
  std::unordered_map<int, int> slots_;  // by a step's id
  // The steps that a value depends on, and whether it does on the result's element.
  formula::StepsRead needs_{[this](const Expression::Node &n) {
    return n.kind == Kind::axis ? the_element : n.kind == Kind::carried ? scan_step_ : formula::StepsRead::nothing;
  }};
};

}  // namespace

void check(const Expression &element, const std::vector<Tensor> &operands, const Shape &shape, bool is_scan) {
  formula::for_each_node(element, [&](const Expression::Node &n) {
    if (n.kind == Kind::carried && !(is_scan && n.type == element.type()))
      fail("a formula of ", facts(element.type()).name, " carries ", facts(n.type).name,
           is_scan ? "" : " and is no scan");
    if (n.kind == Kind::axis && (n.number < 0 || n.number >= static_cast<int>(shape.size())))
      fail("a formula for ", to_string(shape), " reads axis ", n.number);
    if (n.kind != Kind::load) return;
    if (n.number < 0 || n.number >= static_cast<int>(operands.size()))
      fail("a formula reads operand ", n.number, " of ", operands.size());
    const Tensor &x = operands[static_cast<size_t>(n.number)];
    if (x.type() != n.type || x.shape().size() != n.arguments.size())
      fail("a formula reads operand ", n.number, ", ", facts(x.type()).name, " ", to_string(x.shape()), ", as ",
           facts(n.type).name, " of rank ", n.arguments.size());
  });
}

FormulaProgram compile(const Expression &element, const std::vector<Tensor> &operands, const Shape &shape,
                       const Shape &strides) {
  return Compiler(operands, shape, strides).compile(element);
}

FormulaProgram compile_scan(const Expression &element, const Expression &before, const Expression &step,
                            const std::vector<Tensor> &operands, const Shape &shape, const Shape &strides) {
  return Compiler(operands, shape, strides).compile_scan(element, before, step);
}

}  // namespace saltern
