#include "dsl/exact_formulas.h"

#include <algorithm>
#include <stdexcept>

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

class Writer {
 public:
  Writer(const Values &inputs, const Numbers &numbers) : numbers_(numbers) {
    for (const Value &v : inputs) number_.emplace(v.get(), static_cast<int>(number_.size()));
    count_ = static_cast<int>(inputs.size());
  }

  void add(const Stage &s) {
    if (s.is_input()) {
      if (number_.count(&s) == 0) throw std::invalid_argument("'" + s.name + "' is read and not given");
      return;
    }
    number_[&s] = count_ + static_cast<int>(result.stages.size());
    ExactFormula f;
    f.name = s.name;
    f.type = s.type;
    for (size_t d = 0; d < s.extents.size(); ++d) {
      const int64_t extent = number_of(s.extents[d], numbers_);
      if (extent < 0) throw std::invalid_argument("'" + s.name + "' has the extent " + std::to_string(extent));
      if (static_cast<int>(d) < s.rank) f.shape.push_back(extent);
      f.space.push_back(extent);
    }
    if (s.is_scatter())
      write_scatter(s, f);
    else
      f.element = numbered(reduction_of(s, f), f);
    if (!s.is_scatter()) f.space.clear();
    result.stages.push_back(std::move(f));
  }

  int number(const Stage *s) const { return number_.at(s); }

  ExactFormulas result;

 private:
  Expression reduction_of(const Stage &s, const ExactFormula &f) {
    const Expression element = with_numbers(s.element, numbers_);
    if (!s.reduction) return element;
    const std::vector<int64_t> steps(f.space.begin() + s.rank, f.space.end());
    return reduce(*s.reduction, steps, [&](const std::vector<Expression> &at) {
      std::vector<Expression> by;
      for (int d = 0; d < s.rank; ++d) by.push_back(axis(d));
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

  Expression numbered(const Expression &e, ExactFormula &f) {
    return transformed(e, [&](const Expression &at) -> Expression {
      if (at->kind != Kind::load) return {};
      const int operand = number_.at(at->stage.get());
      auto known = std::find(f.operands.begin(), f.operands.end(), operand);
      if (known == f.operands.end()) known = f.operands.insert(known, operand);
      return load(static_cast<int>(known - f.operands.begin()), at.type(), at->arguments);
    });
  }

  const Numbers &numbers_;
  std::map<const Stage *, int> number_;
  int count_ = 0;
};

}  // namespace

int64_t number_of(const Expression &e, const Numbers &numbers) {
  const Expression n = with_numbers(e, numbers);
  if (n->kind != Kind::constant) throw std::invalid_argument("an extent is no number: " + to_string(e));
  return n->integer;
}

ExactFormulas exact_formulas(const Values &inputs, const Values &outputs, const Numbers &numbers) {
  Writer writer(inputs, numbers);
  for (const auto &s : stages_of(outputs)) writer.add(*s);
  for (const Value &v : outputs) writer.result.outputs.push_back(writer.number(v.get()));
  return std::move(writer.result);
}

}  // namespace saltern::formula
