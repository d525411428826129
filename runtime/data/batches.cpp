#include "runtime/data/batches.h"

#include <algorithm>
#include <array>
#include <memory>

namespace saltern {

namespace {

// Every f32 that a channel's bytes can become.
using Levels = std::array<float, 256>;

std::vector<Levels> levels_of(int64_t channels, const BatchOptions &options) {
  const auto of_channel = [&](const std::vector<float> &values, const char *what, int64_t c) {
    const auto count = static_cast<int64_t>(values.size());
    if (count != 1 && count != channels)
      fail("batches: ", count, " values of ", what, " for ", channels, " channels; expected 1 or ", channels);
    return values[static_cast<size_t>(count == 1 ? 0 : c)];
  };
  std::vector<Levels> levels(static_cast<size_t>(channels));
  for (int64_t c = 0; c < channels; ++c) {
    const float mean = of_channel(options.mean, "mean", c), deviation = of_channel(options.deviation, "deviation", c);
    if (!(deviation > 0)) fail("batches: deviation ", deviation, " is not above 0");
    for (size_t v = 0; v < 256; ++v)
      levels[static_cast<size_t>(c)][v] = (static_cast<float>(v) / 255.0F - mean) / deviation;
  }
  return levels;
}

// Makes the batches of an epoch one after another.
class Maker {
 public:
  Maker(const Dataset &dataset, const BatchOptions &options, int64_t epoch, int64_t first)
      : dataset_(dataset), options_(options), epoch_(epoch), next_(first) {
    const Tensor &images = dataset.images, &labels = dataset.labels;
    if (labels.rank() != 1 || labels.type() != Type::i32)
      fail("batches: labels are ", facts(labels.type()).name, to_string(labels.shape()), "; expected i32 (count)");
    if (images.rank() != 4 || images.type() != Type::u8 || images.extent(0) != dataset.size())
      fail("batches: ", facts(images.type()).name, to_string(images.shape()), " with ", dataset.size(),
           " labels; images are u8 (count, channels, height, width)");
    dataset_.images = images.in_layout(Layout::channels_last);
    dataset_.labels = labels.in_layout(Layout::row_major);
    count_ = batches_per_epoch(dataset, options);
    if (epoch < 0 || first < 0 || first > count_)
      fail("batches: epoch ", epoch, ", batch ", first, " does not exist; an epoch has ", count_);
    levels_ = levels_of(images.extent(1), options);
    order_ = order_of(dataset.size(), options)(epoch);
    for (int64_t i : order_)
      if (i < 0 || i >= dataset.size()) fail("batches: the order has sample ", i, " of ", dataset.size());
  }

  std::optional<Batch> operator()() {
    if (next_ >= count_) return std::nullopt;
    Batch b;
    b.epoch = epoch_;
    b.index = next_++;
    const int64_t begin = b.index * options_.size,
                  end = std::min(begin + options_.size, static_cast<int64_t>(order_.size()));
    b.samples.assign(order_.begin() + begin, order_.begin() + end);
    Shape shape = dataset_.images.shape();
    shape[0] = b.size();
    b.images = Tensor::empty(shape, Type::f32, Layout::channels_last);
    b.labels = Tensor::empty({b.size()}, Type::i32);
    const int64_t channels = shape[1], pixels = shape[2] * shape[3];
    float *to = b.images.data<float>();
    for (size_t i = 0; i < b.samples.size(); ++i) {
      const uint8_t *from = dataset_.images.data<uint8_t>() + b.samples[i] * channels * pixels;
      for (int64_t p = 0; p < pixels; ++p)
        for (int64_t c = 0; c < channels; ++c) *to++ = levels_[static_cast<size_t>(c)][*from++];
      b.labels.data<int32_t>()[i] = dataset_.labels.data<int32_t>()[b.samples[i]];
    }
    if (options_.change) options_.change(b);
    return b;
  }

 private:
  Dataset dataset_;
  BatchOptions options_;
  int64_t epoch_, next_, count_ = 0;
  std::vector<Levels> levels_;
  std::vector<int64_t> order_;
};

}  // namespace

Order order_of(int64_t count, const BatchOptions &options) {
  if (options.order) return options.order;
  return options.shuffle ? shuffled(count, options.seed) : in_order(count);
}

int64_t batches_per_epoch(int64_t samples, const BatchOptions &options) {
  if (options.size < 1) fail("batches: a size of ", options.size, " is not above 0");
  return options.keep_smaller_last ? (samples + options.size - 1) / options.size : samples / options.size;
}

int64_t batches_per_epoch(const Dataset &dataset, const BatchOptions &options) {
  return batches_per_epoch(options.order ? static_cast<int64_t>(options.order(0).size()) : dataset.size(), options);
}

Batches::Batches(const Dataset &dataset, const BatchOptions &options, int64_t epoch, int64_t first)
    : prefetch_(Maker(dataset, options, epoch, first), static_cast<size_t>(std::max(options.ahead, 1))) {}

}  // namespace saltern
