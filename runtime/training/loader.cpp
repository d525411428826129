#include "runtime/training/loader.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace saltern {

namespace {

int64_t samples_an_epoch(int64_t count, int64_t batches, const BatchOptions &o) {
  return o.keep_smaller_last ? count : batches * o.size;
}

}  // namespace

Loader batches_of(const Dataset &dataset, const BatchOptions &options) {
  const int64_t count = batches_per_epoch(dataset, options);
  const auto samples = static_cast<int64_t>(order_of(dataset.size(), options)(0).size());
  return {samples_an_epoch(samples, count, options), count, [=](int64_t epoch, int64_t first) -> Loader::Next {
            const auto batches = std::make_shared<Batches>(dataset, options, epoch, first);
            return [batches]() -> std::optional<Examples> {
              std::optional<Batch> batch = batches->next();
              if (!batch) return std::nullopt;
              return Examples{batch->images, batch->labels, std::move(batch->samples)};
            };
          }};
}

Tensor rows_at(const Tensor &x, const std::vector<int64_t> &places) {
  const Tensor from = x.in_layout(Layout::row_major);
  Shape shape = x.shape();
  const size_t bytes = x.extent(0) > 0 ? x.bytes() / static_cast<size_t>(x.extent(0)) : 0;
  shape.at(0) = static_cast<int64_t>(places.size());
  Tensor rows = Tensor::empty(shape, x.type());
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] >= x.extent(0)) fail("there is no row ", places[i], " of ", x.extent(0));
    std::memcpy(static_cast<char *>(rows.raw()) + i * bytes,
                static_cast<const char *>(from.raw()) + static_cast<size_t>(places[i]) * bytes, bytes);
  }
  return rows;
}

Loader batches_of(const Tensor &x, const Tensor &target, const BatchOptions &options) {
  if (x.rank() < 1 || target.rank() < 1 || x.extent(0) != target.extent(0))
    fail("batches: inputs are ", to_string(x.shape()), " and targets ", to_string(target.shape()),
         "; the first extents are the number of samples, and must be the same");
  const Tensor inputs = x.in_layout(Layout::row_major), targets = target.in_layout(Layout::row_major);
  const Order orders = order_of(x.extent(0), options);
  const auto samples = static_cast<int64_t>(orders(0).size());
  const int64_t count = batches_per_epoch(samples, options);
  return {samples_an_epoch(samples, count, options), count, [=](int64_t epoch, int64_t first) -> Loader::Next {
            return [=, order = orders(epoch), next = first]() mutable -> std::optional<Examples> {
              if (next >= count) return std::nullopt;
              const int64_t begin = next++ * options.size, end = std::min(begin + options.size, samples);
              std::vector<int64_t> places(order.begin() + begin, order.begin() + end);
              return Examples{rows_at(inputs, places), rows_at(targets, places), places};
            };
          }};
}

Loader changed(Loader loader, const Change &change) {
  loader.from = [of = loader.from, change](int64_t epoch, int64_t first) -> Loader::Next {
    return [=, next = of(epoch, first), number = first]() mutable {
      std::optional<Examples> batch = next();
      if (batch) change(*batch, epoch, number++);
      return batch;
    };
  };
  return loader;
}

}  // namespace saltern
