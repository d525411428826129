#include "runtime/training/source_loader.h"

#include <algorithm>

#include "runtime/tensor/parts.h"

namespace saltern {

void Skipped::add(const std::string &sample, const std::string &why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  all_[sample] = why;
}

std::map<std::string, std::string> Skipped::all() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return all_;
}

namespace {

struct Reading {
  Source source;
  ReadingOptions options;

  Examples batch(const std::vector<int64_t> &samples, int64_t epoch) const {
    std::vector<Tensor> x, target;
    Examples made;
    for (int64_t i : samples) try {
        Sample s = source.sample(i);
        if (options.transform) s.x = options.transform(s.x, epoch, i);
        if (!x.empty() && (s.x.shape() != x[0].shape() || s.target.shape() != target[0].shape()))
          fail("it is ", to_string(s.x.shape()), " with a target of ", to_string(s.target.shape()),
               "; others of its batch are ", to_string(x[0].shape()), " with ", to_string(target[0].shape()));
        x.push_back(s.x);
        target.push_back(s.target);
        made.samples.push_back(i);
      } catch (const Error &e) {
        if (!options.skipped) fail("sample ", source.name(i), ": ", e.what());
        options.skipped->add(source.name(i), e.what());
      }
    if (x.empty()) fail("no sample of a batch can be read; the last is ", source.name(samples.back()));
    made.x = stacked(x, 0);
    made.target = stacked(target, 0);
    return made;
  }
};

}  // namespace

Loader batches_of(const Source &source, const BatchOptions &options, const ReadingOptions &reading) {
  const Order order = order_of(source.size, options);
  const int64_t samples = static_cast<int64_t>(order(0).size()), count = batches_per_epoch(samples, options);
  const int threads = std::max(reading.threads, 1);
  return {options.keep_smaller_last ? samples : count * options.size, count,
          [=](int64_t epoch, int64_t first) -> Loader::Next {
            const auto all = std::make_shared<const std::vector<int64_t>>(order(epoch));
            // Thread t makes every batch whose number has the remainder t, so that they come out in their order.
            std::vector<std::shared_ptr<Prefetch<Examples>>> threads_of;
            for (int t = 0; t < threads; ++t) {
              const auto next = [=, batch = first + t]() mutable -> std::optional<Examples> {
                if (batch >= count) return std::nullopt;
                const int64_t begin = batch * options.size, end = std::min(begin + options.size, samples);
                batch += threads;
                return Reading{source, reading}.batch({all->begin() + begin, all->begin() + end}, epoch);
              };
              const int ahead = std::max(options.ahead / threads, 1);
              threads_of.push_back(std::make_shared<Prefetch<Examples>>(next, static_cast<size_t>(ahead)));
            }
            return [threads_of, turn = size_t{0}]() mutable { return threads_of[turn++ % threads_of.size()]->next(); };
          }};
}

}  // namespace saltern
