// Elements in memory and in blocks, and from one type to another.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/formula/lane_loops.h"
#include "runtime/small_floats.h"

namespace saltern {

using namespace lanes;

namespace {

// Truncated; what no integer of 64 bits holds becomes the nearest that does, NaN becomes 0.
int64_t integer_of(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 9223372036854775808.0) return std::numeric_limits<int64_t>::max();
  if (x <= -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

uint64_t natural_of(double x) {
  if (x >= 18446744073709551616.0) return std::numeric_limits<uint64_t>::max();
  return x >= 9223372036854775808.0 ? static_cast<uint64_t>(x) : static_cast<uint64_t>(integer_of(x));
}

float rounded(Type type, float x) {
  if (type == Type::f16) return f32_of_f16(f16_of_f32(x));
  if (type == Type::bf16) return f32_of_bf16(bf16_of_f32(x));
  return facts(type).is_small_real() ? f32_of_small(type, small_of_f32(type, x)) : x;
}

// Lanes of one type from lanes of another.
template <typename To, typename From>
To converted(From x) {
  if constexpr (std::is_floating_point_v<To> || !std::is_floating_point_v<From>)
    return static_cast<To>(x);
  else if constexpr (std::is_same_v<To, uint64_t>)
    return natural_of(static_cast<double>(x));
  else
    return integer_of(static_cast<double>(x));
}

// Calls visit(load, store) for the storage of a type: load(pointer, i) gives a lane, store(pointer, i, lane).
template <typename Stored, typename T>
struct Plain {
  static T load(const void *p, int64_t i) { return static_cast<T>(static_cast<const Stored *>(p)[i]); }
  static void store(void *p, int64_t i, T v) { static_cast<Stored *>(p)[i] = static_cast<Stored>(v); }
};

template <float (*decode)(uint16_t), uint16_t (*encode)(float)>
struct Coded {
  static float load(const void *p, int64_t i) { return decode(static_cast<const uint16_t *>(p)[i]); }
  static void store(void *p, int64_t i, float v) { static_cast<uint16_t *>(p)[i] = encode(v); }
};

template <typename Visit>
void with_storage(Type type, const Visit &visit) {
  switch (type) {
    case Type::f32:
      return visit(Plain<float, float>{});
    case Type::f64:
      return visit(Plain<double, double>{});
    case Type::f16:
      return visit(Coded<f32_of_f16, f16_of_f32>{});
    case Type::bf16:
      return visit(Coded<f32_of_bf16, bf16_of_f32>{});
    case Type::i8:
    case Type::i4:
    case Type::i2:
      return visit(Plain<int8_t, int64_t>{});
    case Type::i16:
      return visit(Plain<int16_t, int64_t>{});
    case Type::i32:
      return visit(Plain<int32_t, int64_t>{});
    case Type::i64:
      return visit(Plain<int64_t, int64_t>{});
    case Type::u16:
      return visit(Plain<uint16_t, int64_t>{});
    case Type::u32:
      return visit(Plain<uint32_t, int64_t>{});
    case Type::u64:
      return visit(Plain<uint64_t, uint64_t>{});
    case Type::u8:
    case Type::boolean:
    case Type::u4:
    case Type::u2:
      return visit(Plain<uint8_t, int64_t>{});
    default:
      fail("formulas do not read ", facts(type).name);
  }
}

template <typename Storage>
using LaneOf = decltype(Storage::load(nullptr, 0));

}  // namespace

void convert(Type from_type, Type type, const Block &from, Block &to, int count) {
  with_lane(lane_of(from_type), [&](auto *of) {
    with_lane(lane_of(type), [&](auto *as) {
      using From = std::remove_pointer_t<decltype(of)>;
      using To = std::remove_pointer_t<decltype(as)>;
      if (type == Type::boolean)
        return each<From>(from, to, count, [](From x) { return static_cast<int64_t>(x != 0); });
      each<From>(from, to, count, converted<To, From>);
    });
  });
  if (lane_of(type) == Lane::f32 && type != Type::f32) {
    float *v = to.as<float>();
    for (int k = 0; k < count; ++k) v[k] = rounded(type, v[k]);
  }
  wrap(type, to, count);
}

void reinterpret(Type from_type, Type type, const Block &from, Block &to, int count) {
  const auto stored = [](Type t) { return facts(t).bits; };
  // Through memory of the types' own sizes.
  std::vector<uint64_t> memory(static_cast<size_t>(count));
  if (stored(from_type) != stored(type)) fail("bits of ", facts(from_type).name, " as ", facts(type).name);
  const Shape shape = {count};
  const Tensor written = Tensor::borrowed(memory.data(), shape, from_type, {1});
  store_elements(written, 0, from, count);
  load_elements(Tensor::borrowed(memory.data(), shape, type, {1}), int64_t{0}, to, count);
}

void load_elements(const Tensor &x, int64_t first, Block &to, int count) {
  if (facts(x.type()).is_small_real()) {
    const auto *p = static_cast<const uint8_t *>(x.raw()) + first;
    for (int k = 0; k < count; ++k) to.as<float>()[k] = f32_of_small(x.type(), p[k]);
    return;
  }
  with_storage(x.type(), [&](auto storage) {
    using Storage = decltype(storage);
    auto *t = to.as<LaneOf<Storage>>();
    const void *p = x.raw();
    for (int k = 0; k < count; ++k) t[k] = Storage::load(p, first + k);
  });
}

void load_elements(const Tensor &x, const int64_t *offsets, Block &to, int count) {
  if (facts(x.type()).is_small_real()) {
    const auto *p = static_cast<const uint8_t *>(x.raw());
    for (int k = 0; k < count; ++k) to.as<float>()[k] = f32_of_small(x.type(), p[offsets[k]]);
    return;
  }
  with_storage(x.type(), [&](auto storage) {
    using Storage = decltype(storage);
    auto *t = to.as<LaneOf<Storage>>();
    const void *p = x.raw();
    for (int k = 0; k < count; ++k) t[k] = Storage::load(p, offsets[k]);
  });
}

void store_elements(const Tensor &to, int64_t first, const Block &from, int count) {
  if (facts(to.type()).is_small_real()) {
    auto *p = static_cast<uint8_t *>(to.raw()) + first;
    // Lanes hold values of the type already, and an infinity among them is meant.
    for (int k = 0; k < count; ++k) p[k] = small_of_f32(to.type(), from.as<float>()[k], false);
    return;
  }
  with_storage(to.type(), [&](auto storage) {
    using Storage = decltype(storage);
    const auto *f = from.as<LaneOf<Storage>>();
    for (int k = 0; k < count; ++k) Storage::store(to.raw(), first + k, f[k]);
  });
}

}  // namespace saltern
