#include "runtime/formula/computation.h"

#include <algorithm>
#include <atomic>

#include "runtime/formula/evaluate_values.h"
#include "runtime/formula/in_parts.h"
#include "runtime/formula/library_products.h"
#include "runtime/formula/library_rows.h"

namespace saltern {

using formula::ExactFormula;
using formula::Expression;

namespace {

std::atomic<int64_t> by_library{0}, by_kernel{0}, by_interpreter{0};

// Roughly what the interpreter does: nodes of the expression, as often as they are visited.
double steps_of(const ExactFormula &f) {
  if (f.is_recurrent()) return 0;  // a turn's are counted where it is computed
  double nodes = 0, turns = 1;
  formula::for_each_node(f.element, [&](const Expression::Node &n) {
    nodes += 1;
    double of_this = 1;
    for (const formula::ReductionStep &s : n.steps) of_this *= static_cast<double>(s.extent);
    turns = std::max(turns, of_this);
  });
  return nodes * turns * static_cast<double>(elements(f.is_scatter() ? f.space : f.shape));
}

// What the interpreter need not do.
std::optional<Tensor> by_library_code(const ExactFormula &f, const std::vector<Tensor> &operands) {
  if (std::optional<Tensor> y = library_product(f, operands)) return y;
  return library_rows(f, operands);
}

}  // namespace

Computation::Computation(formula::ExactFormulas formulas, Runs runs, AskAnySize any_size, double times)
    : formulas_(std::move(formulas)),
      runs_(runs),
      library_(LibraryFunction::find(formulas_)),
      ask_(std::move(any_size)) {
  for (const ExactFormula &f : formulas_.stages) {
    steps_ += times * steps_of(f);
    is_recurrent_ |= f.is_recurrent();
  }
}

Computation::~Computation() = default;

std::vector<Tensor> Computation::operator()(const std::vector<Tensor> &operands) const {
  if (std::any_of(operands.begin(), operands.end(), [](const Tensor &t) { return t.is_outline(); }))
    return evaluate(formulas_, operands);
  if (is_recurrent_) {
    std::call_once(divided_, [&] { parts_ = std::make_unique<const InParts>(formulas_, operands.size(), runs_); });
    return (*parts_)(operands);
  }
  if (library_ && library_->takes(operands)) {
    ++by_library;
    return {(*library_)(operands)};
  }
  if (is_worth_a_kernel(steps_, runs_)) {
    std::call_once(asked_, [&] {
      if (ask_) any_size_ = ask_(formulas_);
    });
    if (std::optional<std::vector<Tensor>> results = computed_just_in_time(formulas_, any_size_, operands)) {
      ++by_kernel;
      return std::move(*results);
    }
  }
  ++by_interpreter;
  return evaluate(formulas_, operands, by_library_code);
}

ComputationCounts computation_counts() { return {by_library, by_kernel, by_interpreter}; }

}  // namespace saltern
