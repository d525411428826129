// What holds for all rows: kinds, texts, loaders, errors; and transforms of batches.

#include <gtest/gtest.h>

#include <set>

#include "runtime/training/source_loader.h"
#include "tests/errors.h"
#include "tests/runtime/transforms/pictures.h"

namespace saltern::transforms {
namespace {

using namespace nn::literals;

TEST(Transforms, MixUpAndCutMixMixLabelsAsMuchAsPictures) {
  const Tensor x = picture({4, 1, 8, 8}), labels = Tensor::of<int64_t>({4}, {0, 2, 1, 2});
  Random random(3);
  const std::vector<Variable> mixed = nn::variables_of(MixUp("num_classes"_a = 3).call(random, {x, labels}));
  const double part = mixed[1].value().at<float>({0, 0});  // of label 0; the one before it is 2
  EXPECT_NEAR(mixed[1].value().at<float>({0, 2}), 1 - part, 1e-6);
  EXPECT_NEAR(mixed[0].value().at<float>({0, 0, 3, 4}),
              part * x.at<float>({0, 0, 3, 4}) + (1 - part) * x.at<float>({3, 0, 3, 4}), 1e-6);
  const std::vector<Variable> cut = nn::variables_of(CutMix("num_classes"_a = 3).call(random, {x, labels}));
  int64_t kept = 0;
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 8; ++j) {
      const float v = cut[0].value().at<float>({1, 0, i, j});
      kept += v == x.at<float>({1, 0, i, j});
      EXPECT_TRUE(v == x.at<float>({1, 0, i, j}) || v == x.at<float>({0, 0, i, j}));
    }
  EXPECT_NEAR(cut[1].value().at<float>({1, 2}), static_cast<double>(kept) / 64, 1e-6);
  expect_error([&] { MixUp().call(random, {x, labels}); }, {"MixUp", "num_classes"});
  expect_error([&] { MixUp("alpha"_a = 0.0); }, {"MixUp", "alpha"});
}

TEST(Transforms, AllGiveAPictureOfTheKindTheyWereGiven) {
  const Tensor small = bytes({3, 20, 24}), real = picture({2, 3, 20, 24});
  for (const char *text : {"RandomResizedCrop(8)",
                           "RandomResize(5, 9)",
                           "RandomShortestSize([6, 7], 9)",
                           "ScaleJitter([16, 16])",
                           "RandomZoomOut(p=1)",
                           "RandomErasing(p=1)",
                           "RandomPhotometricDistort()",
                           "RandomChannelPermutation()",
                           "RandomPerspective(p=1)",
                           "ElasticTransform()",
                           "RandAugment()",
                           "TrivialAugmentWide()",
                           "AutoAugment()",
                           "AutoAugment('cifar10')",
                           "AutoAugment('svhn')",
                           "AugMix()",
                           "RandomAffine(30, translate=(0.1, 0.2), scale=(0.5, 2), shear=10, interpolation='bilinear')",
                           "ColorJitter(0.5, 0.5, 0.5, 0.2)",
                           "RandomApply([RandomInvert(), Grayscale(3)], p=0.7)",
                           "RandomChoice([RandomInvert(1), Identity()], p=[1, 3])",
                           "RandomOrder([RandomInvert(1), RandomSolarize(0.5)])"})
    for (const Tensor &x : {small, real})
      for (uint64_t seed = 0; seed < 12; ++seed) {
        const Tensor y = made(written_transform(text), x, seed);
        EXPECT_EQ(y.type(), x.type()) << text;
        EXPECT_EQ(y.rank(), x.rank()) << text;
        for (const double v : y.reals()) ASSERT_TRUE(v >= -1e-5 && v <= 255) << text << ": " << v;
      }
}

TEST(Transforms, TextsAreAChain) {
  const Tensor x = picture({3, 5, 7});
  const Transform one = written_transforms({"CenterCrop(3)"}),
                  two = written_transforms({"CenterCrop(3)", "RandomInvert(1)"});
  expect_near(made(one, x), made(CenterCrop(3), x), 0);
  expect_near(made(two, x), made(RandomInvert(1.0), made(CenterCrop(3), x)), 0);
}

TEST(Transforms, NamesOfTheHeaderAreThoseOfTheTable) {
  std::set<std::string> rows, named;
  for (const TransformRow &row : transform_rows()) rows.insert(row.name);
#define SALTERN_NAME(NAME) named.insert(#NAME);
  SALTERN_FOR_EACH_TRANSFORM(SALTERN_NAME)
#undef SALTERN_NAME
  EXPECT_EQ(rows, named);
  EXPECT_EQ(rows.size(), transform_rows().size());
}

// By seed, epoch and sample alone: whatever the number of threads, and wherever an epoch is taken up.
TEST(Transforms, LoadersGiveTheSameForAnyNumberOfThreads) {
  const Tensor x = picture({20, 1, 6, 6});
  Source source;
  source.size = 20;
  source.sample = [x](int64_t i) {
    return Sample{x.slice(0, i, 1).clone().viewed({1, 6, 6}, {36, 6, 1}), Tensor::full({}, i)};
  };
  source.name = [](int64_t i) { return std::to_string(i); };
  BatchOptions batches;
  batches.size = 3;
  const Transform augment = Compose({RandomCrop(6, "padding"_a = 2), RandomHorizontalFlip(), GaussianNoise()});
  const auto all = [&](int threads, int64_t epoch, int64_t first) {
    const Loader::Next next =
        batches_of(source, batches, {threads, nullptr, each_sample(augment, 7)}).from(epoch, first);
    std::vector<double> found;
    while (const auto batch = next())
      for (const double v : batch->x.reals()) found.push_back(v);
    return found;
  };
  const std::vector<double> one = all(1, 0, 0), later = all(2, 0, 4);
  EXPECT_EQ(one, all(3, 0, 0));
  EXPECT_NE(one, all(1, 1, 0));
  EXPECT_EQ(later, std::vector<double>(one.begin() + 4 * 3 * 36, one.end()));
}

TEST(Transforms, WhatIsWrongIsNamed) {
  const Tensor x = picture({3, 8, 8});
  expect_error([&] { written_transform("RandomCop(3)"); }, {"RandomCop"});
  expect_error([&] { Compose({}); }, {"Compose", "transforms"});
  expect_error([&] { RandomHorizontalFlip(2.0); }, {"RandomHorizontalFlip", "'p' is 2", "0 to 1"});
  expect_error([&] { made(Resize(4, "cubic"), x); }, {"Resize", "'cubic'", "bicubic"});
  expect_error([&] { made(Resize(4), picture({8, 8})); }, {"Resize", "[8, 8]", "(..., C, H, W)"});
  expect_error([&] { made(Resize(4), Tensor::zeros({3, 8, 8}, Type::i64)); }, {"Resize", "i64"});
  expect_error([&] { AutoAugment("mnist"); }, {"mnist", "imagenet"});
  expect_error([&] { RandomCrop(0); }, {"RandomCrop", "size"});
  expect_error([&] { made(Normalize({0.5, 0.5}, {1.0, 1.0}), x); }, {"Normalize", "mean", "3 channels"});
}

}  // namespace
}  // namespace saltern::transforms
