#pragma once
// What is not a number, or infinite, told from the bits of an f32 or f64. Halide lets LLVM assume that neither occurs:
// asked of a value that comes from a conversion, its own is_nan() and is_inf() may answer no unseen.

#include <Halide.h>

namespace saltern::generators {

// The magnitude's bits, and those of infinity: what is above is no number.
struct Magnitude {
  Halide::Expr bits, infinity;
};

inline Magnitude magnitude(const Halide::Expr &x) {
  const Halide::Type bits = Halide::UInt(x.type().bits());
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

// LLVM takes this comparison for its own question, too, of a value that comes straight from memory; there Halide's is
// right.
inline Halide::Expr is_infinity(const Halide::Expr &x) {
  const Magnitude m = magnitude(x);
  return Halide::is_inf(x) || m.bits == m.infinity;
}

}  // namespace saltern::generators
