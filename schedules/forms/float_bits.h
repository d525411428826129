#pragma once
// What is not a number, or infinite, told from the bits of an f32 or f64. Halide lets LLVM assume that neither occurs:
// asked of a value that comes from a conversion, its own is_nan() and is_inf() may answer no unseen.

#include <Halide.h>

namespace saltern::forms {

// An operation of Halide's that takes NaN and infinity for possible. With any other, an address that comes from what is
// compared lets LLVM conclude that nothing was NaN.
inline Halide::Expr strict(Halide::Internal::Call::IntrinsicOp operation, const Halide::Expr &a,
                           const Halide::Expr &b) {
  using Halide::Internal::Call;
  const bool compares = operation == Call::strict_lt || operation == Call::strict_eq;
  return Call::make(compares ? Halide::Bool(a.type().lanes()) : a.type(), operation, {a, b}, Call::PureIntrinsic);
}

inline Halide::Expr strict_less(const Halide::Expr &a, const Halide::Expr &b) {
  return strict(Halide::Internal::Call::strict_lt, a, b);
}

// a < b, which is false of NaN. Strict in f32; of other types Halide derives gradients.
inline Halide::Expr is_less(const Halide::Expr &a, const Halide::Expr &b) {
  return a.type() == Halide::Float(32) ? strict_less(a, b) : a < b;
}

// a - b, which is NaN of equal infinities. Strict in f32; of other types Halide derives gradients.
inline Halide::Expr difference(const Halide::Expr &a, const Halide::Expr &b) {
  return a.type() == Halide::Float(32) ? strict(Halide::Internal::Call::strict_sub, a, b) : a - b;
}

// One instruction, where LLVM cannot know of its own accord that v is a number.
inline Halide::Expr is_no_number(const Halide::Expr &v) { return !strict(Halide::Internal::Call::strict_eq, v, v); }

// Whether v comes before `other`, as `precedes` says of numbers; a NaN comes before all numbers. LLVM joins what is in
// brackets into one comparison.
inline Halide::Expr comes_first(const Halide::Expr &precedes, const Halide::Expr &v, const Halide::Expr &other) {
  return (precedes || is_no_number(v) || is_no_number(other)) && !is_no_number(other);
}

// The magnitude's bits, and those of infinity: what is above is no number. Integers with a sign, which SSE and AVX2
// compare by one instruction.
struct Magnitude {
  Halide::Expr bits, infinity;
};

inline Magnitude magnitude(const Halide::Expr &x) {
  const Halide::Type bits = Halide::Int(x.type().bits());
  const bool wide = x.type().bits() == 64;
  const Halide::Expr all =
      wide ? Halide::Internal::make_const(bits, 0x7FFFFFFFFFFFFFFF) : Halide::Internal::make_const(bits, 0x7FFFFFFF);
  const Halide::Expr infinity =
      wide ? Halide::Internal::make_const(bits, 0x7FF0000000000000) : Halide::Internal::make_const(bits, 0x7F800000);
  return {Halide::reinterpret(bits, x) & all, infinity};
}

inline Halide::Expr is_not_a_number(const Halide::Expr &x) {
  const Magnitude m = magnitude(x);
  return m.bits > m.infinity;
}

inline Halide::Expr is_infinite_in_bits(const Halide::Expr &x) {
  const Magnitude m = magnitude(x);
  return m.bits == m.infinity;
}

// LLVM takes this comparison for its own question, too, of a value that comes straight from memory; there Halide's is
// right.
inline Halide::Expr is_infinity(const Halide::Expr &x) { return Halide::is_inf(x) || is_infinite_in_bits(x); }

}  // namespace saltern::forms
