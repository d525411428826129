#pragma once
// Formulas that are a function with a library kernel (algorithms/elementwise.h), whatever they are called and however
// many dimensions they have: expressions are interned, so that a formula that says the same is the same.

#include <optional>
#include <string>

#include "dsl/exact_formulas.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

class LibraryFunction {
 public:
  // Nothing where the formulas are no such function of f32.
  static std::optional<LibraryFunction> find(const formula::ExactFormulas &formulas);

  // Whether operands are read whole, or broadcast as kernels do it.
  bool takes(const std::vector<Tensor> &operands) const;
  Tensor operator()(const std::vector<Tensor> &operands) const;

 private:
  // What is read at the result's place: an operand, whose dimensions are its last ones, or 1 where they are not along an
  // axis.
  struct Read {
    size_t operand;
    std::vector<bool> along;
  };
  struct Pattern;
  struct Row;
  static std::optional<Pattern> pattern_of(const formula::ExactFormulas &formulas);
  static const std::vector<Row> &rows();

  std::string kernel_;
  bool broadcasts_ = false;
  Shape shape_;
  std::vector<Read> inputs_;  // of the kernel, in its order
};

}  // namespace saltern
