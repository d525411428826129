#pragma once
// What is known of indices: their simple form, and what holds for all elements of a result.

#include "dsl/polynomial.h"

namespace saltern::formula {

inline bool is_call(const Expression &e, Function f) { return e->kind == Expression::Kind::call && e->function == f; }

// What a function of two i64 is; undefined where nothing is simpler than the call itself.
Expression simple_call(Function f, const Expression &a, const Expression &b);

// Whether e is at least 0 for all axes i in [0, extents[i]) and all sizes; false where that cannot be told.
bool never_negative(const Polynomial &e, const std::vector<Expression> &extents);
bool always_inside(const Expression &index, const Expression &extent, const std::vector<Expression> &extents);
// e where `condition` holds: each of its parts reads as true.
Expression assuming(const Expression &condition, const Expression &e);
// The conditions that all have to hold.
std::vector<Expression> parts_of(const Expression &condition);
// The same value, with conditions, quotients and moduli decided where the extents of the axes decide them.
Expression simplified(const Expression &e, const std::vector<Expression> &extents);

}  // namespace saltern::formula
