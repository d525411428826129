#pragma once
// Elementary functions that Halide has only as a scalar library call for each lane, or not accurately enough: as
// rational functions in f32, which vectorize. In other types they are the library's.

#include <Halide.h>

#include <initializer_list>

namespace saltern::dsl {

// A number of the same type as x: formulas hold for every element type.
inline Halide::Expr number(const Halide::Expr &x, double value) {
  return Halide::Internal::make_const(x.type(), value);
}

// c0 + c1 x + c2 x^2 + ..., given the last coefficient first.
inline Halide::Expr polynomial(const Halide::Expr &x, std::initializer_list<double> last_first) {
  Halide::Expr sum;
  for (double c : last_first) sum = sum.defined() ? sum * x + number(x, c) : number(x, c);
  return sum;
}

// clamp() that lets NaN through.
inline Halide::Expr limited(const Halide::Expr &x, double low, double high) {
  return Halide::select(x<number(x, low), number(x, low), x> number(x, high), number(x, high), x);
}

// Relative error below 4e-7 everywhere (the [13/6] minimax approximation of Eigen and XLA).
inline Halide::Expr tanh(const Halide::Expr &v) {
  if (v.type() != Halide::Float(32)) return Halide::tanh(v);
  const Halide::Expr x = limited(v, -7.90531110763549805, 7.90531110763549805), s = x * x;
  const Halide::Expr odd =
      polynomial(s, {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
                     1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03});
  const Halide::Expr even =
      polynomial(s, {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03});
  return x * odd / even;
}

// Relative error below 4e-7 everywhere (the [13/8] minimax approximation of Eigen and XLA).
inline Halide::Expr erf(const Halide::Expr &v) {
  if (v.type() != Halide::Float(32))
    return Halide::Internal::Call::make(v.type(), "erf", {v}, Halide::Internal::Call::PureExtern);
  const Halide::Expr x = limited(v, -4, 4), s = x * x;
  const Halide::Expr odd =
      polynomial(s, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
                     -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02});
  const Halide::Expr even = polynomial(s, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                                           -7.37332916720468e-03, -1.42647390514189e-02});
  return x * odd / even;
}

}  // namespace saltern::dsl
