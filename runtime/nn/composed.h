#pragma once
// Functions that are made of others of the table: composed("softmax", {x, -1}) is a tensor.

#include "runtime/nn/function.h"

namespace saltern::nn {

inline Variable composed(const std::string &name, const std::vector<Argument> &positional, const Named &named = {}) {
  return variable_of(call(name, positional, named));
}

}  // namespace saltern::nn
