// AutoAugment and its like: some changes of a list, each as strong as a number says, as torchvision has them.

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/transforms/colours.h"
#include "runtime/transforms/policies.h"
#include "runtime/transforms/rows.h"

namespace saltern::transforms {

namespace {

struct How {
  Filter filter;
  std::vector<float> fill;
};
using Change = Image (*)(const Image &, double, const How &);

// Shears turn around the upper left corner.
Image sheared(const Image &x, double across, double down, const How &how) {
  const double cx = -static_cast<double>(x.width) / 2, cy = -static_cast<double>(x.height) / 2;
  const auto degrees = [](double tangent) { return std::atan(tangent) * 180 / 3.14159265358979323846; };
  const Affine m = inverse_affine(cx, cy, 0, 0, 0, 1, degrees(across), degrees(down));
  return moved(x, m, x.height, x.width, how.filter, how.fill);
}
Image shifted(const Image &x, double right, double down, const How &how) {
  const Affine m = inverse_affine(0, 0, 0, std::trunc(right), std::trunc(down), 1, 0, 0);
  return moved(x, m, x.height, x.width, how.filter, how.fill);
}

const std::map<std::string, Change> changes_by_name = {
    {"Identity", [](const Image &x, double, const How &) { return x; }},
    {"ShearX", [](const Image &x, double m, const How &h) { return sheared(x, m, 0, h); }},
    {"ShearY", [](const Image &x, double m, const How &h) { return sheared(x, 0, m, h); }},
    {"TranslateX", [](const Image &x, double m, const How &h) { return shifted(x, m, 0, h); }},
    {"TranslateY", [](const Image &x, double m, const How &h) { return shifted(x, 0, m, h); }},
    {"Rotate",
     [](const Image &x, double m, const How &h) {
       return moved(x, inverse_affine(0, 0, -m, 0, 0, 1, 0, 0), x.height, x.width, h.filter, h.fill);
     }},
    {"Brightness", [](const Image &x, double m, const How &) { return with_brightness(x, 1 + m); }},
    {"Color", [](const Image &x, double m, const How &) { return with_saturation(x, 1 + m); }},
    {"Contrast", [](const Image &x, double m, const How &) { return with_contrast(x, 1 + m); }},
    {"Sharpness", [](const Image &x, double m, const How &) { return with_sharpness(x, 1 + m); }},
    {"Posterize", [](const Image &x, double m, const How &) { return posterized(x, static_cast<int64_t>(m)); }},
    {"Solarize", [](const Image &x, double m, const How &) { return solarized(x, m * x.bound()); }},
    {"AutoContrast", [](const Image &x, double, const How &) { return with_all_contrast(x); }},
    {"Equalize", [](const Image &x, double, const How &) { return equalized(x); }},
    {"Invert", [](const Image &x, double, const How &) { return inverted(x); }}};

// From `low` to `high` in so many steps; of the height or the width, where it is a part of these.
struct Strength {
  const char *name;
  double low = 0, high = 0;
  bool is_signed = false, of_extent = false, in_bits = false;
};

double at_bin(const Strength &s, const Image &x, int64_t bin, int64_t bins) {
  const double part = bins > 1 ? static_cast<double>(bin) / static_cast<double>(bins - 1) : 0;
  if (s.in_bits)
    return s.low - std::nearbyint(static_cast<double>(bin) / (static_cast<double>(bins - 1) / (s.low - s.high)));
  const double v = s.low + (s.high - s.low) * part;
  return s.of_extent ? v * static_cast<double>(s.name[9] == 'X' ? x.width : x.height) : v;
}

Image applied(const Strength &s, Random &random, const Image &x, double m, const How &how) {
  if (s.is_signed && random.uniform() < 0.5F) m = -m;
  return changes_by_name.at(s.name)(x, m, how);
}

How how_of(const Arguments &a, const Image &x) { return {filter_of(a), fill_of(a, x)}; }

int64_t counted(const Arguments &a, const char *name, int64_t least) {
  const int64_t n = a.integer(name);
  if (n < least) a.refuse(name, std::to_string(least) + " or more");
  return n;
}

using Strengths = std::vector<Strength>;

const Strengths of_rand_augment = {{"Identity"},
                                   {"ShearX", 0, 0.3, true},
                                   {"ShearY", 0, 0.3, true},
                                   {"TranslateX", 0, 150.0 / 331, true, true},
                                   {"TranslateY", 0, 150.0 / 331, true, true},
                                   {"Rotate", 0, 30, true},
                                   {"Brightness", 0, 0.9, true},
                                   {"Color", 0, 0.9, true},
                                   {"Contrast", 0, 0.9, true},
                                   {"Sharpness", 0, 0.9, true},
                                   {"Posterize", 8, 4, false, false, true},
                                   {"Solarize", 1, 0},
                                   {"AutoContrast"},
                                   {"Equalize"}};

Image rand_augment(const Arguments &a, Random &random, Image x) {
  const int64_t bins = counted(a, "num_magnitude_bins", 2), magnitude = counted(a, "magnitude", 0);
  if (magnitude >= bins) a.refuse("magnitude", "less than num_magnitude_bins");
  for (int64_t i = 0; i < a.integer("num_ops"); ++i) {
    const Strength &s = of_rand_augment[random.below(of_rand_augment.size())];
    x = applied(s, random, x, at_bin(s, x, magnitude, bins), how_of(a, x));
  }
  return x;
}

const Strengths of_trivial_augment = {{"Identity"},
                                      {"ShearX", 0, 0.99, true},
                                      {"ShearY", 0, 0.99, true},
                                      {"TranslateX", 0, 32, true},
                                      {"TranslateY", 0, 32, true},
                                      {"Rotate", 0, 135, true},
                                      {"Brightness", 0, 0.99, true},
                                      {"Color", 0, 0.99, true},
                                      {"Contrast", 0, 0.99, true},
                                      {"Sharpness", 0, 0.99, true},
                                      {"Posterize", 8, 2, false, false, true},
                                      {"Solarize", 1, 0},
                                      {"AutoContrast"},
                                      {"Equalize"}};

Image trivial_augment(const Arguments &a, Random &random, const Image &x) {
  const int64_t bins = counted(a, "num_magnitude_bins", 2);
  const Strength &s = of_trivial_augment[random.below(of_trivial_augment.size())];
  return applied(s, random, x, at_bin(s, x, drawn_below(random, 0, bins), bins), how_of(a, x));
}

// Of which the first nine are those without all_ops.
const Strengths of_aug_mix = {{"ShearX", 0, 0.3, true},
                              {"ShearY", 0, 0.3, true},
                              {"TranslateX", 0, 1.0 / 3, true, true},
                              {"TranslateY", 0, 1.0 / 3, true, true},
                              {"Rotate", 0, 30, true},
                              {"Posterize", 4, 0, false, false, true},
                              {"Solarize", 1, 0},
                              {"AutoContrast"},
                              {"Equalize"},
                              {"Brightness", 0, 0.9, true},
                              {"Color", 0, 0.9, true},
                              {"Contrast", 0, 0.9, true},
                              {"Sharpness", 0, 0.9, true}};

Image aug_mix(const Arguments &a, Random &random, const Image &x) {
  const int64_t severity = counted(a, "severity", 1), chains = counted(a, "mixture_width", 1);
  if (severity > 10) a.refuse("severity", "1 to 10");
  const double alpha = a.real("alpha");
  const size_t known = a.flag("all_ops") ? of_aug_mix.size() : 9;
  // A Dirichlet distribution is gammas, as parts of their sum.
  std::vector<double> parts;
  double sum = 0;
  for (int64_t i = 0; i < chains; ++i) {
    parts.push_back(drawn_gamma(random, alpha));
    sum += parts.back();
  }
  const double own = drawn_beta(random, alpha, alpha);
  Image y = x;
  for (float &v : y.pixels) v *= static_cast<float>(own);
  for (const double part : parts) {
    Image z = x;
    const int64_t given = a.integer("chain_depth"), depth = given > 0 ? given : drawn_below(random, 1, 4);
    for (int64_t k = 0; k < depth; ++k) {
      const Strength &s = of_aug_mix[random.below(known)];
      z = applied(s, random, z, at_bin(s, z, drawn_below(random, 0, severity), 10), how_of(a, z));
    }
    const auto weight = static_cast<float>((1 - own) * (sum > 0 ? part / sum : 1 / static_cast<double>(chains)));
    for (size_t i = 0; i < y.pixels.size(); ++i) y.pixels[i] += weight * z.pixels[i];
  }
  return y;
}

// One pair of a policy, each change with its probability; strengths are of ten.
Image auto_augment(const Arguments &a, Random &random, Image x) {
  const std::vector<PolicyPair> &all = policy(a.word("policy"));
  const PolicyPair &chosen = all[random.below(all.size())];
  for (const PolicyStep *step : {&chosen.first, &chosen.second}) {
    if (static_cast<double>(random.uniform()) >= step->probability) continue;
    Strength strength = {step->name.c_str()};
    for (const Strength &s : of_rand_augment)
      if (step->name == s.name) strength = s;
    x = applied(strength, random, x, at_bin(strength, x, step->strength, 10), how_of(a, x));
  }
  return x;
}

}  // namespace

std::vector<TransformRow> augment_rows() {
  const std::string how = "interpolation='nearest', fill=None";
  const Signature called("inpt");  // as torchvision, which moves no boxes by these
  return {
      {"AutoAugment", Signature("policy='imagenet', " + how), of_image(auto_augment), called,
       [](const Arguments &a) { policy(a.word("policy")); }},
      {"RandAugment", Signature("num_ops=2, magnitude=9, num_magnitude_bins=31, " + how), of_image(rand_augment),
       called},
      {"TrivialAugmentWide", Signature("num_magnitude_bins=31, " + how), of_image(trivial_augment), called},
      {"AugMix",
       Signature("severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True, interpolation='bilinear', "
                 "fill=None"),
       of_image(aug_mix), called,
       [](const Arguments &a) {
         if (!(a.real("alpha") > 0)) a.refuse("alpha", "a number above 0");
       }},
  };
}

}  // namespace saltern::transforms
