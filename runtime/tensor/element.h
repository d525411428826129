#pragma once
// Single elements of any numeric type as plain numbers. Not for loops over many: kernels and formulas are.

#include <cstdint>

#include "dsl/types.h"

namespace saltern {

// Truncated. What is beyond 2^62 either way becomes that, and what is no number -2^62: in C++ both are undefined, and
// what a file says may be either.
int64_t integer_of(double value);

double real_element(Type type, const void *data, int64_t i);
int64_t integer_element(Type type, const void *data, int64_t i);  // truncated
// As C converts; small floats saturate.
void set_element(Type type, void *data, int64_t i, double value);

}  // namespace saltern
