// Batches that threads read: the same for any number of threads, and what cannot be read is named, or left out and counted.

#include "runtime/training/source_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/errors.h"

namespace saltern {
namespace {

Source numbers(int64_t count, const std::vector<int64_t> &bad = {}) {
  Source s;
  s.size = count;
  s.sample = [=](int64_t i) {
    if (std::count(bad.begin(), bad.end(), i)) fail("it is damaged");
    return Sample{Tensor::full({2}, static_cast<double>(i)), Tensor::full({}, static_cast<double>(i % 3), Type::i32)};
  };
  s.name = [](int64_t i) { return "number " + std::to_string(i); };
  return s;
}

std::vector<Examples> all_of(const Loader &loader, int64_t epoch, int64_t first = 0) {
  std::vector<Examples> all;
  const Loader::Next next = loader.from(epoch, first);
  while (auto batch = next()) all.push_back(std::move(*batch));
  return all;
}

TEST(SourceLoader, BatchesAreTheSameForAnyNumberOfThreads) {
  BatchOptions options;
  options.size = 4;
  options.seed = 5;
  std::vector<std::vector<int64_t>> wanted;
  for (int threads : {1, 2, 5}) {
    ReadingOptions reading;
    reading.threads = threads;
    const Loader loader = batches_of(numbers(23), options, reading);
    EXPECT_EQ(loader.batches, 6);
    EXPECT_EQ(loader.samples, 23);
    std::vector<std::vector<int64_t>> samples;
    for (const Examples &b : all_of(loader, 1)) {
      samples.push_back(b.samples);
      ASSERT_EQ(b.x.shape(), (Shape{b.size(), 2}));
      for (int64_t i = 0; i < b.size(); ++i) {
        EXPECT_EQ(b.x.at<float>({i, 1}), static_cast<float>(b.samples[static_cast<size_t>(i)]));
        EXPECT_EQ(b.target.at<int32_t>({i}), b.samples[static_cast<size_t>(i)] % 3);
      }
    }
    if (wanted.empty()) wanted = samples;
    EXPECT_EQ(samples, wanted);
    const std::vector<Examples> rest = all_of(loader, 1, 4);
    ASSERT_EQ(rest.size(), 2U);
    EXPECT_EQ(rest[0].samples, wanted[4]);
  }
}

TEST(ChangedLoader, ChangesEachBatchByItsEpochAndNumber) {
  BatchOptions options;
  options.size = 4;
  const Loader loader = changed(batches_of(numbers(11), options), [](Examples &b, int64_t epoch, int64_t number) {
    b.target = Tensor::full({b.size()}, static_cast<double>(100 * epoch + number));
  });
  EXPECT_EQ(loader.samples, 11);
  const std::vector<Examples> all = all_of(loader, 2), rest = all_of(loader, 2, 1);
  ASSERT_EQ(all.size(), 3U);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(all[2].target.reals(), (std::vector<double>{202, 202, 202}));
  EXPECT_EQ(rest[0].target.reals(), all[1].target.reals());
  EXPECT_EQ(rest[0].x.reals(), all[1].x.reals());
}

TEST(SourceLoader, WhatCannotBeReadIsNamedOrLeftOutAndCounted) {
  BatchOptions options;
  options.size = 4;
  options.shuffle = false;
  const Source source = numbers(10, {2, 9});
  EXPECT_EQ(error_of([&] { all_of(batches_of(source, options), 0); }), "sample number 2: it is damaged");
  ReadingOptions reading;
  reading.skipped = std::make_shared<Skipped>();
  for (int64_t epoch : {0, 1}) {
    const std::vector<Examples> all = all_of(batches_of(source, options, reading), epoch);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].samples, (std::vector<int64_t>{0, 1, 3}));
    EXPECT_EQ(all[2].samples, (std::vector<int64_t>{8}));
  }
  EXPECT_EQ(reading.skipped->all(),
            (std::map<std::string, std::string>{{"number 2", "it is damaged"}, {"number 9", "it is damaged"}}));
  EXPECT_NE(error_of([&] {
              all_of(batches_of(numbers(10, {8, 9}), options, reading), 0);
            }).find("no sample of a batch"),
            std::string::npos);
}

TEST(SourceLoader, ReadsNoFurtherAheadThanAsked) {
  std::atomic<int64_t> read = 0;
  Source counted = numbers(1000);
  counted.sample = [&, of = counted.sample](int64_t i) {
    ++read;
    return of(i);
  };
  BatchOptions options;
  options.size = 10;
  options.ahead = 4;
  {
    const Loader::Next next = batches_of(counted, options).from(0, 0);
    next();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LE(read, 10 * (1 + 4 + 2));  // taken, ready, and one in the making for each thread
}

}  // namespace
}  // namespace saltern
