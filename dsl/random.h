#pragma once
// Random numbers by counter: Philox-2x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3).
// A number is a pure function of its key and its counter, so that any element can be drawn in any order, by any thread,
// again in the backward pass, and is the same.

#include <Halide.h>

#include <array>

namespace saltern::dsl {

// 64 random bits of a 64-bit counter, low word first, under a 32-bit key.
inline std::array<Halide::Expr, 2> philox(std::array<Halide::Expr, 2> counter, Halide::Expr key) {
  const Halide::Type word = Halide::UInt(32), wide = Halide::UInt(64);
  for (int round = 0; round < 10; ++round) {
    const Halide::Expr product = Halide::cast(wide, counter[0]) * Halide::cast(wide, Halide::Expr(0xD256D193u));
    counter = {Halide::cast(word, product >> 32) ^ key ^ counter[1], Halide::cast(word, product)};
    key = key + Halide::Expr(0x9E3779B9u);
  }
  return counter;
}

// A number of 24 random bits in [0, 1), as f32: the same one whatever the type of what it decides on.
inline Halide::Expr uniform(const Halide::Expr &seed, const Halide::Expr &counter) {
  const Halide::Type word = Halide::UInt(32);
  const Halide::Expr bits = philox({Halide::cast(word, counter), Halide::cast(word, 0)}, Halide::cast(word, seed))[0];
  return Halide::cast<float>(Halide::cast<int32_t>(bits >> 8)) * 0x1p-24f;
}

}  // namespace saltern::dsl
