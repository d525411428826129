#include "runtime/formula/program.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace saltern {

using formula::Expression;
using Kind = Expression::Kind;

Lane lane_of(Type type) {
  if (type == Type::f64) return Lane::f64;
  if (is_real(type)) return Lane::f32;
  return type == Type::u64 ? Lane::u64 : Lane::i64;
}

namespace {

class Compiler {
 public:
  Compiler(const std::vector<Tensor> &operands, const Shape &shape) : operands_(operands), shape_(shape) {
    program_.scopes.emplace_back();
    open_.push_back({0, {}});
  }

  FormulaProgram compile(const Expression &e) {
    program_.result = emit(e);
    return std::move(program_);
  }

 private:
  struct Scope {
    int number;
    std::set<int> steps;
  };

  // The steps that a value depends on.
  const std::set<int> &needs(const Expression &e) {
    const auto known = needs_.find(e.get());
    if (known != needs_.end()) return known->second;
    std::set<int> all;
    if (e->kind == Kind::step) all.insert(e->number);
    for (const Expression &a : e->arguments) {
      const std::set<int> &of = needs(a);
      all.insert(of.begin(), of.end());
    }
    for (const formula::Step &s : e->steps) all.erase(s.id);
    return needs_[e.get()] = std::move(all);
  }

  int scope_for(const Expression &e) {
    const std::set<int> &wanted = needs(e);
    for (auto s = open_.rbegin(); s != open_.rend(); ++s)
      for (int id : wanted)
        if (s->steps.count(id)) return s->number;
    return 0;
  }

  int emit(const Expression &e) {
    const auto known = registers_.find(e.get());
    if (known != registers_.end()) return known->second;
    Instruction i{e.get(), 0, {}, {}};
    if (e->kind == Kind::reduce) {
      i.scope = static_cast<int>(program_.scopes.size());
      program_.scopes.emplace_back();
      Scope scope{i.scope, {}};
      for (const formula::Step &s : e->steps) {
        scope.steps.insert(s.id);
        i.slots.push_back(slots_[s.id] = program_.slots++);
      }
      open_.push_back(std::move(scope));
      i.arguments.push_back(emit(e->arguments[0]));
      open_.pop_back();
    } else {
      i.contiguous = e->kind == Kind::load && is_contiguous(*e.get());
      if (!i.contiguous)
        for (const Expression &a : e->arguments) i.arguments.push_back(emit(a));
    }
    if (e->kind == Kind::load) look_at_bounds(i);
    if (e->kind == Kind::step) i.slots.push_back(slots_.at(e->number));
    i.result = program_.registers++;
    program_.scopes[static_cast<size_t>(scope_for(e))].push_back(i);
    return registers_[e.get()] = i.result;
  }

  void look_at_bounds(Instruction &i) const {
    const Tensor &x = operands_.at(static_cast<size_t>(i.node->number));
    for (size_t d = 0; d < i.node->arguments.size(); ++d) {
      const formula::Interval b = formula::bounds(i.node->arguments[d], shape_);
      i.in_bounds.push_back(b.least >= 0 && b.greatest < x.shape()[d]);
    }
  }

  // Whether the operand lies in memory just as the result does, and is read at the result's place.
  bool is_contiguous(const Expression::Node &load) const {
    const Tensor &x = operands_.at(static_cast<size_t>(load.number));
    const Shape wanted = dense_strides(shape_, Layout::row_major);
    std::vector<bool> read(shape_.size(), false);
    for (size_t d = 0; d < load.arguments.size(); ++d) {
      const Expression::Node &index = *load.arguments[d].get();
      if (x.shape()[d] == 1 && index.kind == Kind::constant && index.integer == 0) continue;
      if (index.kind != Kind::axis || static_cast<size_t>(index.number) >= shape_.size()) return false;
      const auto a = static_cast<size_t>(index.number);
      if (read[a] || x.shape()[d] != shape_[a] || (shape_[a] > 1 && x.strides()[d] != wanted[a])) return false;
      read[a] = true;
    }
    for (size_t a = 0; a < shape_.size(); ++a)
      if (!read[a] && shape_[a] != 1) return false;
    return true;
  }

  const std::vector<Tensor> &operands_;
  const Shape &shape_;
  FormulaProgram program_;
  std::vector<Scope> open_;
  std::unordered_map<const Expression::Node *, int> registers_;
  std::unordered_map<int, int> slots_;  // by a step's id
  std::unordered_map<const Expression::Node *, std::set<int>> needs_;
};

}  // namespace

FormulaProgram compile(const Expression &element, const std::vector<Tensor> &operands, const Shape &shape) {
  formula::for_each_node(element, [&](const Expression::Node &n) {
    if (n.kind == Kind::axis && n.number >= static_cast<int>(shape.size()))
      fail("a formula for ", to_string(shape), " reads axis ", n.number);
    if (n.kind != Kind::load) return;
    if (n.number < 0 || n.number >= static_cast<int>(operands.size()))
      fail("a formula reads operand ", n.number, " of ", operands.size());
    const Tensor &x = operands[static_cast<size_t>(n.number)];
    if (x.type() != n.type || x.shape().size() != n.arguments.size())
      fail("a formula reads operand ", n.number, ", ", facts(x.type()).name, " ", to_string(x.shape()), ", as ",
           facts(n.type).name, " of rank ", n.arguments.size());
  });
  return Compiler(operands, shape).compile(element);
}

}  // namespace saltern
