#pragma once
// Element types by the numbers that ONNX gives them, in files and in attributes such as Cast's `to`.

#include "runtime/autograd/attributes.h"

namespace saltern {

// Throws Unsupported for types that Saltern has not (complex numbers).
Type type_of_onnx(int64_t number);
int onnx_type(Type type);

// The type that an attribute names; 0 says that it is not set.
inline Type type_attribute(const Attributes &a, const std::string &name, Type otherwise) {
  const int64_t number = a.integer(name, 0);
  return number == 0 ? otherwise : type_of_onnx(number);
}

}  // namespace saltern
