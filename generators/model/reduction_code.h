#pragma once
// What a reduction does with its steps, whatever order and parts they come in.

#include <vector>

#include "dsl/expression.h"
#include "dsl/tensor.h"

namespace saltern::generators {

// What a reduction has of some of its steps: their sum, say; or the best of them, and where it is.
using Partial = std::vector<Halide::Expr>;

// Of elements of a type. What is no number is the greatest and the least; of equal ones, the first place or the last
// one is found as the function says.
struct Reduction {
  formula::Function function;
  Type type;

  Partial nothing() const;
  Partial of_one(const Halide::Expr &v, const Halide::Expr &place) const;
  // With one more, whose place is behind all others.
  Partial with_next(const Partial &so_far, const Halide::Expr &v, const Halide::Expr &place) const;
  // Of all that either has.
  Partial joined(const Partial &a, const Partial &b) const;

 private:
  bool finds_a_place() const;
  bool is_first() const;
  bool is_least() const;
  // Than another one, and not as good.
  Halide::Expr is_better(const Halide::Expr &v, const Halide::Expr &than) const;
  // The same of numbers.
  Halide::Expr is_beyond(const Halide::Expr &v, const Halide::Expr &other) const;
};

// A function of partial results: its next definition, and its value.
void define_partial(Halide::Func &f, const std::vector<Halide::Expr> &at, const Partial &p);
Partial partial_at(const Halide::Func &f, const std::vector<Halide::Expr> &at);

}  // namespace saltern::generators
