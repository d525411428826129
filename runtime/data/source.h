#pragma once
// Samples that are read when they are asked for, by any thread: data that are larger than memory, or that are in many files.

#include <functional>
#include <string>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct Sample {
  Tensor x, target;
};

struct Source {
  int64_t size = 0;
  // Throws an Error where sample i cannot be read.
  std::function<Sample(int64_t i)> sample;
  // What errors call it.
  std::function<std::string(int64_t i)> name;
};

}  // namespace saltern
