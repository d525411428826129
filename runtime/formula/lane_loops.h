#pragma once
// What the files of the evaluator's instructions share: the C++ types behind lanes, and loops over blocks.

#include "runtime/formula/lanes.h"

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

// An integer as its type keeps it: the low bits.
inline int64_t wrapped(Type type, int64_t v) {
  switch (type) {
    case Type::i8:
      return static_cast<int8_t>(v);
    case Type::i16:
      return static_cast<int16_t>(v);
    case Type::i32:
      return static_cast<int32_t>(v);
    case Type::u8:
      return static_cast<uint8_t>(v);
    case Type::u16:
      return static_cast<uint16_t>(v);
    case Type::u32:
      return static_cast<uint32_t>(v);
    case Type::i4:
      return (v & 15) >= 8 ? (v & 15) - 16 : v & 15;
    case Type::u4:
      return v & 15;
    case Type::i2:
      return (v & 3) >= 2 ? (v & 3) - 4 : v & 3;
    case Type::u2:
      return v & 3;
    case Type::boolean:
      return v != 0;
    default:
      return v;
  }
}

inline void wrap(Type type, Block &b, int count) {
  if (lane_of(type) != Lane::i64 || type == Type::i64) return;
  int64_t *v = b.as<int64_t>();
  for (int k = 0; k < count; ++k) v[k] = wrapped(type, v[k]);
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

template <typename T>
T maximum(T x, T y) {
  return (x > y) | (x != x) ? x : y;
}
template <typename T>
T minimum(T x, T y) {
  return (x < y) | (x != x) ? x : y;
}

}  // namespace saltern::lanes
