#pragma once
// CIFAR's binary files: for each picture a byte with its class (of CIFAR-100 one with its coarse class before it), then 3072
// bytes, 32 x 32 pixels of red, then of green, then of blue.

#include "runtime/data/dataset.h"

namespace saltern {

// The pictures of all files, one behind another. `classes` is 10 or 100.
Dataset load_cifar(const std::vector<std::string> &files, int classes = 10);

}  // namespace saltern
