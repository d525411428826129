#pragma once
// Elementwise functions of two tensors, with broadcasting, and the operators on Variables.

#include "runtime/layers/reduction.h"

namespace saltern {

Variable add(const Variable &a, const Variable &b);
Variable subtract(const Variable &a, const Variable &b);
Variable multiply(const Variable &a, const Variable &b);
Variable divide(const Variable &a, const Variable &b);
Variable maximum(const Variable &a, const Variable &b);
Variable minimum(const Variable &a, const Variable &b);
// a to the power of b.
Variable power(const Variable &a, const Variable &b);

// A constant of shape [].
Variable scalar(double value, Type type = Type::f32);
// Of the type of what it meets.
inline Variable scalar(double value, const Variable &other) { return scalar(value, other.type()); }

inline Variable operator+(const Variable &a, const Variable &b) { return add(a, b); }
inline Variable operator-(const Variable &a, const Variable &b) { return subtract(a, b); }
inline Variable operator*(const Variable &a, const Variable &b) { return multiply(a, b); }
inline Variable operator/(const Variable &a, const Variable &b) { return divide(a, b); }
inline Variable operator+(const Variable &a, double b) { return add(a, scalar(b, a)); }
inline Variable operator-(const Variable &a, double b) { return subtract(a, scalar(b, a)); }
inline Variable operator*(const Variable &a, double b) { return multiply(a, scalar(b, a)); }
inline Variable operator/(const Variable &a, double b) { return multiply(a, scalar(1 / b, a)); }
inline Variable operator+(double a, const Variable &b) { return add(b, scalar(a, b)); }
inline Variable operator-(double a, const Variable &b) { return subtract(scalar(a, b), b); }
inline Variable operator*(double a, const Variable &b) { return multiply(b, scalar(a, b)); }
inline Variable operator/(double a, const Variable &b) { return divide(scalar(a, b), b); }
inline Variable operator-(const Variable &a) { return multiply(a, scalar(-1, a)); }

// a += b, elementwise, in a's memory.
void add_to(const Tensor &a, const Tensor &b);

}  // namespace saltern
