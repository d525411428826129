// Kernels that are declared by Values: what of Build is about them.

#include <algorithm>
#include <stdexcept>

#include "generators/formula_functions.h"
#include "generators/kernel.h"
#include "schedules/by_structure.h"

namespace saltern::generators {

using formula::Expression;
using formula::Value;

namespace {

bool is_digits(const std::string &s) { return std::isdigit(static_cast<unsigned char>(s.at(0))) != 0; }

}  // namespace

void Build::bind(const Expression &size, const Halide::Expr &value) {
  if (size->kind == Expression::Kind::symbol && sizes_.emplace(size->name, size).second)
    stages_.set_symbol(size->name, value);
}

void Build::declare(const Value &input, Range range, bool any_stride) {
  const forms::Tensor t = buffer(input->name, input.rank(), storage_type(input.type()), range, any_stride);
  for (int d = 0; d < input.rank(); ++d) bind(input.extent(d), t.extent(input.rank() - 1 - d));
  stages_.add_input(input, t.func());
}

formula::Value Build::formula_input(const std::string &name, const std::vector<std::string> &sizes, Type type,
                                    Range range, bool any_stride) {
  std::vector<Expression> extents;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const std::string &size = sizes[d];
    if (const auto known = sizes_.find(size); known != sizes_.end())
      extents.push_back(known->second);
    else if (is_digits(size))
      extents.emplace_back(std::stoi(size));
    else if (exact_ && !sizes_are_open_)
      extents.push_back(sizes_[size] = next_argument(name).extents.at(sizes.size() - 1 - d));
    else
      extents.push_back(formula::size(size));
  }
  const Value v = formula::input(name, extents, type);
  declare(v, range, any_stride);
  return v;
}

void Build::declare_symbols(const formula::Values &results) {
  const auto declare_in = [&](const Expression &e) {
    formula::for_each_node(e, [&](const Expression::Node &n) {
      if (n.kind != Expression::Kind::symbol || sizes_.count(n.name) > 0) return;
      bind(interned(n), is_real(n.type) ? real(n.name) : integer(n.name));
    });
  };
  for (const auto &s : stages_of(results)) {
    for (const Expression &e : s->extents) declare_in(e);
    for (const Expression &e : formula::expressions_of(*s)) declare_in(e);
  }
}

formula::Value Build::input(const std::string &name, const std::vector<std::string> &sizes, Type type, Range range) {
  return formula_input(name, sizes, type, range, false);
}

formula::Value Build::strided_input(const std::string &name, const std::vector<std::string> &sizes, Type type,
                                    Range range) {
  return formula_input(name, sizes, type, range, true);
}

formula::Value Build::parameter(const std::string &name) {
  const Halide::Expr value = real(name);
  if (const auto number = Halide::Internal::as_const_float(value)) return formula::constant_value(Type::f32, *number);
  const Value p = formula::parameter(name);
  bind(p->element, value);
  return p;
}

formula::Expression Build::count(const std::string &name, int64_t least) {
  const Halide::Expr value = integer(name);
  const auto number = Halide::Internal::as_const_int(value);
  if (number && !sizes_are_open_) return static_cast<int64_t>(*number);
  const Expression size = formula::symbol(name, Type::i64, least, static_cast<double>(std::max<int64_t>(least, 1)));
  bind(size, value);
  return size;
}

Halide::Func Build::output(const std::string &name, const Value &y) {
  stages_.add({y});
  output_stages_.push_back(y.shared());
  formulas_.push_back(y);
  const forms::Tensor stored = stages_.stored(y);
  // A scatter adds where its result is to be, which may be large, and what is added little; a scan reads what it wrote.
  const auto is_it = [&](const Halide::Func &f) { return f.name() == stored.func().name(); };
  const bool is_its_own = stored.func().name() == stages_.of(y).func.name() && !epilogue_ &&
                          std::none_of(outputs_.begin(), outputs_.end(), is_it);
  if ((y->is_scatter() || y->is_scan()) && is_its_own) return add_output(stored.func(), {name}, stored);
  return output(name, stored);
}

void Build::separate_outputs(const std::vector<std::string> &names, const formula::Values &results) {
  stages_.add(results);
  for (size_t i = 0; i < results.size(); ++i) output(names.at(i), results[i]);
}

Halide::Func Build::outputs(const std::vector<std::string> &names, const formula::Values &results) {
  stages_.add(results);
  output_stages_.push_back(results.at(0).shared());
  formulas_.insert(formulas_.end(), results.begin(), results.end());
  std::vector<Halide::Expr> components;
  const forms::Tensor first = stages_.stored(results.at(0));
  const std::vector<Halide::Var> at = first.vars();
  for (const Value &v : results) components.push_back(stages_.stored(v)(at));
  Halide::Func all("results");
  all(at) = Halide::Tuple(components);
  return outputs(names, forms::Tensor(all, first.extents()));
}

void Build::by_structure(const Machine &m, const schedules::StructureKnobs &knobs,
                         const std::vector<Halide::Expr> &vectorizable) {
  schedules::FormulaToSchedule f;
  for (const auto &s : stages_.order()) {
    const StageFunction &of = stages_.of(*s);
    f.stages.push_back({s, of.func, of.parts, of.by_column, {}});
    if (const auto c = formula::contraction_of(*s)) f.stages.back().by_row = stages_.of(*c->by_row->stage).func;
  }
  f.outputs = outputs_;
  f.output_stages = output_stages_;
  f.size = [&](const Expression &e) { return stages_.size(e); };
  f.vectorizable = vectorizable;
  Halide::Expr columns;
  for (const auto &s : stages_.order())
    if (const auto c = formula::contraction_of(*s); c && c->column >= 0)
      columns = stages_.size(s->extents[static_cast<size_t>(c->column)]);
  // What multiplies is tuned as a contraction, whatever else it does.
  const bool multiplies = classes().count(formula::Pattern::contraction) > 0;
  const auto of_contractions = [&](const auto &own) { return multiplies ? tuned(own) : own; };
  const auto of_others = [&](const auto &own) { return multiplies ? own : tuned(own); };
  if (m.is_gpu())
    schedules::by_structure_on_gpu(f, of_others(schedules::gpu::ElementKnobs()),
                                   of_contractions(schedules::gpu::ContractionKnobs::fitting()));
  else
    schedules::by_structure(f, m, of_others(knobs), of_contractions(schedules::ContractionKnobs::fitting(m, columns)));
}

}  // namespace saltern::generators
