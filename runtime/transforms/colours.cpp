#include "runtime/transforms/colours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace saltern::transforms {

namespace {

void expect_colours(const Image &x) {
  if (x.channels != 3) fail("a picture has ", x.channels, " channels; expected 3, colours");
}

// One plane for each image; that of whole numbers is whole.
std::vector<float> grey_planes(const Image &x) {
  if (x.channels == 1) return x.pixels;
  const int64_t area = x.area();
  std::vector<float> all(static_cast<size_t>(x.count() * area));
  for (int64_t n = 0; n < x.count(); ++n) {
    const float *r = x.plane(3 * n), *g = x.plane(3 * n + 1), *b = x.plane(3 * n + 2);
    float *to = all.data() + n * area;
    for (int64_t i = 0; i < area; ++i) to[i] = 0.2989F * r[i] + 0.587F * g[i] + 0.114F * b[i];
  }
  if (x.is_whole())
    for (float &v : all) v = std::floor(v);
  return all;
}

// factor x + (1 - factor) other, within bounds; other(image) gives an element of each pixel, or the same of all.
template <typename Other>
Image blended(Image x, double factor, const Other &other) {
  const auto f = static_cast<float>(factor);
  const int64_t area = x.area();
  const float bound = x.bound();
  for (int64_t p = 0; p < x.planes(); ++p) {
    const auto of = other(p / x.channels);
    float *v = x.plane(p);
    for (int64_t i = 0; i < area; ++i) v[i] = std::min(std::max(f * v[i] + (1 - f) * of(i), 0.0F), bound);
  }
  if (x.is_whole())
    for (float &v : x.pixels) v = std::floor(v);
  return x;
}

template <typename Change>
Image changed(Image x, const Change &change) {
  for (float &v : x.pixels) v = change(v);
  return x;
}

}  // namespace

Image grey(const Image &x, int64_t channels) {
  if (x.channels != 1) expect_colours(x);
  const std::vector<float> planes = grey_planes(x);
  Image y = x.like(channels, x.height, x.width);
  for (int64_t p = 0; p < y.planes(); ++p) std::copy_n(planes.data() + p / channels * x.area(), x.area(), y.plane(p));
  return y;
}

Image with_brightness(Image x, double factor) {
  return blended(std::move(x), factor, [](int64_t) { return [](int64_t) { return 0.0F; }; });
}

Image with_contrast(Image x, double factor) {
  if (x.channels != 1) expect_colours(x);
  const std::vector<float> planes = grey_planes(x);
  std::vector<float> means;
  for (int64_t n = 0; n < x.count(); ++n) {
    double sum = 0;
    for (int64_t i = 0; i < x.area(); ++i) sum += planes[static_cast<size_t>(n * x.area() + i)];
    means.push_back(static_cast<float>(sum / static_cast<double>(x.area())));
  }
  return blended(std::move(x), factor,
                 [&](int64_t n) { return [mean = means[static_cast<size_t>(n)]](int64_t) { return mean; }; });
}

Image with_saturation(Image x, double factor) {
  if (x.channels == 1) return x;
  expect_colours(x);
  const std::vector<float> planes = grey_planes(x);
  const int64_t area = x.area();
  return blended(std::move(x), factor,
                 [&](int64_t n) { return [grey = planes.data() + n * area](int64_t i) { return grey[i]; }; });
}

Image with_hue(Image x, double part) {
  if (x.channels == 1 || part == 0) return x;
  expect_colours(x);
  // As torchvision makes whole numbers of what is between 0 and 1.
  const float bound = x.bound(), scale = x.is_whole() ? bound + 1 - 1e-3F : 1;
  const int64_t area = x.area();
  for (int64_t n = 0; n < x.count(); ++n) {
    float *planes[] = {x.plane(3 * n), x.plane(3 * n + 1), x.plane(3 * n + 2)};
    for (int64_t i = 0; i < area; ++i) {
      const float r = planes[0][i] / bound, g = planes[1][i] / bound, b = planes[2][i] / bound;
      const float high = std::max(r, std::max(g, b)), chroma = high - std::min(r, std::min(g, b));
      if (chroma == 0) continue;
      const float sixth = high == r ? (g - b) / chroma : high == g ? (b - r) / chroma + 2 : (r - g) / chroma + 4;
      const float turned = sixth + static_cast<float>(6 * part);
      // v - v s max(0, min(k, 4 - k, 1)), where v s is the chroma.
      constexpr float begins[] = {5, 3, 1};
      for (int k = 0; k < 3; ++k) {
        const float at = turned + begins[k], of = at - 6 * std::floor(at / 6);
        const float v = (high - chroma * std::max(std::min(std::min(of, 4 - of), 1.0F), 0.0F)) * scale;
        planes[k][i] = x.is_whole() ? std::floor(v) : v;
      }
    }
  }
  return x;
}

Image with_sharpness(const Image &x, double factor) {
  if (x.height <= 2 || x.width <= 2) return x;
  Image y = x;
  const auto f = static_cast<float>(factor);
  for (int64_t p = 0; p < x.planes(); ++p)
    for (int64_t i = 1; i < x.height - 1; ++i)
      for (int64_t j = 1; j < x.width - 1; ++j) {
        float sum = 4 * x.plane(p)[i * x.width + j];
        for (int64_t di = -1; di <= 1; ++di)
          for (int64_t dj = -1; dj <= 1; ++dj) sum += x.plane(p)[(i + di) * x.width + j + dj];
        const float blurred = x.is_whole() ? std::nearbyint(sum / 13) : sum / 13, v = x.plane(p)[i * x.width + j];
        y.plane(p)[i * x.width + j] = v + (1 - f) * (blurred - v);
      }
  clamp(y);
  return y;
}

Image with_all_contrast(Image x) {
  for (int64_t p = 0; p < x.planes(); ++p) {
    const auto [low, high] = std::minmax_element(x.plane(p), x.plane(p) + x.area());
    const float least = *low, span = *high - *low;
    if (span == 0) continue;
    for (int64_t i = 0; i < x.area(); ++i) x.plane(p)[i] = (x.plane(p)[i] - least) / (span / x.bound());
  }
  clamp(x);
  return x;
}

Image equalized(Image x) {
  const float scale = x.is_whole() ? 1 : 255 + 1 - 1e-3F;
  for (int64_t p = 0; p < x.planes(); ++p) {
    std::array<int64_t, 256> counts = {}, becomes = {};
    const auto byte = [&](float v) { return static_cast<size_t>(std::clamp(v * scale, 0.0F, 255.0F)); };
    for (int64_t i = 0; i < x.area(); ++i) ++counts[byte(x.plane(p)[i])];
    int64_t last = 255;
    while (counts[static_cast<size_t>(last)] == 0) --last;
    const int64_t step = (x.area() - counts[static_cast<size_t>(last)]) / 255;
    if (step == 0) continue;
    int64_t sum = step / 2;
    for (size_t b = 0; b < 256; ++b) {
      becomes[b] = std::min<int64_t>(b == 0 ? 0 : sum / step, 255);
      sum += counts[b];
    }
    for (int64_t i = 0; i < x.area(); ++i) {
      const auto v = static_cast<float>(becomes[byte(x.plane(p)[i])]);
      x.plane(p)[i] = x.is_whole() ? v : v / 255;
    }
  }
  return x;
}

Image inverted(Image x) {
  const float bound = x.bound();
  return changed(std::move(x), [=](float v) { return bound - v; });
}

Image posterized(Image x, int64_t bits) {
  const auto levels = static_cast<float>(int64_t{1} << bits);
  if (x.is_whole()) {
    const float step = 256 / levels;
    return changed(std::move(x), [=](float v) { return std::floor(v / step) * step; });
  }
  return changed(std::move(x), [=](float v) { return std::clamp(std::floor(v * levels), 0.0F, levels - 1) / levels; });
}

Image solarized(Image x, double threshold) {
  if (threshold > x.bound()) fail("the threshold is ", threshold, "; values of the picture end at ", x.bound());
  const float bound = x.bound();
  return changed(std::move(x), [=](float v) { return v >= threshold ? bound - v : v; });
}

Image with_channels(const Image &x, const std::vector<int64_t> &order) {
  Image y = x;
  for (int64_t p = 0; p < x.planes(); ++p)
    std::copy_n(x.plane(p / x.channels * x.channels + order[static_cast<size_t>(p % x.channels)]), x.area(),
                y.plane(p));
  return y;
}

}  // namespace saltern::transforms
