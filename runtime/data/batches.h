#pragma once
// The batches of one epoch, made by a background thread a few ahead:
//   for (const Batch &batch : Batches(dataset, options, epoch)) ...
// Images become f32, (value / 255 - mean) / deviation, with a mean and deviation for each channel.
//
// The order is a pure function of seed and epoch (orders.h), so that training resumed at an epoch and a batch sees
// what it would have seen without the break.

#include <functional>
#include <optional>
#include <vector>

#include "runtime/data/dataset.h"
#include "runtime/data/orders.h"
#include "runtime/data/prefetch.h"

namespace saltern {

struct Batch {
  int64_t epoch = 0, index = 0;  // the number within it
  std::vector<int64_t> samples;  // their positions in the dataset
  Tensor images;                 // f32 (count, channels, height, width), channels last
  Tensor labels;                 // i32 (count)

  int64_t size() const { return static_cast<int64_t>(samples.size()); }
};

struct BatchOptions {
  int64_t size = 64;
  bool shuffle = true;
  Order order = nullptr;          // instead of all samples, shuffled or not (orders.h)
  bool keep_smaller_last = true;  // the last batch, if the dataset's size is not a multiple of `size`
  uint64_t seed = 0;
  int ahead = 3;
  std::vector<float> mean = {0}, deviation = {1};  // one for all channels, or one for each
  // Called on the background thread: augmentation, for example. What it draws depends on the batch's epoch and index alone.
  std::function<void(Batch &)> change;
};

// The order of `count` samples.
Order order_of(int64_t count, const BatchOptions &options);
// Of that many samples an epoch.
int64_t batches_per_epoch(int64_t samples, const BatchOptions &options);
int64_t batches_per_epoch(const Dataset &dataset, const BatchOptions &options);

class Batches {
 public:
  // From batch `first` to the end of the epoch. The dataset's memory is shared, not copied.
  Batches(const Dataset &dataset, const BatchOptions &options, int64_t epoch = 0, int64_t first = 0);

  // The next batch, or nothing at the end of the epoch. What the background thread threw comes out here.
  std::optional<Batch> next() { return prefetch_.next(); }

  class Iterator {
   public:
    explicit Iterator(Batches *from) : from_(from) { ++*this; }
    Iterator() = default;
    Batch &operator*() { return *batch_; }
    Iterator &operator++() {
      batch_ = from_->next();
      return *this;
    }
    bool operator!=(const Iterator &) const { return batch_.has_value(); }

   private:
    Batches *from_ = nullptr;
    std::optional<Batch> batch_;
  };
  Iterator begin() { return Iterator(this); }
  Iterator end() { return {}; }

 private:
  Prefetch<Batch> prefetch_;
};

}  // namespace saltern
