// How alike images look in windows: SSIM, at several scales, the universal quality index, and visual information fidelity.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/images.h"

namespace saltern::metrics {

namespace {

struct Similarity {
  std::vector<double> all, contrast;  // of each image
};
std::vector<int64_t> sizes_of(const Arguments &o, size_t dimensions) {
  const std::vector<int64_t> sizes = o.integers("kernel_size", dimensions);
  for (const int64_t s : sizes)
    if (s < 1 || s % 2 == 0) o.refuse("kernel_size", "odd numbers");
  return sizes;
}
double spread(const Numbers &n) {
  const auto [least, most] = std::minmax_element(n.begin(), n.end());
  return n.size() == 0 ? 0 : *most - *least;
}
Similarity similarity(const Arguments &o, const Arguments &in, Numbers p, Numbers t) {
  const auto dimensions = static_cast<size_t>(p.rank() - 2);
  const std::vector<double> sigmas = o.reals("sigma", dimensions);
  const std::vector<int64_t> sizes = sizes_of(o, dimensions);
  double range = 0;
  if (!o.has("data_range")) {
    range = std::max(spread(p), spread(t));
  } else if (o["data_range"].as<Argument::List>()) {
    const std::vector<double> bounds = o.reals("data_range", 2);
    for (Numbers *n : {&p, &t})
      for (double &x : *n) x = std::clamp(x, bounds[0], bounds[1]);
    range = bounds[1] - bounds[0];
  } else {
    range = o.real("data_range");
  }
  std::vector<Kernel> kernels;
  std::vector<int64_t> pads;
  for (size_t d = 0; d < dimensions; ++d) {
    if (!(sigmas[d] > 0)) o.refuse("sigma", "positive numbers");
    const int64_t size = o.flag("gaussian_kernel") ? static_cast<int64_t>(3.5 * sigmas[d] + 0.5) * 2 + 1 : sizes[d];
    kernels.push_back(o.flag("gaussian_kernel") ? gaussian(size, sigmas[d]) : box(size));
    pads.push_back((size - 1) / 2);
  }
  const double c1 = std::pow(o.real("k1") * range, 2), c2 = std::pow(o.real("k2") * range, 2);
  const auto channels = static_cast<size_t>(p.extent(1));
  Similarity s;
  s.all.resize(static_cast<size_t>(p.extent(0)));
  s.contrast = s.all;
  for (size_t k = 0; k < plane_count(p); ++k) {
    const Local l(reflected(in, plane(p, k), pads, pads), reflected(in, plane(t, k), pads, pads), kernels);
    Plane contrast = l.mean_a;
    double total = 0;
    for (size_t i = 0; i < contrast.all.size(); ++i) {
      const double x = l.mean_a.all[i], y = l.mean_b.all[i];
      contrast.all[i] = (2 * l.covariance.all[i] + c2) / (l.variance_a.all[i] + l.variance_b.all[i] + c2);
      total += (2 * x * y + c1) / (x * x + y * y + c1) * contrast.all[i];
    }
    s.all[k / channels] += total / static_cast<double>(contrast.all.size() * channels);
    s.contrast[k / channels] += mean(Numbers(cropped(contrast, pads).all)) / static_cast<double>(channels);
  }
  return s;
}

#define RANGE "reduction='elementwise_mean', data_range=None, k1=0.01, k2=0.03"
const MetricRow ssim(
    "StructuralSimilarityIndexMeasure", "structural_similarity_index_measure",
    "gaussian_kernel=True, sigma=1.5, kernel_size=11, " RANGE, "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = image_pair(in, 4, 5);
      State s;
      put_reduced(s, o, similarity(o, in, p, t).all);
      return s;
    },
    reduced);

// Half of each extent, by means of pairs.
Numbers halved(const Numbers &n) {
  Numbers out;
  out.shape = {n.extent(0), n.extent(1)};
  for (size_t k = 0; k < plane_count(n); ++k) {
    Plane p = plane(n, k);
    p = smoothed(p, std::vector<Kernel>(p.extents.size(), box(2)));
    Shape extents;
    for (const int64_t e : p.extents) extents.push_back((e + 1) / 2);
    if (k == 0) out.shape.insert(out.shape.end(), extents.begin(), extents.end());
    for (int64_t i = 0; i < elements(extents); ++i) {
      int64_t at = 0, rest = i, inside = elements(extents);
      for (size_t d = 0; d < extents.size(); ++d) {
        inside /= extents[d];
        at = at * p.extents[d] + rest / inside * 2;
        rest %= inside;
      }
      out.all.push_back(p.all[static_cast<size_t>(at)]);
    }
  }
  return out;
}
const MetricRow multi_scale(
    "MultiScaleStructuralSimilarityIndexMeasure", "multiscale_structural_similarity_index_measure",
    "gaussian_kernel=True, kernel_size=11, sigma=1.5, " RANGE
    ", betas=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), normalize='relu'",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      auto [p, t] = image_pair(in, 4, 5);
      const std::vector<double> betas = o.reals("betas");
      const std::string normalize = word_or_none(o, "normalize", {"relu", "simple"});
      const auto scales = static_cast<int64_t>(betas.size()),
                 shares = std::max<int64_t>(1, (scales - 1) * (scales - 1));
      const std::vector<int64_t> sizes = sizes_of(o, static_cast<size_t>(p.rank() - 2));
      for (const int64_t e : {p.shape[p.shape.size() - 1], p.shape[p.shape.size() - 2]})
        if (e < (int64_t{1} << scales) || e / shares <= sizes[0] - 1)
          in.refuse("preds", "larger images for so many 'betas' and that 'kernel_size'");
      std::vector<double> all(static_cast<size_t>(p.extent(0)), 1.0);
      for (size_t scale = 0; scale < betas.size(); ++scale) {
        const Similarity s = similarity(o, in, p, t);
        for (size_t i = 0; i < all.size(); ++i) {
          double x = scale + 1 == betas.size() ? s.all[i] : s.contrast[i];
          if (normalize == "relu") x = std::max(x, 0.0);
          if (normalize == "simple") x = (x + 1) / 2;
          all[i] *= std::pow(x, betas[scale]);
        }
        if (scale + 1 < betas.size()) p = halved(p), t = halved(t);
      }
      State s;
      put_reduced(s, o, all);
      return s;
    },
    reduced, nullptr,
    "preds, target, gaussian_kernel=True, sigma=1.5, kernel_size=11, " RANGE
    ", betas=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), normalize='relu'");

const MetricRow universal(
    "UniversalImageQualityIndex", "universal_image_quality_index",
    "kernel_size=(11, 11), sigma=(1.5, 1.5), reduction='elementwise_mean'", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = image_pair(in);
      Numbers map;
      for (size_t k = 0; k < plane_count(p); ++k) {
        const Plane q = universal_quality(in, plane(p, k), plane(t, k), sizes_of(o, 2), o.reals("sigma", 2));
        map.shape = {p.extent(0), p.extent(1), q.extents[0], q.extents[1]};
        map.all.insert(map.all.end(), q.all.begin(), q.all.end());
      }
      State s;
      put_reduced(s, o, map);
      return s;
    },
    reduced);

// ---- Visual information fidelity (Sheikh and Bovik, 2006): what is left of the information of a source behind a channel.

double fidelity(Plane pred, Plane target, double noise) {
  constexpr double small = 1e-10;
  double kept = 0, all = 0;
  for (int scale = 0; scale < 4; ++scale) {
    const int64_t n = (int64_t{1} << (4 - scale)) + 1;
    const std::vector<Kernel> kernels(2, gaussian(n, static_cast<double>(n) / 5));
    if (scale > 0)
      for (Plane *p : {&pred, &target}) {
        const Plane s = smoothed(*p, kernels);
        *p = {{(s.extents[0] + 1) / 2, (s.extents[1] + 1) / 2}, {}};
        for (size_t y = 0; y < s.height(); y += 2)
          for (size_t x = 0; x < s.width(); x += 2) p->all.push_back(s.all[y * s.width() + x]);
      }
    const Local l(pred, target, kernels);
    for (size_t i = 0; i < l.covariance.all.size(); ++i) {
      double of_target = l.variance_b.all[i], gain = l.covariance.all[i] / (of_target + small);
      const double of_pred = l.variance_a.all[i];
      double rest = of_pred - gain * l.covariance.all[i];
      if (of_target < small) gain = 0, rest = of_pred, of_target = 0;
      if (of_pred < small) gain = 0, rest = 0;
      if (gain < 0) gain = 0, rest = of_pred;
      rest = std::max(rest, small);
      kept += std::log10(1 + gain * gain * of_target / (rest + noise));
      all += std::log10(1 + of_target / noise);
    }
  }
  return kept / all;
}
const MetricRow visual(
    "VisualInformationFidelity", "visual_information_fidelity", "sigma_n_sq=2.0, reduction='mean'", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = image_pair(in);
      if (p.extent(2) < 41 || p.extent(3) < 41) in.refuse("preds", "images of 41 by 41 or more");
      std::vector<double> each(static_cast<size_t>(p.extent(0)));
      const auto channels = static_cast<size_t>(p.extent(1));
      for (size_t k = 0; k < plane_count(p); ++k)
        each[k / channels] += fidelity(plane(p, k), plane(t, k), o.real("sigma_n_sq")) / static_cast<double>(channels);
      State s;
      put_reduced(s, o, each);
      return s;
    },
    reduced);

}  // namespace

const void *structural_similarity() { return &ssim; }

}  // namespace saltern::metrics
