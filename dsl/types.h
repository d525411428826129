#pragma once
// The element types of tensors, in both worlds. Nothing here needs Halide.
//
// f16 and bf16 are storage types: kernels widen them to f32 when they read and narrow when they write. The floats of 8
// and 4 bits and the integers of 4 and 2 bits are stored one element a byte (a float as its code), and only converted
// from and to. A text is a std::string; only the host computes with it.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace saltern {

enum class Type : uint8_t {
  f32,
  f64,
  f16,
  bf16,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0,
  f4e2m1,
  i4,
  u4,
  i2,
  u2,
  text
};

// How an element lies in memory.
struct StoredAs {
  // Numbered as Halide's run time numbers them (halide_type_code_t).
  enum class Code : uint8_t { integer, natural, real, handle, brain };
  Code code;
  uint8_t bits;
};

struct TypeFacts {
  enum class Kind : uint8_t { real, integer, natural, boolean, text };

  Type type;
  std::string_view name;
  std::string_view safetensors_name;  // empty where the format has none
  Kind kind;
  int bits;  // of a value; its storage may have more
  StoredAs storage;

  constexpr int bytes() const {
    return type == Type::text ? static_cast<int>(sizeof(std::string)) : (storage.bits + 7) / 8;
  }
  // Whether kernels compute in it, or only convert from and to it.
  constexpr bool is_arithmetic() const {
    return kind == Kind::boolean || (kind != Kind::text && bits >= 8 && !is_small_real());
  }
  constexpr bool is_small_real() const { return kind == Kind::real && bits <= 8; }
};

inline const std::array<TypeFacts, 24> &all_types() {
  using Kind = TypeFacts::Kind;
  constexpr auto real = StoredAs::Code::real, brain = StoredAs::Code::brain;
  constexpr auto integer = StoredAs::Code::integer, natural = StoredAs::Code::natural;
  static const std::array<TypeFacts, 24> table = {{
      {Type::f32, "f32", "F32", Kind::real, 32, {real, 32}},
      {Type::f64, "f64", "F64", Kind::real, 64, {real, 64}},
      {Type::f16, "f16", "F16", Kind::real, 16, {real, 16}},
      {Type::bf16, "bf16", "BF16", Kind::real, 16, {brain, 16}},
      {Type::i8, "i8", "I8", Kind::integer, 8, {integer, 8}},
      {Type::i16, "i16", "I16", Kind::integer, 16, {integer, 16}},
      {Type::i32, "i32", "I32", Kind::integer, 32, {integer, 32}},
      {Type::i64, "i64", "I64", Kind::integer, 64, {integer, 64}},
      {Type::u8, "u8", "U8", Kind::natural, 8, {natural, 8}},
      {Type::u16, "u16", "U16", Kind::natural, 16, {natural, 16}},
      {Type::u32, "u32", "U32", Kind::natural, 32, {natural, 32}},
      {Type::u64, "u64", "U64", Kind::natural, 64, {natural, 64}},
      {Type::boolean, "bool", "BOOL", Kind::boolean, 1, {natural, 1}},
      {Type::f8e4m3fn, "f8e4m3fn", "F8_E4M3", Kind::real, 8, {natural, 8}},
      {Type::f8e4m3fnuz, "f8e4m3fnuz", "", Kind::real, 8, {natural, 8}},
      {Type::f8e5m2, "f8e5m2", "F8_E5M2", Kind::real, 8, {natural, 8}},
      {Type::f8e5m2fnuz, "f8e5m2fnuz", "", Kind::real, 8, {natural, 8}},
      {Type::f8e8m0, "f8e8m0", "F8_E8M0", Kind::real, 8, {natural, 8}},
      {Type::f4e2m1, "f4e2m1", "", Kind::real, 4, {natural, 8}},
      {Type::i4, "i4", "", Kind::integer, 4, {integer, 8}},
      {Type::u4, "u4", "", Kind::natural, 4, {natural, 8}},
      {Type::i2, "i2", "", Kind::integer, 2, {integer, 8}},
      {Type::u2, "u2", "", Kind::natural, 2, {natural, 8}},
      {Type::text, "text", "", Kind::text, 0, {StoredAs::Code::handle, 64}},
  }};
  return table;
}

inline const TypeFacts &facts(Type type) { return all_types()[static_cast<size_t>(type)]; }
inline bool is_real(Type type) { return facts(type).kind == TypeFacts::Kind::real; }

// The Type that a C++ type is stored as.
template <typename T>
struct TypeOf {
  // Integers stand in the order of their sizes.
  static constexpr Type integer(Type of_a_byte) {
    return static_cast<Type>(static_cast<size_t>(of_a_byte) + (sizeof(T) == 8 ? 3 : sizeof(T) / 2));
  }
  static constexpr Type value = std::is_same_v<T, std::string> ? Type::text
                                : std::is_same_v<T, bool>      ? Type::boolean
                                : std::is_same_v<T, float>     ? Type::f32
                                : std::is_same_v<T, double>    ? Type::f64
                                                               : integer(std::is_signed_v<T> ? Type::i8 : Type::u8);
};

}  // namespace saltern
