#include "generators/model/reduction_code.h"

#include <cmath>

#include "dsl/float_bits.h"
#include "generators/model/formula_code.h"

namespace saltern::generators {

using dsl::is_no_number;
using dsl::strict;
using formula::Function;
using Halide::Expr;
using Halide::Internal::Call;

bool Reduction::finds_a_place() const { return function >= Function::first_greatest; }

bool Reduction::is_first() const { return function == Function::first_greatest || function == Function::first_least; }

bool Reduction::is_least() const {
  return function == Function::least || function == Function::first_least || function == Function::last_least;
}

Partial Reduction::nothing() const {
  const Halide::Type t = compute_type(type);
  if (function == Function::sum) return {Halide::cast(t, 0)};
  if (function == Function::product) return {Halide::cast(t, 1)};
  const Expr worst = t.is_float() ? Halide::Internal::make_const(t, is_least() ? INFINITY : -INFINITY)
                     : is_least() ? t.max()
                                  : t.min();
  return finds_a_place() ? Partial{worst, 0} : Partial{worst};
}

Partial Reduction::of_one(const Expr &v, const Expr &place) const {
  return finds_a_place() ? Partial{v, place} : Partial{v};
}

Partial Reduction::with_next(const Partial &so_far, const Expr &v, const Expr &place) const {
  if (!finds_a_place()) return joined(so_far, {v});
  const Expr better = is_first() ? is_better(v, so_far[0]) : !is_better(so_far[0], v);
  return {Halide::select(better, v, so_far[0]), Halide::select(better, place, so_far[1])};
}

Partial Reduction::joined(const Partial &a, const Partial &b) const {
  if (function == Function::sum) return {a[0] + b[0]};
  if (function == Function::product) return {a[0] * b[0]};
  if (!finds_a_place()) {
    if (!is_real(type)) return {is_least() ? Halide::min(a[0], b[0]) : Halide::max(a[0], b[0])};
    // The inner choice is one instruction, which takes b where there is no order.
    return {Halide::select(is_no_number(a[0]), a[0], Halide::select(is_beyond(a[0], b[0]), a[0], b[0]))};
  }
  const Expr nearer = is_first() ? b[1] < a[1] : b[1] > a[1];
  const Expr better = is_better(b[0], a[0]) || (nearer && !is_better(a[0], b[0]));
  return {Halide::select(better, b[0], a[0]), Halide::select(better, b[1], a[1])};
}

Expr Reduction::is_better(const Expr &v, const Expr &than) const {
  return is_real(type) ? dsl::comes_first(is_beyond(v, than), v, than) : is_beyond(v, than);
}

Expr Reduction::is_beyond(const Expr &v, const Expr &other) const {
  const Expr &low = is_least() ? v : other, &high = is_least() ? other : v;
  return is_real(type) ? strict(Call::strict_lt, low, high) : low < high;
}

void define_partial(Halide::Func &f, const std::vector<Expr> &at, const Partial &p) {
  if (p.size() == 1)
    f(at) = p[0];
  else
    f(at) = Halide::Tuple(p);
}

Partial partial_at(const Halide::Func &f, const std::vector<Expr> &at) {
  if (f.outputs() == 1) return {f(at)};
  return {f(at)[0], f(at)[1]};
}

}  // namespace saltern::generators
