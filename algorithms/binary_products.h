#pragma once
// Products of signs, +-1, by bits: a word holds 32 signs, 1 for +1, and n signs by n others are n - 2 (bits that differ).
//
//   packed signs      p(..., k) = sum over i < 32 of (x(..., 32 k + i) >= 0) 2^i, of u32; no bits behind the last element
//   binary_dense      x(n, i), w(o, i) -> y(n, o) = sum over i of sign(x) sign(w)
//   binary_conv2d     x(n, c, h, w), w(o, c, kh, kw); what is outside of the image counts as 0
//
// 0 is +1. Results are whole numbers, exact in f32 up to 2^24 signs. The gradient is that of the products of signs, in
// which a sign has the slope of x where |x| <= 1, and none else: straight through.

#include "algorithms/sliding.h"

namespace saltern::algorithms {

// +-1, with the gradient of what is between -1 and 1.
inline Value straight_sign(const Value &x) {
  const Value near = max(min(x, 1), -1);
  return stop_gradient(where(x < 0, constant_value(x.type(), -1), 1) - near) + near;
}

inline Expression word(uint32_t bits) { return constant_integer(Type::u32, bits); }

// How many bits of a u32 are 1: sums of pairs, of fours, of bytes.
inline Expression count_of_bits(const Expression &bits) {
  const auto and_of = [](const Expression &a, uint32_t b) { return call(Function::both, a, word(b)); };
  const auto right = [](const Expression &a, int by) {
    return call(Function::shift_right, a, word(static_cast<uint32_t>(by)));
  };
  const Expression pairs = bits - and_of(right(bits, 1), 0x55555555u);
  const Expression fours = and_of(pairs, 0x33333333u) + and_of(right(pairs, 2), 0x33333333u);
  return right(and_of(fours + right(fours, 4), 0x0f0f0f0fu) * word(0x01010101u), 24);
}

// Signs along one axis as words.
inline Value packed_signs(const Value &x, int axis) {
  const auto d = static_cast<size_t>(axis);
  std::vector<Expression> extents = x.extents();
  extents[d] = quotient(extents[d] + 31, 32);
  return compute("signs", extents, [&](const Axes &at) {
    return sum({32}, [&](Expression i) {
      Axes from = at;
      from[d] = at[d] * 32 + i;
      const Expression is_there = from[d] < x.extent(axis);
      from[d] = min(from[d], x.extent(axis) - 1);
      const Expression bit = call(Function::shift_left, word(1), cast(Type::u32, i));
      return select(is_there && !(x.at(from) < 0.0), bit, word(0));
    });
  });
}

inline Expression differing(const Expression &a, const Expression &b) {
  return cast(Type::i64, count_of_bits(call(Function::differ, a, b)));
}

inline Value binary_dense(const Value &x, const Value &w) {
  const Value p = packed_signs(x, 1), q = packed_signs(w, 1);
  return compute("binary_dense", {x.extent(0), w.extent(0)}, [&](Expression n, Expression o) {
    const Expression differ = sum({p.extent(1)}, [&](Expression k) { return differing(p(n, k), q(o, k)); });
    return cast(x.type(), x.extent(1) - differ * 2);
  });
}

inline Value binary_conv2d(const Value &x, const Value &w, const Slides &s) {
  const Value p = packed_signs(x, 1), q = packed_signs(w, 1);
  const std::vector<Expression> window = {w.extent(2), w.extent(3)};
  return compute("binary_conv2d", windows(x, w.extent(0), window, s), [&](const Axes &at) {
    const Expression total =
        sum({p.extent(1), w.extent(2), w.extent(3)}, [&](Expression k, Expression i, Expression j) {
          const Expression y = source(at[2], i, s[0]), z = source(at[3], j, s[1]);
          const Expression inside = 0 <= y && y < x.extent(2) && 0 <= z && z < x.extent(3);
          const Expression signs = min(x.extent(1) - k * 32, 32);
          return select(inside, signs - differing(p(at[0], k, y, z), q(at[1], k, i, j)) * 2, Expression(0));
        });
    return cast(x.type(), total);
  });
}

}  // namespace saltern::algorithms
