#pragma once
// The element types of tensors, in both worlds. Nothing here needs the Halide compiler.
//
// f16 and bf16 are storage types: kernels widen them to f32 when they read and narrow when they write.

#include <HalideRuntime.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace saltern {

enum class Type : uint8_t { f32, f64, f16, bf16, i32, i64, u8, boolean };

struct TypeFacts {
  Type type;
  std::string_view name;
  std::string_view safetensors_name;
  halide_type_t halide;
  constexpr int bytes() const { return (halide.bits + 7) / 8; }
};

inline const std::array<TypeFacts, 8> &all_types() {
  static const std::array<TypeFacts, 8> table = {{
      {Type::f32, "f32", "F32", halide_type_t(halide_type_float, 32)},
      {Type::f64, "f64", "F64", halide_type_t(halide_type_float, 64)},
      {Type::f16, "f16", "F16", halide_type_t(halide_type_float, 16)},
      {Type::bf16, "bf16", "BF16", halide_type_t(halide_type_bfloat, 16)},
      {Type::i32, "i32", "I32", halide_type_t(halide_type_int, 32)},
      {Type::i64, "i64", "I64", halide_type_t(halide_type_int, 64)},
      {Type::u8, "u8", "U8", halide_type_t(halide_type_uint, 8)},
      {Type::boolean, "bool", "BOOL", halide_type_t(halide_type_uint, 1)},
  }};
  return table;
}

inline const TypeFacts &facts(Type type) { return all_types()[static_cast<size_t>(type)]; }

// The Type that a C++ type is stored as.
template <typename T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr Type value = Type::f32;
};
template <>
struct TypeOf<double> {
  static constexpr Type value = Type::f64;
};
template <>
struct TypeOf<int32_t> {
  static constexpr Type value = Type::i32;
};
template <>
struct TypeOf<int64_t> {
  static constexpr Type value = Type::i64;
};
template <>
struct TypeOf<uint8_t> {
  static constexpr Type value = Type::u8;
};
template <>
struct TypeOf<bool> {
  static constexpr Type value = Type::boolean;
};

}  // namespace saltern
