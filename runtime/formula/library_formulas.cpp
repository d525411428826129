#include "runtime/formula/library_formulas.h"

#include <algorithm>

#include "algorithms/elementwise.h"
#include "dsl/derivative.h"
#include "runtime/kernels/kernels.h"
#include "runtime/tensor/strided.h"

namespace saltern {

using formula::ExactFormulas;
using formula::Expression;
using formula::Value;
using formula::Values;
using Kind = Expression::Kind;

// An element of what is read, each in place of all its indices.
struct LibraryFunction::Pattern {
  Expression element;
  std::vector<Read> reads;
};

struct LibraryFunction::Row {
  std::string kernel;
  bool broadcasts;
  Expression element;
  std::vector<size_t> inputs;  // of the kernel: which of the reads
};

std::optional<LibraryFunction::Pattern> LibraryFunction::pattern_of(const ExactFormulas &formulas) {
  if (formulas.stages.size() != 1 || formulas.outputs.size() != 1) return std::nullopt;
  const formula::ExactFormula &f = formulas.stages[0];
  if (f.type != Type::f32 || f.is_scatter() || f.is_scan() || !f.element.defined()) return std::nullopt;
  const auto rank = static_cast<int>(f.shape.size());
  Pattern p;
  std::vector<Expression> loads;
  bool fits = true;
  p.element = formula::replaced(f.element, [&](const Expression &leaf) -> Expression {
    if (leaf->kind != Kind::load) return {};
    const auto known = std::find_if(loads.begin(), loads.end(), [&](const Expression &l) { return is_same(l, leaf); });
    const Expression read = formula::load(static_cast<int>(known - loads.begin()), leaf.type(), {formula::axis(0)});
    if (known != loads.end()) return read;
    loads.push_back(leaf);
    Read r = {static_cast<size_t>(f.operands.at(static_cast<size_t>(leaf->number))), {}};
    const int first = rank - static_cast<int>(leaf->arguments.size());
    for (size_t d = 0; d < leaf->arguments.size(); ++d) {
      const Expression &i = leaf->arguments[d];
      r.along.push_back(i->kind == Kind::axis);
      fits &= first >= 0 && (i->kind == Kind::axis ? i->number == first + static_cast<int>(d) : is_number(i, 0));
    }
    fits &= leaf.type() == Type::f32;
    p.reads.push_back(std::move(r));
    return read;
  });
  if (!fits) return std::nullopt;
  return p;
}

const std::vector<LibraryFunction::Row> &LibraryFunction::rows() {
  static const auto *all = [] {
    auto *made = new std::vector<Row>;
    const auto add = [&](const std::string &kernel, bool broadcasts, const Values &inputs, const Value &y) {
      const std::optional<Pattern> p = pattern_of(exact_formulas(inputs, {y}));
      if (!p || !find_compiled_kernel(kernel)) return;
      std::vector<size_t> order;
      for (size_t i = 0; i < inputs.size(); ++i)
        for (size_t r = 0; r < p->reads.size(); ++r)
          if (p->reads[r].operand == i) order.push_back(r);
      if (order.size() == inputs.size()) made->push_back({kernel, broadcasts, p->element, order});
    };
    const Value a = formula::input("a", {2}), b = formula::input("b", {2}), dy = formula::input("dy", {2});
    // First: the gradient of log is a quotient, too, and its kernel does not broadcast.
    for (const algorithms::BinaryRow &f : algorithms::binary_rows()) add(f.name, true, {a, b}, f.of(a, b));
    for (const algorithms::UnaryRow &f : algorithms::unary_rows()) {
      add(f.name, false, {a}, f.of(a));
      add(f.name + "_gradient", false, {a, dy}, formula::gradient({f.of(a)}, {dy}, {a})[0]);
    }
    return made;
  }();
  return *all;
}

std::optional<LibraryFunction> LibraryFunction::find(const ExactFormulas &formulas) {
  const std::optional<Pattern> p = pattern_of(formulas);
  if (!p) return std::nullopt;
  for (const Row &r : rows()) {
    if (!is_same(r.element, p->element) || r.inputs.size() != p->reads.size()) continue;
    LibraryFunction f;
    f.kernel_ = r.kernel;
    f.broadcasts_ = r.broadcasts;
    f.shape_ = formulas.stages[0].shape;
    for (size_t i : r.inputs) f.inputs_.push_back(p->reads[i]);
    return f;
  }
  return std::nullopt;
}

bool LibraryFunction::takes(const std::vector<Tensor> &operands) const {
  if (elements(shape_) == 0) return false;  // kernels are for tensors that have elements
  return std::all_of(inputs_.begin(), inputs_.end(), [&](const Read &r) {
    if (r.operand >= operands.size()) return false;
    const Shape &shape = operands[r.operand].shape();
    if (operands[r.operand].type() != Type::f32 || shape.size() != r.along.size()) return false;
    if (!broadcasts_) return shape == shape_;
    const size_t first = shape_.size() - shape.size();
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != (r.along[d] ? shape_[first + d] : 1)) return false;
    return true;
  });
}

Tensor LibraryFunction::operator()(const std::vector<Tensor> &operands) const {
  std::vector<Tensor> in;
  for (const Read &r : inputs_) in.push_back(operands.at(r.operand));
  return broadcasts_ ? called_strided(kernel_, in, shape_) : called_flat(kernel_, in);
}

}  // namespace saltern
