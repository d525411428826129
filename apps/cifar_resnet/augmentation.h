#pragma once
// Pictures as training sees them: each mirrored or not, and moved by some pixels, anew in every epoch. What comes in from
// outside is black. What is drawn depends on seed, epoch and batch alone, so that training which is resumed sees the same.

#include <algorithm>
#include <functional>

#include "runtime/data/batches.h"
#include "runtime/tensor/random.h"

namespace saltern {

// For BatchOptions::change, which runs on the loader's thread. Of images f32 (n, c, h, w), channels last.
inline std::function<void(Batch &)> mirrored_and_moved(int64_t most_pixels, uint64_t seed) {
  return [=](Batch &batch) {
    Random random(seed, (static_cast<uint64_t>(batch.epoch) << 48) + (static_cast<uint64_t>(batch.index) << 24));
    const Tensor before = batch.images.in_layout(Layout::channels_last);
    batch.images = Tensor::zeros(before.shape(), Type::f32, Layout::channels_last);
    const int64_t channels = before.extent(1), height = before.extent(2), width = before.extent(3);
    const float *from = before.data<float>();
    float *to = batch.images.data<float>();
    for (int64_t n = 0; n < batch.size(); ++n) {
      const auto shift = [&] {
        return static_cast<int64_t>(random.below(static_cast<uint64_t>(2 * most_pixels + 1))) - most_pixels;
      };
      const bool mirror = random.below(2) == 1;
      const int64_t down = shift(), right = shift();
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x) {
          const int64_t old_y = y - down, moved = x - right, old_x = mirror ? width - 1 - moved : moved;
          if (old_y < 0 || old_y >= height || old_x < 0 || old_x >= width) continue;
          std::copy_n(from + ((n * height + old_y) * width + old_x) * channels, channels,
                      to + ((n * height + y) * width + x) * channels);
        }
    }
  };
}

}  // namespace saltern
