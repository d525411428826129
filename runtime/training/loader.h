#pragma once
// What a net is trained on or asked about: the batches of an epoch, as a pure function of the epoch, so that training which
// is resumed at a batch sees what it would have seen without the break.
//
//   const Loader train = batches_of(dataset, options), test = batches_of(x, y, options);

#include <functional>
#include <optional>

#include "runtime/data/batches.h"

namespace saltern {

struct Examples {
  Tensor x, target;
  std::vector<int64_t> samples;  // their positions in the data

  int64_t size() const { return static_cast<int64_t>(samples.size()); }
};

struct Loader {
  using Next = std::function<std::optional<Examples>()>;

  int64_t samples = 0, batches = 0;                        // of an epoch
  std::function<Next(int64_t epoch, int64_t first)> from;  // from batch `first` on to the end of the epoch
  bool may_be_fewer = false;                               // batches: where samples may turn out to be damaged
};

// Pictures (runtime/data/batches.h), made by a background thread.
Loader batches_of(const Dataset &dataset, const BatchOptions &options = {});
// Rows of any tensors, along their first dimension. Of the options, size, shuffle, order, seed and keep_smaller_last count.
Loader batches_of(const Tensor &x, const Tensor &target, const BatchOptions &options = {});

// What another gives, each batch changed: by its epoch and number alone, so that training which is resumed sees the same.
using Change = std::function<void(Examples &batch, int64_t epoch, int64_t number)>;
Loader changed(Loader loader, const Change &change);

// The rows of a tensor at these places.
Tensor rows_at(const Tensor &x, const std::vector<int64_t> &places);

}  // namespace saltern
