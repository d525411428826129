#pragma once
// Single elements of any numeric type as plain numbers. Not for loops over many: kernels and formulas are.

#include <algorithm>
#include <cstdint>

#include "dsl/types.h"
#include "runtime/error.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// Calls visit with a null pointer of the C++ type that elements of a type are in memory; floats of 16 bits and less are
// codes, natural numbers.
template <typename Visit>
auto with_stored_type(Type type, const Visit &visit) {
  const auto whole = [&](auto *integer, auto *natural) {
    return facts(type).storage.code == StoredAs::Code::integer ? visit(integer) : visit(natural);
  };
  if (type == Type::f32) return visit(static_cast<float *>(nullptr));
  if (type == Type::f64) return visit(static_cast<double *>(nullptr));
  if (type == Type::boolean) return visit(static_cast<bool *>(nullptr));
  if (type == Type::text) fail("an element of text is not a number");
  switch (facts(type).bytes()) {
    case 1:
      return whole(static_cast<int8_t *>(nullptr), static_cast<uint8_t *>(nullptr));
    case 2:
      return whole(static_cast<int16_t *>(nullptr), static_cast<uint16_t *>(nullptr));
    case 4:
      return whole(static_cast<int32_t *>(nullptr), static_cast<uint32_t *>(nullptr));
    default:
      return whole(static_cast<int64_t *>(nullptr), static_cast<uint64_t *>(nullptr));
  }
}

// Truncated. What is beyond 2^62 either way becomes that, and what is no number -2^62: in C++ both are undefined, and
// what a file says may be either.
int64_t integer_of(double value);

double real_element(Type type, const void *data, int64_t i);
int64_t integer_element(Type type, const void *data, int64_t i);  // truncated
// As C converts; small floats saturate.
void set_element(Type type, void *data, int64_t i, double value);

// The other order of bytes, of a dense tensor in place: files may be big-endian, memory is not.
inline void reverse_bytes(const Tensor &t) {
  const int width = facts(t.type()).bytes();
  auto *at = static_cast<uint8_t *>(t.raw());
  for (int64_t i = 0; i < t.size(); ++i, at += width) std::reverse(at, at + width);
}

}  // namespace saltern
