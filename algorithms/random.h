#pragma once
// Random numbers by counter: Philox-2x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3).
// A number is a pure function of its key and its counter, so that any element can be drawn in any order, by any thread,
// again in the backward pass, and is the same.

#include <array>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

// 64 random bits, as two words of u32, of a 64-bit counter, low word first, under a 32-bit key.
inline std::array<Expression, 2> philox(std::array<Expression, 2> counter, Expression key) {
  const auto word = [](uint32_t v) { return constant_integer(Type::u32, v); };
  const auto differ = [](const Expression &a, const Expression &b) { return call(Function::differ, a, b); };
  for (int round = 0; round < 10; ++round) {
    const Expression product = cast(Type::u64, counter[0]) * constant_integer(Type::u64, 0xD256D193u);
    const Expression high = cast(Type::u32, call(Function::shift_right, product, constant_integer(Type::u64, 32)));
    counter = {differ(differ(high, key), counter[1]), cast(Type::u32, product)};
    key = key + word(0x9E3779B9u);
  }
  return counter;
}

inline Expression shifted(const Expression &word, int by) {
  return call(Function::shift_right, word, constant_integer(word.type(), by));
}

// A number of 24 random bits in [0, 1), as f32: the same one whatever the type of what it decides on. Words are u32.
inline Expression uniform(const Expression &seed, const Expression &counter) {
  const Expression bits = philox({counter, constant_integer(Type::u32, 0)}, seed)[0];
  return cast(Type::f32, cast(Type::i32, shifted(bits, 8))) * 0x1p-24;
}

// The same for an i64, with as many bits as the type holds: 53 as f64.
inline Expression uniform(Type type, uint32_t seed, const Expression &number) {
  const Expression counter = cast(Type::u64, number);
  const std::array<Expression, 2> words =
      philox({cast(Type::u32, counter), cast(Type::u32, shifted(counter, 32))}, constant_integer(Type::u32, seed));
  const auto top = [&](size_t word, int bits) { return cast(type, cast(Type::i64, shifted(words[word], 32 - bits))); };
  return type == Type::f64 ? (top(0, 27) * 0x1p26 + top(1, 26)) * 0x1p-53 : top(0, 24) * 0x1p-24;
}

// Of mean 0 and variance 1 (Box and Muller).
inline Expression normal(Type type, uint32_t seed, const Expression &number) {
  const Expression radius = sqrt(log(1.0 - uniform(type, seed, number * 2)) * -2.0);
  return radius * call(Function::cosine, uniform(type, seed, number * 2 + 1) * 6.28318530717958647692);
}

// A stream of random numbers as state, random(2): its seed, and how many were drawn. Where `count` more are: the stream that
// they are from, and what is left for the next ones. The counter has 31 bits; a stream that has run through them goes on
// under another seed.
struct Drawn {
  Value from, next;
};

inline Drawn drawn(const Value &random, const Expression &count) {
  const auto whole = [](int64_t v) { return constant_integer(Type::i64, v); };
  const Expression many = cast(Type::i64, count);
  const Value from = compute("from", {2}, [&](Expression i) {
    const Expression seed = cast(Type::u32, random(0)), is_left = random(1) + many <= whole(INT32_MAX);
    const Expression another = cast(Type::i64, shifted(philox({seed, constant_integer(Type::u32, 1)}, seed)[0], 1));
    return select(is_left, random(i), select(i == 0, another, whole(0)));
  });
  return {from, compute("next", {2}, [&](Expression i) { return from(i) + select(i == 0, whole(0), many); })};
}

// Dropout: elements are left out with a probability, and the others made larger so that the mean stays.
//
//   y(i) = keep(i) ? x(i) / (1 - probability) : 0,   keep(i) = uniform(seed, offset + i) >= probability
//
// Elements are numbered as they lie in memory with channels, x(n, c, ...), innermost. dx(i) is dropout of dy(i) with the
// same seed, offset and probability: the mask is drawn again, never stored. The counter is unsigned, since it may run over
// the largest integer and on.
inline Value dropout(const Value &x, const Expression &seed, const Expression &offset, const Value &probability) {
  return compute("dropout", x.extents(), [&](const Axes &at) {
    Expression number = 0;
    for (int d = 0; d < x.rank(); ++d)
      if (d != 1 || x.rank() < 3) number = number * x.extent(d) + at[static_cast<size_t>(d)];
    if (x.rank() >= 3) number = number * x.extent(1) + at[1];
    const Expression p = probability.at({}), one = constant(x.type(), 1), zero = constant(x.type(), 0);
    const Expression keep = uniform(cast(Type::u32, seed), cast(Type::u32, offset) + cast(Type::u32, number)) >= p;
    return select(keep, x.at(at) * (one / (one - cast(x.type(), p))), zero);
  });
}

}  // namespace saltern::algorithms
