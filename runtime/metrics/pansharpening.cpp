// Images of many channels that were sharpened by one of a finer resolution: how they distort spectra and space.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/images.h"

namespace saltern::metrics {

namespace {

double mean_quality(const Arguments &in, const Plane &a, const Plane &b) {
  return mean(Numbers(universal_quality(in, a, b).all));
}

// Quality of each pair of channels with each other, [channels, channels], summed over images.
Numbers between_channels(const Arguments &in, const Numbers &n) {
  const auto channels = static_cast<size_t>(n.extent(1));
  Numbers all = Numbers::zeros({n.extent(1), n.extent(1)});
  for (size_t image = 0; image < static_cast<size_t>(n.extent(0)); ++image)
    for (size_t i = 0; i < channels; ++i)
      for (size_t j = i + 1; j < channels; ++j)
        all[i * channels + j] += mean_quality(in, plane(n, image * channels + i), plane(n, image * channels + j));
  return all;
}
void put_spectral(State &s, const Arguments &in, const Numbers &p, const Numbers &t) {
  if (p.rank() != 4 || t.rank() != 4 || p.extent(0) != t.extent(0) || p.extent(1) != t.extent(1))
    in.refuse("preds", "[batch, channels, height, width], and as many images and channels as the other");
  s.sum("preds", between_channels(in, p));
  s.sum("target", between_channels(in, t));
  s.sum("count", static_cast<double>(p.extent(0)));
}
double spectral(const State &s, double p) {
  const double channels = static_cast<double>(s["preds"].extent(0)), n = s["count"][0];
  double all = 0;
  for (size_t i = 0; i < s["preds"].size(); ++i) all += 2 * std::pow(std::abs(s["preds"][i] - s["target"][i]) / n, p);
  return channels == 1 ? 0 : std::pow(all / (channels * (channels - 1)), 1 / p);
}
double order(const Arguments &o, const char *name) {
  if (o.integer(name) < 1) o.refuse(name, "at least 1");
  return static_cast<double>(o.integer(name));
}
const MetricRow spectral_distortion(
    "SpectralDistortionIndex", "spectral_distortion_index", "p=1, reduction='elementwise_mean'", "preds, target",
    [](const Arguments &, const Arguments &in) {
      State s;
      put_spectral(s, in, numbers(in, "preds"), numbers(in, "target"));
      return s;
    },
    [](const Arguments &o, const State &s) { return result(spectral(s, order(o, "p"))); });

// ---- In space: the coarse image beside a degraded fine one, and the sharpened beside the fine one.

// By lines between pixels, whose middles stand at halves.
Plane resized(const Plane &p, int64_t height, int64_t width) {
  Plane out{{height, width}, {}};
  const auto place = [](int64_t i, int64_t from, int64_t to) {
    return std::clamp((static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5, 0.0,
                      static_cast<double>(from - 1));
  };
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const double v = place(y, p.extents[0], height), u = place(x, p.extents[1], width);
      const auto y0 = static_cast<size_t>(v), x0 = static_cast<size_t>(u), y1 = std::min(y0 + 1, p.height() - 1),
                 x1 = std::min(x0 + 1, p.width() - 1);
      const double b = v - static_cast<double>(y0), a = u - static_cast<double>(x0);
      const auto at = [&](size_t r, size_t c) { return p.all[r * p.width() + c]; };
      out.all.push_back((1 - b) * ((1 - a) * at(y0, x0) + a * at(y0, x1)) +
                        b * ((1 - a) * at(y1, x0) + a * at(y1, x1)));
    }
  return out;
}

constexpr char inputs[] = "preds, target=None, ms=None, pan=None, pan_lr=None";
// An image by its name, or out of the dictionary 'target'.
Numbers image(const Arguments &in, const char *name) {
  if (in.has(name)) return numbers(in, name);
  if (const auto *pairs = in["target"].as<Argument::List>())
    for (const Argument &p : *pairs)
      if (const auto *pair = p.as<Argument::List>();
          pair && pair->size() == 2 && (*pair)[0].as<std::string>() && *(*pair)[0].as<std::string>() == name)
        return numbers(in.with(name, (*pair)[1]), name);
  return {};
}
void put_spatial(State &s, const Arguments &o, const Arguments &in) {
  const Numbers p = numbers(in, "preds"), ms = image(in, "ms"), pan = image(in, "pan"), low = image(in, "pan_lr");
  if (p.rank() != 4) in.refuse("preds", "[batch, channels, height, width]");
  if (pan.shape != p.shape) in.refuse("pan", "the shape that 'preds' has, by its name or in 'target'");
  if (ms.rank() != 4 || ms.extent(0) != p.extent(0) || ms.extent(1) != p.extent(1) || p.extent(2) % ms.extent(2) != 0 ||
      p.extent(3) % ms.extent(3) != 0)
    in.refuse("ms",
              "as many images and channels as 'preds' has, which is so many times as high and wide; by its name or in "
              "'target'");
  if (low.size() > 0 && low.shape != ms.shape) in.refuse("pan_lr", "the shape that 'ms' has");
  const int64_t w = o.integer("window_size");
  if (w < 1 || w >= std::min(ms.extent(2), ms.extent(3))) o.refuse("window_size", "less than 'ms' has pixels in a row");
  Numbers coarse = Numbers::zeros({p.extent(1)}), fine = coarse;
  const auto channels = static_cast<size_t>(p.extent(1));
  for (size_t k = 0; k < plane_count(p); ++k) {
    const Plane degraded =
        low.size() > 0 ? plane(low, k) : resized(window_means(in, plane(pan, k), w), ms.extent(2), ms.extent(3));
    coarse[k % channels] += mean_quality(in, plane(ms, k), degraded);
    fine[k % channels] += mean_quality(in, plane(p, k), plane(pan, k));
  }
  s.sum("coarse", coarse);
  s.sum("fine", fine);
  s.sum("images", static_cast<double>(p.extent(0)));
}
Argument spatial(const Arguments &o, const State &s) {
  const double p = order(o, "norm_order");
  Numbers all = s["coarse"];
  for (size_t i = 0; i < all.size(); ++i) all[i] = std::pow(std::abs(all[i] - s["fine"][i]) / s["images"][0], p);
  const std::string how = word_or_none(o, "reduction", {"elementwise_mean", "sum"});
  if (how != "none") all = how == "sum" ? sum(all) : mean(all);
  for (double &x : all) x = std::pow(x, 1 / p);
  return result(all);
}
#define OPTIONS "norm_order=1, window_size=7, reduction='elementwise_mean'"
const MetricRow spatial_distortion(
    "SpatialDistortionIndex", "spatial_distortion_index", OPTIONS, inputs,
    [](const Arguments &o, const Arguments &in) {
      State s;
      put_spatial(s, o, in);
      return s;
    },
    spatial, nullptr, "preds, ms, pan, pan_lr=None, " OPTIONS);
const MetricRow pansharpened_quality(
    "QualityWithNoReference", "quality_with_no_reference", "alpha=1, beta=1, " OPTIONS, inputs,
    [](const Arguments &o, const Arguments &in) {
      State s;
      put_spatial(s, o, in);
      put_spectral(s, in, numbers(in, "preds"), image(in, "ms"));
      return s;
    },
    [](const Arguments &o, const State &s) {
      const double of_spectra = spectral(s, order(o, "norm_order"));
      Numbers all = {{}, variable_of(spatial(o, s)).value().reals()};
      if (all.size() > 1) all.shape = {static_cast<int64_t>(all.size())};
      for (double &x : all) x = std::pow(1 - of_spectra, o.real("alpha")) * std::pow(1 - x, o.real("beta"));
      return result(all);
    },
    nullptr, "preds, ms, pan, pan_lr=None, alpha=1, beta=1, " OPTIONS);

}  // namespace

const void *pansharpening() { return &pansharpened_quality; }

}  // namespace saltern::metrics
