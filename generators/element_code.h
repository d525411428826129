#pragma once
// One element of a formula (dsl/expression.h) as Halide code: everything but what it loads and reduces, which is for
// those who know where elements come from.

#include <Halide.h>

#include <map>
#include <unordered_map>
#include <vector>

#include "dsl/expression.h"
#include "generators/formula_functions.h"

namespace saltern::generators {

// An element as it lies in memory, in the type that it is computed in; and the other way round.
Halide::Expr from_storage(Type type, const Halide::Expr &stored);
Halide::Expr to_storage(Type type, const Halide::Expr &value);

class ElementCode {
 public:
  // What axes and steps are here, and what was written already.
  struct Scope {
    std::vector<Halide::Expr> axes;
    std::map<int, Halide::Expr> steps;  // by id
    std::unordered_map<const formula::Expression::Node *, Halide::Expr> values, indices;
  };

  // `strict`: NaN and infinity are minded (minds_what_is_no_number()). Indices are compared in 32 bits where that is
  // `narrow`: Halide concludes from it which elements are needed. That breaks a register tile, which is needed whole.
  ElementCode(bool strict, bool narrow) : strict_(strict), narrow_(narrow) {}
  virtual ~ElementCode() = default;

  // In the compute type.
  Halide::Expr value(const formula::Expression &e, Scope &scope);
  // In 32 bits.
  Halide::Expr index(const formula::Expression &e, Scope &scope);

 protected:
  virtual Halide::Expr load(const formula::Expression &e, Scope &scope) = 0;
  virtual Halide::Expr reduction(const formula::Expression &e, Scope &scope) = 0;
  virtual Halide::Expr symbol(const formula::Expression &e) = 0;
  virtual Halide::Expr carried() = 0;
  // Of an index.
  virtual formula::Interval bounds(const formula::Expression &e) = 0;

 private:
  Halide::Expr new_value(const formula::Expression &e, Scope &scope);
  Halide::Expr new_index(const formula::Expression &e, Scope &scope);
  Halide::Expr call(const formula::Expression &e, Scope &scope);
  Halide::Expr index_call(const formula::Expression &e, Scope &scope);
  bool is_narrow(const formula::Expression &e);

  const bool strict_, narrow_;
};

}  // namespace saltern::generators
