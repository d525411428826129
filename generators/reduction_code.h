#pragma once
// What a reduction does with its steps, whatever order and parts they come in.

#include <functional>
#include <vector>

#include "dsl/value.h"
#include "schedules/forms/tensor.h"
#include "schedules/machine.h"

namespace saltern::generators {

// What a reduction has of some of its steps: their sum, say; or the best of them, and where it is.
using Partial = std::vector<Halide::Expr>;

// Of elements of a type. What is no number is the greatest and the least, or is passed over; of equal ones, the first
// place or the last one is found as the function says.
struct Reduction {
  formula::Function function;
  Type type;
  bool of_numbers = false;  // passed over; not where the last place is asked for

  Partial nothing() const;
  Partial of_one(const Halide::Expr &v, const Halide::Expr &place) const;
  // With one more, whose place is behind all others.
  Partial with_next(const Partial &so_far, const Halide::Expr &v, const Halide::Expr &place) const;
  // Of all that either has.
  Partial joined(const Partial &a, const Partial &b) const;
  bool finds_a_place() const;

 private:
  bool is_first() const;
  bool is_least() const;
  // Than another one, and not as good.
  Halide::Expr is_better(const Halide::Expr &v, const Halide::Expr &than) const;
  // The same of numbers.
  Halide::Expr is_beyond(const Halide::Expr &v, const Halide::Expr &other) const;
};

// A reduction whose vectors run along one of its steps: `vectors` partial results of `lanes` elements each, which are
// powers of two.
struct RowSplit {
  int step = -1;  // its number; -1: vectors do not run along steps
  int lanes = 1, vectors = 1;
};

// How a stage's reduction is split on a machine: those of rows are.
RowSplit row_split(const formula::Stage &reduction, const Machine &m);

// One step of a reduction: its element, and its number among all of them.
struct StepElement {
  Halide::Expr value, place;
};

// Reductions along rows: what one lane has of some of the steps. The best of real numbers comes with the greatest bits of
// a magnitude, which tell of NaN at the end: an integer's maximum beside a number's, neither waiting for the other.
class LaneReduction {
 public:
  explicit LaneReduction(const Reduction &by);
  Partial nothing() const;
  // With one more, whose place is behind all others.
  Partial with_next(const Partial &so_far, const StepElement &e) const;
  Partial joined(const Partial &a, const Partial &b) const;
  Partial with_any(const Partial &so_far, const StepElement &e) const { return joined(so_far, of_one(e)); }
  // What the reduction has of all steps.
  Partial finished(const Partial &all) const;

 private:
  Partial of_one(const StepElement &e) const;

  Reduction by_;
  bool has_bits_;
};

// Defines f(arguments) as partial results, one a lane, which are joined by halves; returns what it is made of, in order:
// vectors along the first argument of each, of which later ones have fewer. The step that is split has `extent`, the
// others the region `others`, innermost first; `element` is asked for the step and for theirs, in that order, and may
// read what it needs only where `is_there`, if that is defined.
std::vector<Halide::Func> reduce_by_lanes(
    Halide::Func &f, const Reduction &by, const std::vector<Halide::Var> &arguments, const RowSplit &split,
    const Halide::Expr &extent, const Halide::Region &others,
    const std::function<StepElement(const Halide::Expr &step, const std::vector<Halide::Expr> &others,
                                    const Halide::Expr &is_there)> &element);

// A function of partial results: its next definition, and its value.
void define_partial(Halide::Func &f, const std::vector<Halide::Expr> &at, const Partial &p);
Partial partial_at(const Halide::Func &f, const std::vector<Halide::Expr> &at);

}  // namespace saltern::generators
