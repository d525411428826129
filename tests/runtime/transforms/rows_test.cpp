// Transforms beside loops that are written out, and beside the library's own functions of images.

#include "runtime/transforms/all.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "runtime/nn/all.h"
#include "runtime/training/source_loader.h"
#include "tests/errors.h"

namespace saltern::transforms {
namespace {

using namespace nn::literals;

Tensor picture(const Shape &shape, uint64_t seed = 5) { return Random(seed).uniform_tensor(shape, 0, 1); }
Tensor bytes(const Shape &shape, uint64_t seed = 5) {
  const Tensor t = Tensor::empty(shape, Type::u8);
  Random random(seed);
  for (int64_t i = 0; i < t.size(); ++i) t.data<uint8_t>()[i] = static_cast<uint8_t>(random.below(256));
  return t;
}
Tensor made(const Transform &t, const Tensor &x, uint64_t seed = 1) {
  Random random(seed);
  return t(x, random);
}
void expect_near(const Tensor &y, const Tensor &wanted, double tolerance) {
  ASSERT_EQ(y.shape(), wanted.shape());
  ASSERT_EQ(y.type(), wanted.type());
  const std::vector<double> a = y.reals(), b = wanted.reals();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}
// y(c, i, j) = f(c, i, j)
template <typename F>
Tensor by_loops(const Shape &shape, const F &f) {
  const Tensor y = Tensor::empty(shape);
  for (int64_t c = 0; c < shape[0]; ++c)
    for (int64_t i = 0; i < shape[1]; ++i)
      for (int64_t j = 0; j < shape[2]; ++j) y.at<float>({c, i, j}) = static_cast<float>(f(c, i, j));
  return y;
}
float at(const Tensor &x, int64_t c, int64_t i, int64_t j) { return x.at<float>({c, i, j}); }

TEST(Transforms, ResizeIsTheInterpolationOfTheLibrary) {
  const Tensor x = picture({1, 2, 13, 9});
  for (const auto &[height, width] : {std::pair(6, 5), std::pair(20, 31), std::pair(13, 4)})
    for (const char *mode : {"bilinear", "bicubic"})
      for (const bool antialias : {false, true}) {
        const Tensor wanted = nn::interpolate(x, {height, width}, "mode"_a = mode, "antialias"_a = antialias).value();
        expect_near(made(Resize({height, width}, mode, "antialias"_a = antialias), x), wanted, 2e-6);
      }
  expect_near(made(Resize({7, 20}, "nearest"), x), nn::interpolate(x, {7, 20}, "mode"_a = "nearest").value(), 0);
  expect_near(made(Resize({7, 20}, "nearest-exact"), x),
              nn::interpolate(x, {7, 20}, "mode"_a = "nearest-exact").value(), 0);
  // The shorter side, and a bound of the longer one.
  EXPECT_EQ(made(Resize(6), x).shape(), (Shape{1, 2, 8, 6}));
  EXPECT_EQ(made(Resize(6, "max_size"_a = 7), x).shape(), (Shape{1, 2, 7, 5}));
  EXPECT_EQ(made(Resize(Argument(), "max_size"_a = 26), x).shape(), (Shape{1, 2, 26, 18}));
}

TEST(Transforms, BytesAreRoundedWhereTheyAreMixed) {
  const Tensor x = bytes({3, 8, 8});
  const Tensor same = Tensor::empty({1, 3, 8, 8});
  for (int64_t i = 0; i < x.size(); ++i) same.data<float>()[i] = x.data<uint8_t>()[i];
  const Tensor real = nn::interpolate(same, {5, 5}, "mode"_a = "bilinear", "antialias"_a = true).value();
  const Tensor y = made(Resize({5, 5}), x);
  EXPECT_EQ(y.type(), Type::u8);
  const std::vector<double> wanted = real.reals(), is = y.reals();
  for (size_t i = 0; i < is.size(); ++i) EXPECT_NEAR(is[i], wanted[i], 0.5001);
}

TEST(Transforms, PartsAndPadding) {
  const Tensor x = picture({2, 5, 7});
  expect_near(made(CenterCrop({2, 3}), x),
              by_loops({2, 2, 3}, [&](auto c, auto i, auto j) { return at(x, c, i + 2, j + 2); }), 0);
  // Larger than the picture: zeros around, more of them behind.
  expect_near(made(CenterCrop({8, 7}), x),
              by_loops({2, 8, 7}, [&](auto c, auto i, auto j) { return i >= 1 && i < 6 ? at(x, c, i - 1, j) : 0; }), 0);
  const auto mirrored = [](int64_t i, int64_t n, bool edge_twice) {
    if (i < 0) i = edge_twice ? -1 - i : -i;
    if (i >= n) i = edge_twice ? 2 * n - 1 - i : 2 * n - 2 - i;
    return i;
  };
  for (const bool symmetric : {false, true})
    expect_near(made(Pad({1, 2, 3, 0}, "padding_mode"_a = symmetric ? "symmetric" : "reflect"), x),
                by_loops({2, 7, 11},
                         [&](auto c, auto i, auto j) {
                           return at(x, c, mirrored(i - 2, 5, symmetric), mirrored(j - 1, 7, symmetric));
                         }),
                0);
  expect_near(made(Pad(1, {0.25, 0.5}), x),
              by_loops({2, 7, 9},
                       [&](auto c, auto i, auto j) {
                         const bool inside = i >= 1 && i < 6 && j >= 1 && j < 8;
                         return inside ? at(x, c, i - 1, j - 1) : c == 0 ? 0.25F : 0.5F;
                       }),
              0);
  // A part as large as the picture is the picture.
  expect_near(made(RandomCrop({5, 7}), x), x, 0);
  expect_error([&] { made(RandomCrop(9), x); }, {"RandomCrop", "5 x 7", "9 x 9"});
  std::set<double> corners;
  for (uint64_t seed = 0; seed < 200; ++seed) corners.insert(made(RandomCrop(4), x, seed).at<float>({0, 0, 0}));
  EXPECT_EQ(corners.size(), 2U * 4U);  // every place that there is
  Random random(1);
  const Argument five = FiveCrop(2).call(random, {x});
  const std::vector<Variable> all = nn::variables_of(five);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[3].value().at<float>({1, 1, 1}), at(x, 1, 4, 6));
  EXPECT_EQ(nn::variables_of(TenCrop(2).call(random, {x}))[5].value().at<float>({0, 0, 0}), at(x, 0, 0, 6));
}

TEST(Transforms, FlipsAndTurns) {
  const Tensor x = picture({2, 4, 6}), square = picture({1, 5, 5});
  expect_near(made(RandomHorizontalFlip(1.0), x),
              by_loops({2, 4, 6}, [&](auto c, auto i, auto j) { return at(x, c, i, 5 - j); }), 0);
  expect_near(made(RandomVerticalFlip(1.0), x),
              by_loops({2, 4, 6}, [&](auto c, auto i, auto j) { return at(x, c, 3 - i, j); }), 0);
  expect_near(made(RandomHorizontalFlip(0.0), x), x, 0);
  // A quarter counter-clockwise.
  for (const char *mode : {"nearest", "bilinear"})
    expect_near(made(RandomRotation({90, 90}, mode), square),
                by_loops({1, 5, 5}, [&](auto c, auto i, auto j) { return at(square, c, j, 4 - i); }), 1e-5);
  expect_near(made(RandomRotation({90, 90}, "nearest", true), x),
              by_loops({2, 6, 4}, [&](auto c, auto i, auto j) { return at(x, c, j, 5 - i); }), 1e-5);
  // Moved by whole pixels, with a fill; a number that is drawn from one value.
  const Tensor moved = made(RandomAffine(0, "scale"_a = Argument({2.0, 2.0}), "fill"_a = 0.5), square);
  EXPECT_FLOAT_EQ(moved.at<float>({0, 2, 2}), at(square, 0, 2, 2));  // the middle stays
  expect_near(made(RandomPerspective(0.0, 1.0), x), x, 1e-5);
  expect_near(made(ElasticTransform(0.0), x), x, 1e-6);
}

// One bilinear pixel of a turned picture, by hand; and the mask that mixes the fill in.
TEST(Transforms, WhatIsOutsideIsMixedInAsTorchvisionDoes) {
  const Tensor x = picture({1, 7, 7});
  const double turn = 30 * std::acos(-1.0) / 180;
  const Tensor y = made(RandomRotation({30, 30}, "bilinear", "fill"_a = 0.75), x);
  const Tensor wanted = by_loops({1, 7, 7}, [&](auto, auto i, auto j) {
    const double u = static_cast<double>(j) - 3, v = static_cast<double>(i) - 3;
    const double px = std::cos(turn) * u - std::sin(turn) * v + 3, py = std::sin(turn) * u + std::cos(turn) * v + 3;
    double sum = 0, inside = 0;
    for (int64_t r = 0; r < 7; ++r)
      for (int64_t c = 0; c < 7; ++c) {
        const double w = std::max(0.0, 1 - std::abs(px - static_cast<double>(c))) *
                         std::max(0.0, 1 - std::abs(py - static_cast<double>(r)));
        sum += w * at(x, 0, r, c);
        inside += w;
      }
    return inside * (sum - 0.75) + 0.75;
  });
  expect_near(y, wanted, 1e-5);
}

TEST(Transforms, Values) {
  const Tensor x = picture({3, 2, 4});
  expect_near(made(Normalize({0.5, 0.4, 0.3}, {0.1, 0.2, 0.3}), x),
              by_loops({3, 2, 4},
                       [&](auto c, auto i, auto j) {
                         const float mean[] = {0.5F, 0.4F, 0.3F}, deviation[] = {0.1F, 0.2F, 0.3F};
                         return (at(x, c, i, j) - mean[c]) / deviation[c];
                       }),
              1e-6);
  const Tensor whole = bytes({3, 2, 4}), real = made(ToDtype("float32", true), whole);
  for (int64_t i = 0; i < whole.size(); ++i)
    EXPECT_FLOAT_EQ(real.data<float>()[i], static_cast<float>(whole.data<uint8_t>()[i]) / 255);
  expect_near(made(ToDtype("uint8", true), real), whole, 0);  // and back
  expect_near(made(ConvertImageDtype("uint8"), real), whole, 0);
  expect_error([&] { made(Normalize(0.5, 0.1), whole); }, {"Normalize", "whole numbers"});
  expect_error([&] { Normalize(0.5, 0.0); }, {"Normalize", "std"});
  const Tensor noise = made(GaussianNoise(0.0, 0.1, false), Tensor::full({1, 100, 100}, 0.5));
  double mean = 0, square = 0;
  for (const double v : noise.reals()) mean += v / 1e4, square += (v - 0.5) * (v - 0.5) / 1e4;
  EXPECT_NEAR(mean, 0.5, 0.01);
  EXPECT_NEAR(std::sqrt(square), 0.1, 0.01);
  const Tensor matrix = picture({8, 8}), middle = picture({8}), flat = picture({1, 2, 4});
  const std::vector<double> m = matrix.reals(), mu = middle.reals(), f = flat.reals(),
                            y = made(LinearTransformation(matrix, middle), flat).reals();
  for (size_t k = 0; k < 8; ++k) {
    double sum = 0;
    for (size_t i = 0; i < 8; ++i) sum += (f[i] - mu[i]) * m[i * 8 + k];
    EXPECT_NEAR(y[k], sum, 1e-5);
  }
  const Tensor video = picture({7, 1, 2, 2}), frames = made(UniformTemporalSubsample(3), video);
  EXPECT_EQ(frames.shape(), (Shape{3, 1, 2, 2}));
  EXPECT_EQ(frames.at<float>({1, 0, 1, 1}), video.at<float>({3, 0, 1, 1}));
}

TEST(Transforms, Blur) {
  const Tensor x = picture({1, 6, 5});
  const auto weight = [](int64_t k, double sigma) {
    return std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma));
  };
  const auto around = [](int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; };
  const Tensor wanted = by_loops({1, 6, 5}, [&](auto c, auto i, auto j) {
    double sum = 0, all = 0;
    for (int64_t di = -2; di <= 2; ++di)
      for (int64_t dj = -1; dj <= 1; ++dj) {
        const double w = weight(di, 0.8) * weight(dj, 0.8);
        sum += w * at(x, c, around(i + di, 6), around(j + dj, 5));
        all += w;
      }
    return sum / all;
  });
  expect_near(made(GaussianBlur({3, 5}, {0.8, 0.8}), x), wanted, 1e-6);
  expect_error([] { GaussianBlur(4); }, {"GaussianBlur", "kernel_size", "odd"});
}

double grey_of(const Tensor &x, int64_t i, int64_t j) {
  return 0.2989 * at(x, 0, i, j) + 0.587 * at(x, 1, i, j) + 0.114 * at(x, 2, i, j);
}
double within(double v) { return std::min(std::max(v, 0.0), 1.0); }

TEST(Transforms, Colours) {
  const Tensor x = picture({3, 4, 5});
  const Argument twice = {2.0, 2.0};
  expect_near(made(Grayscale(3), x), by_loops({3, 4, 5}, [&](auto, auto i, auto j) { return grey_of(x, i, j); }), 1e-6);
  expect_near(made(ColorJitter(twice), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return within(2 * at(x, c, i, j)); }), 1e-6);
  double mean = 0;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 5; ++j) mean += grey_of(x, i, j) / 20;
  expect_near(made(ColorJitter("contrast"_a = twice), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return within(2 * at(x, c, i, j) - mean); }), 1e-6);
  expect_near(
      made(ColorJitter("saturation"_a = twice), x),
      by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return within(2 * at(x, c, i, j) - grey_of(x, i, j)); }), 1e-6);
  // A third of the circle: green becomes what red was.
  expect_near(made(ColorJitter("hue"_a = Argument({1.0 / 3, 1.0 / 3})), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return at(x, (c + 2) % 3, i, j); }), 1e-5);
  expect_near(made(RandomInvert(1.0), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return 1 - at(x, c, i, j); }), 1e-6);
  expect_near(made(RandomSolarize(0.6, 1.0), x),
              by_loops({3, 4, 5}, [&](auto c, auto i,
                                      auto j) { return at(x, c, i, j) >= 0.6 ? 1 - at(x, c, i, j) : at(x, c, i, j); }),
              1e-6);
  expect_near(made(RandomPosterize(2, 1.0), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return std::floor(at(x, c, i, j) * 4) / 4; }), 1e-6);
  expect_near(made(RandomAdjustSharpness(0.0, 1.0), x),
              by_loops({3, 4, 5},
                       [&](auto c, auto i, auto j) -> double {
                         if (i == 0 || i == 3 || j == 0 || j == 4) return at(x, c, i, j);
                         double sum = 4 * at(x, c, i, j);
                         for (int64_t di = -1; di <= 1; ++di)
                           for (int64_t dj = -1; dj <= 1; ++dj) sum += at(x, c, i + di, j + dj);
                         return sum / 13;
                       }),
              1e-6);
  const Tensor stretched = made(RandomAutocontrast(1.0), x);
  for (int64_t c = 0; c < 3; ++c) {
    const std::vector<double> channel = stretched.slice(0, c, 1).reals();
    EXPECT_FLOAT_EQ(*std::min_element(channel.begin(), channel.end()), 0);
    EXPECT_FLOAT_EQ(*std::max_element(channel.begin(), channel.end()), 1);
  }
  EXPECT_EQ(made(RGB(), picture({1, 4, 5})).shape(), (Shape{3, 4, 5}));
  expect_error([&] { made(Grayscale(), picture({2, 4, 5})); }, {"Grayscale", "2 channels"});
}

// Two values, of which each has half of the pixels: the least becomes 0, the other stays above it by the cumulated count.
TEST(Transforms, EqualizeByItsDefinition) {
  const Tensor x = bytes({1, 40, 40});
  std::vector<int64_t> counts(256), cumulated(256);
  for (int64_t i = 0; i < x.size(); ++i) ++counts[x.data<uint8_t>()[i]];
  for (size_t b = 0, sum = 0; b < 256; ++b) cumulated[b] = static_cast<int64_t>(sum += static_cast<size_t>(counts[b]));
  size_t last = 255;
  while (counts[last] == 0) --last;
  const int64_t step = (x.size() - counts[last]) / 255;
  const Tensor y = made(RandomEqualize(1.0), x);
  for (int64_t i = 0; i < x.size(); ++i) {
    const size_t b = x.data<uint8_t>()[i];
    const int64_t wanted = b == 0 ? 0 : std::min<int64_t>((cumulated[b - 1] + step / 2) / step, 255);
    EXPECT_EQ(y.data<uint8_t>()[i], wanted);
  }
}

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
