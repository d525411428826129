#pragma once
// Element types, as PyTorch mixes them: what is real before what is whole before what is true, then the wider.

#include "runtime/nn/types.h"

namespace saltern::nn {

Type common(Type a, Type b);

// Two arguments in one type; a number takes the type of the tensor that it meets, unless it is of a higher kind.
struct Operands {
  Variable a, b;
};
Operands promoted(const Arguments &of, const char *first = "input", const char *second = "other");

// What is computed of whole numbers as of real ones.
Variable as_real(const Variable &x);

// A function of a tensor by a formula, of a real one unless whole numbers are kept.
struct OfOne {
  OfOne(const std::string &name, const std::function<Value(const Value &)> &of, const std::string &argument = "input",
        bool is_real = true);

  Operation operation;
  Function function;
};

// A function of two tensors by a formula, whose operands are of one type; a real one, if asked for.
struct OfTwo {
  OfTwo(const std::string &name, const std::function<Value(const Value &, const Value &)> &of,
        const std::string &arguments = "input, other", bool is_real = false);

  Operation operation;
  Function function;
};

}  // namespace saltern::nn
