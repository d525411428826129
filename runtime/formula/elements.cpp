// Elements in memory and in blocks, and from one type to another.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/formula/lanes.h"
#include "runtime/tensor/element.h"
#include "runtime/tensor/small_floats.h"

namespace saltern {

using namespace lanes;

namespace {

// Truncated; what an integer does not hold, NaN too, becomes its least one, as the CPU's own conversion has it and with
// it NumPy and ONNX Runtime. Integers of up to 32 bits come from one of 32, others from one of 64, by their low bits.
template <typename Whole>
int64_t integer_of(double x) {
  constexpr auto least = std::numeric_limits<Whole>::min();
  // Beyond the least by less than 1 is held, where a double knows of such.
  const bool held = x < -static_cast<double>(least) && x > static_cast<double>(least) - (sizeof(Whole) == 4 ? 1 : 0);
  return held ? static_cast<int64_t>(x) : least;
}

// As formula_code.cpp has it.
bool comes_from_32_bits(Type type) { return facts(type).bits <= 32 && type != Type::u32; }

uint64_t natural_of(double x) {
  if (x >= 18446744073709551616.0) return std::numeric_limits<uint64_t>::max();
  return x >= 9223372036854775808.0 ? static_cast<uint64_t>(x) : static_cast<uint64_t>(integer_of<int64_t>(x));
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
    return integer_of<int64_t>(static_cast<double>(x));
}

// How a type is stored: load(pointer, i) gives a lane, store(pointer, i, lane) takes one.
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

struct Small {
  Type type;

  float load(const void *p, int64_t i) const { return f32_of_small(type, static_cast<const uint8_t *>(p)[i]); }
  // Lanes hold values of the type already, and an infinity among them is meant.
  void store(void *p, int64_t i, float v) const { static_cast<uint8_t *>(p)[i] = small_of_f32(type, v, false); }
};

// Calls visit with the storage of a type.
template <typename Visit>
void with_storage(Type type, const Visit &visit) {
  if (type == Type::f16) return visit(Coded<f32_of_f16, f16_of_f32>{});
  if (type == Type::bf16) return visit(Coded<f32_of_bf16, bf16_of_f32>{});
  if (facts(type).is_small_real()) return visit(Small{type});
  if (type == Type::text) fail("formulas do not read text");
  with_stored_type(type, [&](auto *p) {
    using Stored = std::remove_pointer_t<decltype(p)>;
    constexpr bool is_lane = std::is_floating_point_v<Stored> || std::is_same_v<Stored, uint64_t>;
    visit(Plain<Stored, std::conditional_t<is_lane, Stored, int64_t>>{});
  });
}

template <typename Storage>
using LaneOf = decltype(std::declval<Storage>().load(nullptr, 0));

// A run of elements, `stride` apart from each other.
template <typename Storage, typename T>
void load_run(const Storage &storage, const void *p, int64_t first, int64_t stride, T *to, int count) {
  if (stride == 0)
    std::fill_n(to, count, storage.load(p, first));
  else if (stride == 1)
    for (int k = 0; k < count; ++k) to[k] = storage.load(p, first + k);
  else
    for (int k = 0; k < count; ++k) to[k] = storage.load(p, first + k * stride);
}

}  // namespace

void convert(Type from_type, Type type, const Block &from, Block &to, int count) {
  with_lane(lane_of(from_type), [&](auto *of) {
    with_lane(lane_of(type), [&](auto *as) {
      using From = std::remove_pointer_t<decltype(of)>;
      using To = std::remove_pointer_t<decltype(as)>;
      if (type == Type::boolean)
        return each<From>(from, to, count, [](From x) { return static_cast<int64_t>(x != 0); });
      if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, int64_t>)
        if (comes_from_32_bits(type))
          return each<From>(from, to, count, [](From x) { return integer_of<int32_t>(static_cast<double>(x)); });
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
  with_storage(x.type(),
               [&](auto storage) { load_run(storage, x.raw(), first, 1, to.as<LaneOf<decltype(storage)>>(), count); });
}

void load_elements(const Tensor &x, const Walk &walk, int64_t start, int64_t first, Block &to, int count) {
  // Where the block begins, and how far its first run goes.
  const Walk::Dimension &inner = walk.dimensions[0];
  int64_t at = first % inner.extent, line = first / inner.extent;
  const auto line_start = [&] {
    int64_t offset = start, left = line;
    for (size_t d = 1; d < walk.dimensions.size(); ++d) {
      offset += left % walk.dimensions[d].extent * walk.dimensions[d].stride;
      left /= walk.dimensions[d].extent;
    }
    return offset;
  };
  with_storage(x.type(), [&](auto storage) {
    auto *t = to.as<LaneOf<decltype(storage)>>();
    const void *from = x.raw();
    for (int k = 0; k < count; ++line, at = 0) {
      const int run = static_cast<int>(std::min<int64_t>(inner.extent - at, count - k));
      load_run(storage, from, line_start() + at * inner.stride, inner.stride, t + k, run);
      k += run;
    }
  });
}

void load_elements(const Tensor &x, const int64_t *offsets, Block &to, int count) {
  with_storage(x.type(), [&](auto storage) {
    auto *t = to.as<LaneOf<decltype(storage)>>();
    const void *from = x.raw();
    for (int k = 0; k < count; ++k) t[k] = storage.load(from, offsets[k]);
  });
}

void store_elements(const Tensor &to, int64_t first, const Block &from, int count) {
  with_storage(to.type(), [&](auto storage) {
    const auto *f = from.as<LaneOf<decltype(storage)>>();
    void *elements = to.raw();
    for (int k = 0; k < count; ++k) storage.store(elements, first + k, f[k]);
  });
}

}  // namespace saltern
