#pragma once
// The functions of formulas (dsl/expression.h) as Halide code, element by element.

#include <Halide.h>

#include "dsl/expression.h"

namespace saltern::generators {

// How elements of a type are stored, and what they are computed in.
Halide::Type storage_type(Type type);
Halide::Type compute_type(Type type);

// Of operands of `type`, in its compute type.
Halide::Expr call_code(formula::Function f, Type type, const Halide::Expr &a);
Halide::Expr call_code(formula::Function f, Type type, const Halide::Expr &a, const Halide::Expr &b);
// The same so that LLVM assumes nothing of NaN and infinity; undefined where nothing is strict about it.
Halide::Expr strict_call(formula::Function f, const Halide::Expr &a, const Halide::Expr &b);

// A value in the compute type of `from`, in that of `to`.
Halide::Expr cast_code(Type from, Type to, const Halide::Expr &a);

// A reduction whose result is one of its elements, or the place of one.
bool finds_the_best(formula::Function reduction);

// Whether a formula asks for what LLVM may otherwise take for impossible, NaN and infinity: in its own words, or in those
// of a function (schedules/forms/elementary.h) or of a conversion.
bool minds_what_is_no_number(const formula::Expression &element);

}  // namespace saltern::generators
