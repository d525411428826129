#pragma once
// Element types by name, and what stands for a tensor that was not given.

#include "runtime/nn/function.h"

namespace saltern::nn {

// By Saltern's name of it, or by NumPy's: "f32", "float32".
Type type_named(const std::string &name);
std::string numpy_name(Type type);

// x in another element type; x itself where it has it.
Variable to_type(const Variable &x, Type type);

// v, or where it is undefined, a tensor of one number, of the type of another.
Variable or_full(const Variable &v, const Shape &shape, double value, const Variable &like);

}  // namespace saltern::nn
