#include "runtime/formula/evaluate_values.h"

#include <algorithm>
#include <map>

#include "runtime/formula/evaluate.h"
#include "runtime/formula/turns.h"

namespace saltern {

using formula::ExactFormula;
using formula::Expression;

Tensor evaluate(const ExactFormula &f, const std::vector<Tensor> &operands) {
  if (f.is_scan()) return evaluate_scan(f.element, f.before, f.along, operands, f.shape);
  if (!f.is_scatter()) return evaluate(f.element, operands, f.shape, Order::of_operands);
  std::vector<Tensor> indices;
  for (const Expression &t : f.targets) indices.push_back(t.defined() ? evaluate(t, operands, f.space) : Tensor());
  return scatter_sum(evaluate(f.element, operands, f.space), indices, f.shape);
}

namespace {

template <typename T>
void add_at_places(const Tensor &values, const std::vector<Tensor> &indices, const Tensor &to) {
  const Shape &space = values.shape();
  const T *from = values.data<T>();
  T *sums = to.data<T>();
  Shape at(space.size(), 0);
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t d = 0; d < indices.size(); ++d) {
      const int64_t place = indices[d].defined() ? indices[d].data<int64_t>()[i] : at[d];
      inside &= place >= 0 && place < to.shape()[d];
      offset += place * to.strides()[d];
    }
    if (inside) sums[offset] += from[i];
    for (size_t d = space.size(); d-- > 0;) {
      if (++at[d] < space[d]) break;
      at[d] = 0;
    }
  }
}

Tensor converted(const Tensor &t, Type type) {
  const Expression element = formula::load(0, t.type(), formula::axes_between(0, t.rank()));
  return evaluate(cast(type, element), {t}, t.shape());
}

}  // namespace

// One element after the other, in the order of the space: the same bits every time.
Tensor scatter_sum(const Tensor &values, const std::vector<Tensor> &indices, const Shape &shape) {
  const Tensor sums = Tensor::zeros(shape, values.type());
  if (values.type() == Type::f32)
    add_at_places<float>(values, indices, sums);
  else if (values.type() == Type::f64)
    add_at_places<double>(values, indices, sums);
  else  // the small ones, whose sums are rounded once
    return converted(scatter_sum(converted(values, Type::f32), indices, shape), values.type());
  return sums;
}

std::vector<Tensor> evaluate(const formula::ExactFormulas &formulas, const std::vector<Tensor> &operands,
                             const FormulaFunction &otherwise) {
  std::vector<Tensor> all = operands;
  const bool shapes_only = std::any_of(all.begin(), all.end(), [](const Tensor &t) { return t.is_outline(); });
  // What is not read any more is let go.
  std::vector<size_t> readers(operands.size() + formulas.stages.size(), 0);
  for (const ExactFormula &f : formulas.stages)
    for (int o : f.operands) ++readers[static_cast<size_t>(o)];
  for (int o : formulas.outputs) ++readers[static_cast<size_t>(o)];
  std::map<const formula::ExactRecurrence *, std::vector<Tensor>> states;
  for (const ExactFormula &f : formulas.stages) {
    std::vector<Tensor> read;
    for (int o : f.operands) read.push_back(all[static_cast<size_t>(o)]);
    if (shapes_only) {
      all.push_back(Tensor::outline(f.shape, f.type));
    } else if (f.is_recurrent()) {
      std::vector<Tensor> &known = states[f.recurrence.get()];
      if (known.empty())
        known = states_after_turns(*f.recurrence, read, [&](const std::vector<Tensor> &given) {
          return evaluate(f.recurrence->turn, given, otherwise);
        });
      all.push_back(known[static_cast<size_t>(f.state)]);
    } else {
      const std::optional<Tensor> by_other = otherwise ? otherwise(f, read) : std::nullopt;
      all.push_back(by_other ? *by_other : evaluate(f, read));
    }
    for (int o : f.operands)
      if (--readers[static_cast<size_t>(o)] == 0) all[static_cast<size_t>(o)] = {};
  }
  std::vector<Tensor> outputs;
  for (int o : formulas.outputs) outputs.push_back(all[static_cast<size_t>(o)]);
  return outputs;
}

formula::Numbers sizes_of(const formula::Values &inputs, const std::vector<Tensor> &tensors) {
  formula::Numbers sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const formula::Value &v = inputs[i];
    const Tensor &t = tensors.at(i);
    if (t.type() != v.type() || t.rank() != v.rank())
      fail("'", v->name, "' is ", facts(v.type()).name, " of rank ", v.rank(), ", not ", facts(t.type()).name, " ",
           to_string(t.shape()));
    for (int d = 0; d < v.rank(); ++d) {
      const Expression &extent = v.extent(d);
      if (extent->kind == Expression::Kind::symbol) {
        const auto [at, is_new] = sizes.emplace(extent->name, t.extent(d));
        if (!is_new && at->second != static_cast<double>(t.extent(d)))
          fail("'", extent->name, "' is ", at->second, " and ", t.extent(d), " at once");
      } else if (extent->kind == Expression::Kind::constant && extent->integer != t.extent(d)) {
        fail("'", v->name, "' has ", extent->integer, " elements along dimension ", d, ", not ", t.extent(d));
      }
    }
  }
  return sizes;
}

}  // namespace saltern
