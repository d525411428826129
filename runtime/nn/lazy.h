#pragma once
// Layers that learn with their first input how much goes into them: a row has a twin, LazyLinear beside Linear, which is
// made without the first argument, and from its first call on is the other.

#include "runtime/nn/layer.h"

namespace saltern::nn {

struct RowWithLazy {
  // `first` is the extent of a dimension of the input: of channels, (N, C, ...) of this rank or (C, ...) of one less; or of
  // the last one, where the rank is 0.
  RowWithLazy(const std::string &name, const std::string &first, const std::string &others, size_t rank,
              const Forward &forward, const LayerRow::Make &make);

  LayerRow row, lazy;
};

}  // namespace saltern::nn
