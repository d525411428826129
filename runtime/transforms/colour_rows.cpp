// Transforms of colours.

#include <algorithm>
#include <cmath>

#include "runtime/transforms/colours.h"
#include "runtime/transforms/rows.h"

namespace saltern::transforms {

namespace {

using Factors = std::pair<double, double>;

// A number f stands for [middle - f, middle + f], from `least` on; None for nothing.
bool factors(const Arguments &a, const char *name, double middle, double least, double most, Factors &found) {
  if (!a.has(name)) return false;
  if (a[name].as<Argument::List>()) {
    found = range_of(a, name);
  } else {
    const double f = a.real(name);
    if (!(f >= 0)) a.refuse(name, "a number of 0 or more, or two");
    found = {middle - f, middle + f};
    if (middle == 1) found.first = std::max(found.first, 0.0);
  }
  if (!(found.first >= least && found.second <= most)) a.refuse(name, "numbers within their bounds");
  return !(found.first == middle && found.second == middle);
}

struct Step {
  const char *name;
  double middle, least, most;
  Image (*change)(Image, double);
};
const Step steps[] = {{"brightness", 1, 0, INFINITY, with_brightness},
                      {"contrast", 1, 0, INFINITY, with_contrast},
                      {"saturation", 1, 0, INFINITY, with_saturation},
                      {"hue", 0, -0.5, 0.5, with_hue}};

Image with_step(const Arguments &a, Random &random, Image x, size_t i) {
  Factors f;
  const Step &s = steps[i];
  if (!factors(a, s.name, s.middle, s.least, s.most, f)) return x;
  return s.change(std::move(x), drawn(random, f.first, f.second));
}

void check_steps(const Arguments &a) {
  Factors f;
  for (const Step &s : steps) factors(a, s.name, s.middle, s.least, s.most, f);
}

Image jittered(const Arguments &a, Random &random, Image x) {
  for (const int64_t i : drawn_order(random, 4)) x = with_step(a, random, std::move(x), static_cast<size_t>(i));
  return x;
}

Image permuted(const Arguments &, Random &random, const Image &x) {
  return with_channels(x, drawn_order(random, x.channels));
}

Image distorted(const Arguments &a, Random &random, Image x) {
  const auto happens = [&] { return random.uniform() < a.real("p"); };
  const bool contrast_first = random.uniform() < 0.5F;
  if (happens()) x = with_step(a, random, std::move(x), 0);
  if (contrast_first && happens()) x = with_step(a, random, std::move(x), 1);
  if (happens()) x = with_step(a, random, std::move(x), 2);
  if (happens()) x = with_step(a, random, std::move(x), 3);
  if (!contrast_first && happens()) x = with_step(a, random, std::move(x), 1);
  return happens() ? permuted(a, random, x) : x;
}

int64_t channels_of(const Arguments &a) {
  const int64_t n = a.integer("num_output_channels");
  if (n != 1 && n != 3) a.refuse("num_output_channels", "1 or 3");
  return n;
}

void check_bits(const Arguments &a) {
  expect_probability(a);
  if (const int64_t b = a.integer("bits"); b < 0 || b > 8) a.refuse("bits", "0 to 8");
}

}  // namespace

std::vector<TransformRow> colour_rows() {
  const Signature called = of_sample();
  const auto plain = [&](const char *name, Image (*change)(Image)) {
    return TransformRow{name, Signature("p=0.5"),
                        sometimes([change](const Arguments &, Random &, const Image &x) { return change(x); }), called,
                        expect_probability};
  };
  return {
      {"ColorJitter", Signature("brightness=None, contrast=None, saturation=None, hue=None"), of_image(jittered),
       called, check_steps},
      {"RandomPhotometricDistort",
       Signature("brightness=(0.875, 1.125), contrast=(0.5, 1.5), saturation=(0.5, 1.5), hue=(-0.05, 0.05), p=0.5"),
       of_image(distorted), called,
       [](const Arguments &a) {
         check_steps(a);
         expect_probability(a);
       }},
      {"RandomChannelPermutation", Signature(""), of_image(permuted)},
      {"Grayscale", Signature("num_output_channels=1"),
       of_image([](const Arguments &a, Random &, const Image &x) { return grey(x, channels_of(a)); }), called,
       [](const Arguments &a) { channels_of(a); }},
      {"RandomGrayscale", Signature("p=0.1"),
       sometimes([](const Arguments &, Random &, const Image &x) { return grey(x, x.channels); }), called,
       expect_probability},
      {"RGB", Signature(""),
       of_image([](const Arguments &, Random &, const Image &x) { return x.channels == 1 ? grey(x, 3) : x; })},
      {"RandomAdjustSharpness", Signature("sharpness_factor, p=0.5"),
       sometimes(
           [](const Arguments &a, Random &, const Image &x) { return with_sharpness(x, a.real("sharpness_factor")); }),
       called,
       [](const Arguments &a) {
         expect_probability(a);
         if (!(a.real("sharpness_factor") >= 0)) a.refuse("sharpness_factor", "0 or more");
       }},
      {"RandomPosterize", Signature("bits, p=0.5"),
       sometimes([](const Arguments &a, Random &, const Image &x) { return posterized(x, a.integer("bits")); }), called,
       check_bits},
      {"RandomSolarize", Signature("threshold, p=0.5"),
       sometimes([](const Arguments &a, Random &, const Image &x) { return solarized(x, a.real("threshold")); }),
       called, expect_probability},
      plain("RandomAutocontrast", with_all_contrast),
      plain("RandomEqualize", equalized),
      plain("RandomInvert", inverted),
  };
}

}  // namespace saltern::transforms
