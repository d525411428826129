#pragma once
// Batches of samples that are read while training goes on, by threads of their own, a few batches ahead and no further.

#include <map>
#include <mutex>

#include "runtime/data/source.h"
#include "runtime/training/loader.h"

namespace saltern {

// Samples that could not be read, and why; each once, however often it came up.
class Skipped {
 public:
  void add(const std::string &sample, const std::string &why);
  std::map<std::string, std::string> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> all_;
};

struct ReadingOptions {
  int threads = 2;
  // Where what cannot be read is noted, and left out of its batch; none: it is an error. So is a batch of nothing else.
  std::shared_ptr<Skipped> skipped = nullptr;
  // What becomes of a sample's x in an epoch, on these threads (each_sample of runtime/transforms/transform.h); none: it stays.
  std::function<Tensor(const Tensor &x, int64_t epoch, int64_t sample)> transform = nullptr;
};

// Of the options, size, shuffle, order, seed, keep_smaller_last and ahead count. The batches are the same for any number of
// threads.
Loader batches_of(const Source &source, const BatchOptions &options = {}, const ReadingOptions &reading = {});

}  // namespace saltern
