#include "runtime/tensor/element.h"

#include <cmath>
#include <limits>

#include "runtime/tensor/small_floats.h"

namespace saltern {

namespace {

bool is_coded(Type type) { return is_real(type) && facts(type).bits <= 16; }

float decoded(Type type, const void *data, int64_t i) {
  if (type == Type::f16) return f32_of_f16(static_cast<const uint16_t *>(data)[i]);
  if (type == Type::bf16) return f32_of_bf16(static_cast<const uint16_t *>(data)[i]);
  return f32_of_small(type, static_cast<const uint8_t *>(data)[i]);
}

// As C converts what fits.
template <typename T>
T plain(double value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  return value > (std::is_signed_v<T> ? -end : -1.0) && value < end ? static_cast<T>(value)
                                                                    : static_cast<T>(integer_of(value));
}

}  // namespace

double real_element(Type type, const void *data, int64_t i) {
  if (is_coded(type)) return decoded(type, data, i);
  return with_stored_type(type, [&](auto *p) {
    return static_cast<double>(static_cast<const std::remove_pointer_t<decltype(p)> *>(data)[i]);
  });
}

int64_t integer_of(double value) {
  constexpr int64_t most = int64_t{1} << 62;
  if (!(value > -static_cast<double>(most))) return -most;
  return value < static_cast<double>(most) ? static_cast<int64_t>(value) : most;
}

int64_t integer_element(Type type, const void *data, int64_t i) {
  if (is_real(type)) return integer_of(real_element(type, data, i));
  return with_stored_type(type, [&](auto *p) {
    return static_cast<int64_t>(static_cast<const std::remove_pointer_t<decltype(p)> *>(data)[i]);
  });
}

void set_element(Type type, void *data, int64_t i, double value) {
  if (type == Type::f16)
    static_cast<uint16_t *>(data)[i] = f16_of_f32(static_cast<float>(value));
  else if (type == Type::bf16)
    static_cast<uint16_t *>(data)[i] = bf16_of_f32(static_cast<float>(value));
  else if (is_coded(type))
    static_cast<uint8_t *>(data)[i] = small_of_f32(type, static_cast<float>(value));
  else
    with_stored_type(type, [&](auto *p) {
      using T = std::remove_pointer_t<decltype(p)>;
      static_cast<T *>(data)[i] = plain<T>(value);
    });
}

}  // namespace saltern
