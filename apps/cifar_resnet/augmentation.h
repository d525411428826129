#pragma once
// Pictures as training sees them: each mirrored or not, and moved by some pixels, anew in every epoch. What comes in from
// outside is black. What is drawn depends on seed, epoch and sample alone, so that training which is resumed sees the same.

#include "runtime/data/batches.h"
#include "runtime/tensor/parts.h"
#include "runtime/transforms/all.h"

namespace saltern {

// For BatchOptions::change, which runs on the loader's thread. Of square images.
inline std::function<void(Batch &)> mirrored_and_moved(int64_t extent, int64_t most_pixels, uint64_t seed) {
  using namespace transforms;
  using namespace nn::literals;
  const auto change =
      each_sample(Compose({RandomHorizontalFlip(), RandomCrop(extent, "padding"_a = most_pixels)}), seed);
  return [change](Batch &batch) {
    std::vector<Tensor> images;
    for (int64_t i = 0; i < batch.size(); ++i)
      images.push_back(change(taken(batch.images, 0, i), batch.epoch, batch.samples[static_cast<size_t>(i)]));
    batch.images = stacked(images, 0).in_layout(Layout::channels_last);
  };
}

}  // namespace saltern
