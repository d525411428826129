#pragma once
// What the evaluator's instructions do with blocks of elements.

#include <cstdint>
#include <vector>

#include "dsl/expression.h"
#include "runtime/formula/program.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// Elements of one lane type each; which one, the instruction knows.
struct Block {
  static constexpr int size = 256;
  alignas(64) uint64_t words[size];

  template <typename T>
  T *as() {
    return reinterpret_cast<T *>(words);
  }
  template <typename T>
  const T *as() const {
    return reinterpret_cast<const T *>(words);
  }
};

void fill(Block &to, const formula::Expression::Node &constant, int count);
void apply(formula::Function f, Type of, Type type, const Block &a, Block &to, int count);
void apply(formula::Function f, Type of, Type type, const Block &a, const Block &b, Block &to, int count);
void choose(const Block &condition, const Block &then, const Block &otherwise, Block &to, Lane lane, int count);
void convert(Type from_type, Type type, const Block &from, Block &to, int count);
void reinterpret(Type from_type, Type type, const Block &from, Block &to, int count);

// The first element again in all places.
void repeat(Block &block, Lane lane);

// From consecutive elements of memory, from those on a walk that begins at `start` for the result's elements from
// `first` on, or from those at offsets.
void load_elements(const Tensor &x, int64_t first, Block &to, int count);
void load_elements(const Tensor &x, const Walk &walk, int64_t start, int64_t first, Block &to, int count);
void load_elements(const Tensor &x, const int64_t *offsets, Block &to, int count);
void store_elements(const Tensor &to, int64_t first, const Block &from, int count);

// Takes the values of a reduction's body, step by step. Sums of f32 are kept in f64.
class Reduction {
 public:
  Reduction(formula::Function f, Type type, int count);
  void add(const Block &value, int64_t step);
  void finish(Block &to) const;

 private:
  template <typename T>
  void add_lanes(const T *value, T *total, int64_t step);

  formula::Function function_;
  Type type_;
  int count_;
  bool first_ = true;
  Block total_, places_;
};

}  // namespace saltern

// ---- What the files of these instructions share: the C++ types behind lanes, and loops over blocks.
namespace saltern::lanes {

// Calls visit with a null pointer of the lane's C++ type.
template <typename Visit>
void with_lane(Lane lane, const Visit &visit) {
  switch (lane) {
    case Lane::f32:
      return visit(static_cast<float *>(nullptr));
    case Lane::f64:
      return visit(static_cast<double *>(nullptr));
    case Lane::i64:
      return visit(static_cast<int64_t *>(nullptr));
    case Lane::u64:
      return visit(static_cast<uint64_t *>(nullptr));
  }
}

template <typename T, typename Map>
void each(const Block &a, Block &to, int count, const Map &map) {
  const T *x = a.as<T>();
  auto *y = to.as<decltype(map(T{}))>();
  for (int k = 0; k < count; ++k) y[k] = map(x[k]);
}

template <typename T, typename Map>
void each(const Block &a, const Block &b, Block &to, int count, const Map &map) {
  const T *x = a.as<T>(), *z = b.as<T>();
  auto *y = to.as<decltype(map(T{}, T{}))>();
  for (int k = 0; k < count; ++k) y[k] = map(x[k], z[k]);
}

// Integers as their type keeps them: the low bits.
inline void wrap(Type type, Block &b, int count) {
  if (lane_of(type) != Lane::i64 || type == Type::i64) return;
  const int above = 64 - facts(type).bits;
  const auto low = [above](int64_t v) { return static_cast<uint64_t>(v) << above; };
  if (type == Type::boolean)
    each<int64_t>(b, b, count, [](int64_t v) { return static_cast<int64_t>(v != 0); });
  else if (facts(type).kind == TypeFacts::Kind::integer)
    each<int64_t>(b, b, count, [&](int64_t v) { return static_cast<int64_t>(low(v)) >> above; });
  else
    each<int64_t>(b, b, count, [&](int64_t v) { return static_cast<int64_t>(low(v) >> above); });
}

template <typename T>
T maximum(T x, T y) {
  return ((x > y) | (x != x)) ? x : y;
}
template <typename T>
T minimum(T x, T y) {
  return ((x < y) | (x != x)) ? x : y;
}

}  // namespace saltern::lanes
