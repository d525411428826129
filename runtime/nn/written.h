#pragma once
// Calls as Python writes them, in files of people's own: Conv2d(1, 32, 3, padding=1), LeakyReLU, RandomApply([GaussianBlur(3)],
// p=0.3). Arguments are constants, lists of them, and other calls; nothing is computed.
//
//   Sequential net;
//   for (const auto &layer : written_layers({"Linear(784, 128)", "ReLU()", "Linear(128, 10)"})) net.add(layer);
//
// What does not read so is an Error that has the text and says what was expected.

#include <functional>

#include "runtime/nn/signature.h"

namespace saltern::nn {

struct WrittenCall {
  std::string name;
  std::vector<Argument> positional;
  Named named;
};

// What a call among the arguments stands for.
using Make = std::function<Argument(const WrittenCall &)>;

// Without `make`, a call among the arguments is an Error.
WrittenCall written_call(const std::string &text, const Make &make = nullptr);
// A constant.
Argument written_constant(const std::string &text);

// Each a call of a row (layer.h), or a Sequential(...) of others, which may be among arguments, too.
std::vector<std::shared_ptr<Module>> written_layers(const std::vector<std::string> &texts);

}  // namespace saltern::nn
