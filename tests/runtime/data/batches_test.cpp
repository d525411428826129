// Batches cover an epoch exactly once, in an order fixed by seed and epoch, whatever the prefetching does.

#include "runtime/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>

#include "tests/scratch_folder.h"

namespace saltern {
namespace {

Dataset dataset(int64_t count, int64_t channels = 1) {
  Dataset d;
  d.images = Tensor::empty({count, channels, 3, 2}, Type::u8, Layout::channels_last);
  for (int64_t i = 0; i < d.images.size(); ++i) d.images.data<uint8_t>()[i] = static_cast<uint8_t>(i * 29 + i / 11);
  d.labels = Tensor::empty({count}, Type::i32);
  for (int64_t i = 0; i < count; ++i) d.labels.data<int32_t>()[i] = static_cast<int32_t>(i * 7 % 10);
  return d;
}

std::vector<int64_t> order(const Dataset &d, const BatchOptions &options, int64_t epoch, int64_t first = 0) {
  std::vector<int64_t> all;
  Batches batches(d, options, epoch, first);
  for (const Batch &b : batches) all.insert(all.end(), b.samples.begin(), b.samples.end());
  return all;
}

BatchOptions of_size(int64_t size) {
  BatchOptions options;
  options.size = size;
  return options;
}

TEST(Shuffle, IsAPermutationThatDependsOnSeedAndEpoch) {
  for (int64_t count : {0, 1, 2, 7, 1000}) {
    std::vector<int64_t> sorted = shuffled(count, 5, 3);
    std::sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < count; ++i) EXPECT_EQ(sorted[static_cast<size_t>(i)], i);
  }
  EXPECT_EQ(shuffled(100, 5, 3), shuffled(100, 5, 3));
  EXPECT_NE(shuffled(100, 5, 3), shuffled(100, 5, 4));
  EXPECT_NE(shuffled(100, 5, 3), shuffled(100, 6, 3));
  EXPECT_NE(shuffled(100, 0, 1), shuffled(100, 1, 0));
}

TEST(Shuffle, EveryOrderOfFourComesUpAboutEquallyOften) {
  std::map<std::vector<int64_t>, int> counts;
  constexpr int epochs = 24 * 500;
  for (int e = 0; e < epochs; ++e) ++counts[shuffled(4, 1, static_cast<uint64_t>(e))];
  ASSERT_EQ(counts.size(), 24U);
  double chi_squared = 0;
  for (const auto &[permutation, n] : counts) chi_squared += (n - 500.0) * (n - 500.0) / 500.0;
  EXPECT_LT(chi_squared, 49.7);  // 23 degrees of freedom, one in a thousand
}

TEST(Batches, CoverTheDatasetOnce) {
  for (int64_t count : {1, 2, 13, 64, 65})
    for (int64_t size : {1, 3, 64, 100}) {
      const Dataset d = dataset(count);
      std::vector<int64_t> all = order(d, of_size(size), 2);
      std::sort(all.begin(), all.end());
      ASSERT_EQ(static_cast<int64_t>(all.size()), count);
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(all[static_cast<size_t>(i)], i);
    }
}

TEST(Batches, HoldTheImagesAndLabelsOfTheirSamples) {
  for (int64_t channels : {1, 3}) {
    const Dataset d = dataset(10, channels);
    BatchOptions options = of_size(4);
    options.mean.assign(static_cast<size_t>(channels), 0.25F);
    options.deviation = {0.5F};
    options.mean.back() = 0.125F;
    int64_t seen = 0;
    Batches batches(d, options, 1);
    for (const Batch &b : batches) {
      ASSERT_EQ(b.images.shape(), (Shape{b.size(), channels, 3, 2}));
      ASSERT_TRUE(b.images.has_layout(Layout::channels_last));
      for (int64_t i = 0; i < b.size(); ++i, ++seen) {
        const int64_t s = b.samples[static_cast<size_t>(i)];
        EXPECT_EQ(b.labels.at<int32_t>({i}), d.labels.at<int32_t>({s}));
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t y = 0; y < 3; ++y)
            for (int64_t x = 0; x < 2; ++x) {
              const double mean = c + 1 == channels ? 0.125 : 0.25;
              EXPECT_NEAR(b.images.at<float>({i, c, y, x}), (d.images.at<uint8_t>({s, c, y, x}) / 255.0 - mean) / 0.5,
                          1e-6);
            }
      }
    }
    EXPECT_EQ(seen, 10);
  }
}

TEST(Batches, TheOrderDoesNotDependOnPrefetching) {
  const Dataset d = dataset(50);
  BatchOptions options = of_size(7), eager = options;
  eager.ahead = 100;
  options.ahead = 1;
  EXPECT_EQ(order(d, options, 3), order(d, eager, 3));
  EXPECT_NE(order(d, options, 3), order(d, options, 4));
  options.shuffle = false;
  const std::vector<int64_t> plain = order(d, options, 3);
  EXPECT_TRUE(std::is_sorted(plain.begin(), plain.end()));
}

TEST(Batches, ResumeWithinAnEpochContinuesItsOrder) {
  const Dataset d = dataset(50);
  const std::vector<int64_t> whole = order(d, of_size(8), 5), rest = order(d, of_size(8), 5, 3);
  EXPECT_EQ(rest, std::vector<int64_t>(whole.begin() + 24, whole.end()));
  EXPECT_TRUE(order(d, of_size(8), 5, 7).empty());
}

TEST(Batches, TheSmallerLastOneIsKeptOrDropped) {
  const Dataset d = dataset(10);
  BatchOptions options = of_size(4);
  EXPECT_EQ(batches_per_epoch(d, options), 3);
  EXPECT_EQ(order(d, options, 0).size(), 10U);
  options.keep_smaller_last = false;
  EXPECT_EQ(batches_per_epoch(d, options), 2);
  EXPECT_EQ(order(d, options, 0).size(), 8U);
}

TEST(Batches, WhatChangesThemKnowsEpochAndNumber) {
  BatchOptions options = of_size(4);
  options.change = [](Batch &b) { b.labels.data<int32_t>()[0] = static_cast<int32_t>(100 * b.epoch + b.index); };
  std::vector<int32_t> first;
  Batches batches(dataset(11), options, /*epoch=*/3, /*first=*/1);
  for (const Batch &b : batches) first.push_back(b.labels.data<int32_t>()[0]);
  EXPECT_EQ(first, (std::vector<int32_t>{301, 302}));
}

TEST(Batches, AtMostAFewAreMadeAhead) {
  std::atomic<int> made{0};
  BatchOptions options = of_size(1);
  options.ahead = 2;
  options.change = [&](Batch &) { ++made; };
  Batches batches(dataset(100), options);
  for (int taken = 1; taken <= 5; ++taken) {
    ASSERT_TRUE(batches.next());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LE(made, taken + 2);
    EXPECT_GE(made, taken);
  }
}  // and leaving here, with 95 batches not taken, does not hang

TEST(Batches, WhatTheBackgroundThreadThrowsComesOutInItsTurn) {
  BatchOptions options = of_size(2);
  options.change = [](Batch &b) {
    if (b.index == 2) fail("augmentation of batch 2 went wrong");
  };
  Batches batches(dataset(10), options);
  EXPECT_EQ(batches.next()->index, 0);
  EXPECT_EQ(batches.next()->index, 1);
  EXPECT_TRUE(contains(error_of([&] { batches.next(); }), "batch 2 went wrong"));
  EXPECT_TRUE(contains(error_of([&] { batches.next(); }), "batch 2 went wrong"));
}

TEST(Batches, ImpossibleOptionsAreNamed) {
  const Dataset d = dataset(10, 3);
  BatchOptions options = of_size(0);
  EXPECT_TRUE(contains(error_of([&] { Batches(d, options); }), "size of 0"));
  options = of_size(5);
  EXPECT_TRUE(contains(error_of([&] { Batches(d, options, 0, 3); }), "batch 3"));
  options.mean = {1, 2};
  EXPECT_TRUE(contains(error_of([&] { Batches(d, options); }), "2 values of mean for 3 channels"));
  options.mean = {0};
  options.deviation = {0};
  EXPECT_TRUE(contains(error_of([&] { Batches(d, options); }), "deviation 0"));
}

TEST(Batches, LabelsMayBeStrided) {
  Dataset d = dataset(10);
  const Tensor pairs = Tensor::zeros({10, 2}, Type::i32);
  for (int64_t i = 0; i < 10; ++i) pairs.at<int32_t>({i, 0}) = d.labels.at<int32_t>({i});
  const Dataset strided = {d.images, pairs.viewed({10}, {2})};
  Batches batches(strided, of_size(4));
  for (const Batch &b : batches)
    for (int64_t i = 0; i < b.size(); ++i)
      EXPECT_EQ(b.labels.at<int32_t>({i}), d.labels.at<int32_t>({b.samples[static_cast<size_t>(i)]}));
}

TEST(Batches, LabelsOfAnotherTypeOrRankAreNamed) {
  const Dataset d = dataset(10);
  for (const Tensor &labels : {Tensor::zeros({10}), Tensor::zeros({10, 1}, Type::i32), Tensor::zeros({}, Type::i32)})
    EXPECT_TRUE(contains(error_of([&] { Batches(Dataset{d.images, labels}, of_size(4)); }), to_string(labels.shape())));
}

TEST(FashionMnist, PlainFilesServeAsGzippedOnesDo) {
  const ScratchFolder folder;
  const std::string images("\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\1ab", 18), labels("\0\0\x08\1\0\0\0\2\1\3", 10);
  for (const char *part : {"train", "t10k"}) {
    folder.write(std::string(part) + "-images-idx3-ubyte", images);
    folder.write(std::string(part) + "-labels-idx1-ubyte", labels);
  }
  const std::string path = std::filesystem::path(folder.file("x")).parent_path().string();
  EXPECT_EQ(load_fashion_mnist(path).test.size(), 2);
}

TEST(FashionMnist, TheSampleIsBalanced) {
  const std::string sample =
      (std::filesystem::path(__FILE__).parent_path() / "../../../apps/fashion_mnist/sample").string();
  const FashionMnist f = load_fashion_mnist(sample);
  for (const auto &[part, each] : {std::pair(f.train, 200), std::pair(f.test, 50)}) {
    EXPECT_EQ(part.images.shape(), (Shape{10 * each, 1, 28, 28}));
    std::vector<int> counts(10);
    for (int64_t i = 0; i < part.size(); ++i) ++counts.at(static_cast<size_t>(part.labels.at<int32_t>({i})));
    for (int n : counts) EXPECT_EQ(n, each);
  }
  EXPECT_FALSE(find_fashion_mnist(sample).empty());
}

TEST(Dataset, DisagreeingFilesAreNamed) {
  const ScratchFolder folder;
  const std::string images = folder.write("images", std::string("\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\1ab", 18));
  const std::string labels = folder.write("labels", std::string("\0\0\x08\1\0\0\0\2\1\3", 10));
  EXPECT_EQ(load_idx_dataset(images, labels, 4).labels.at<int32_t>({1}), 3);
  EXPECT_TRUE(contains(error_of([&] { load_idx_dataset(images, labels, 3); }), "label 3 of image 1"));
  EXPECT_TRUE(contains(error_of([&] { load_idx_dataset(labels, labels, 4); }), "images are u8"));
  EXPECT_TRUE(contains(error_of([&] { load_idx_dataset(images, images, 4); }), "labels are u8"));
  const std::string fewer = folder.write("fewer", std::string("\0\0\x08\1\0\0\0\1\1", 9));
  EXPECT_TRUE(contains(error_of([&] { load_idx_dataset(images, fewer, 4); }), "2 images"));
  const std::string none = folder.write("none", std::string("\0\0\x08\3\0\0\0\0\0\0\0\1\0\0\0\1", 16));
  const std::string no_labels = folder.write("no_labels", std::string("\0\0\x08\1\0\0\0\0", 8));
  expect_error([&] { load_idx_dataset(none, no_labels, 4); }, {none, "no images"});
}

}  // namespace
}  // namespace saltern
