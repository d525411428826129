// Errors of pixels: peak signal to noise, variation, angles of spectra, and errors in windows.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/images.h"

namespace saltern::metrics {

namespace {

// One number, or the bounds that pixels are clamped to.
double data_range(const Arguments &o, Numbers *a = nullptr, Numbers *b = nullptr) {
  if (!o["data_range"].as<Argument::List>()) return o.real("data_range");
  const std::vector<double> bounds = o.reals("data_range", 2);
  if (!(bounds[0] < bounds[1])) o.refuse("data_range", "rising bounds");
  for (Numbers *n : {a, b})
    if (n)
      for (double &x : *n) x = std::clamp(x, bounds[0], bounds[1]);
  return bounds[1] - bounds[0];
}

const MetricRow psnr(
    "PeakSignalNoiseRatio", "peak_signal_noise_ratio",
    "data_range=3.0, base=10.0, reduction='elementwise_mean', dim=None", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      auto [p, t] = alike(in);
      data_range(o, &p, &t);
      // Errors are summed along some dimensions, or all.
      std::vector<bool> summed(p.shape.size(), !o.has("dim"));
      if (o.has("dim"))
        for (const int64_t d : o.integers("dim")) {
          if (d < -p.rank() || d >= p.rank()) o.refuse("dim", "dimensions of 'preds'");
          summed[static_cast<size_t>(d < 0 ? d + p.rank() : d)] = true;
        }
      size_t kept = 1;
      for (size_t d = 0; d < summed.size(); ++d) kept *= summed[d] ? 1 : static_cast<size_t>(p.shape[d]);
      Numbers errors(std::vector<double>(kept, 0.0)), counts = errors;
      for (size_t i = 0; i < p.size(); ++i) {
        size_t at = 0, rest = i, inside = p.size();
        for (size_t d = 0; d < summed.size(); ++d) {
          inside /= static_cast<size_t>(p.shape[d]);
          if (!summed[d]) at = at * static_cast<size_t>(p.shape[d]) + rest / inside;
          rest %= inside;
        }
        errors[at] += (p[i] - t[i]) * (p[i] - t[i]);
        ++counts[at];
      }
      State s;
      o.has("dim") ? s.list("errors", errors) : s.sum("errors", errors);
      o.has("dim") ? s.list("counts", counts) : s.sum("counts", counts);
      return s;
    },
    [](const Arguments &o, const State &s) {
      std::vector<double> all;
      for (size_t i = 0; i < s["errors"].size(); ++i)
        all.push_back((2 * std::log(data_range(o)) - std::log(s["errors"][i] / s["counts"][i])) * 10 /
                      std::log(o.real("base")));
      const std::string how = word_or_none(o, "reduction", {"elementwise_mean", "sum"});
      if (!o.has("dim")) return result(all[0]);
      return how == "none" ? result(all) : result(how == "sum" ? sum(Numbers(all)) : mean(Numbers(all)));
    });

// Blocks, as of JPEG, show where steps at their edges are larger than others: that counts as an error, too.
double blocks(const Arguments &o, const Numbers &p) {
  const int64_t size = o.integer("block_size");
  if (size < 1) o.refuse("block_size", "at least 1");
  const auto h = static_cast<size_t>(p.extent(2)), w = static_cast<size_t>(p.extent(3)),
             block = static_cast<size_t>(size);
  double at_edges = 0, others = 0;
  for (size_t k = 0; k < p.size(); ++k) {
    const size_t y = k / w % h, x = k % w;
    const auto step = [&](size_t other, size_t place) {
      const double d = p[k] - p[other];
      (place % block == block - 1 ? at_edges : others) += d * d;
    };
    if (x + 1 < w) step(k + 1, x);
    if (y + 1 < h) step(k + w, y);
  }
  const auto height = static_cast<double>(h), width = static_cast<double>(w), b = static_cast<double>(block);
  const double edges_x = height * (width / b) - 1, edges_y = width * (height / b) - 1;
  at_edges /= edges_x + edges_y;
  others /= height * (width - 1) - edges_x + width * (height - 1) - edges_y;
  return at_edges > others ? std::log2(b) / std::log2(std::min(height, width)) * (at_edges - others) : 0;
}
const MetricRow psnrb(
    "PeakSignalNoiseRatioWithBlockedEffect", "peak_signal_noise_ratio_with_blocked_effect", "data_range, block_size=8",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      auto [p, t] = image_pair(in);
      if (p.extent(1) != 1) in.refuse("preds", "one channel");
      data_range(o, &p, &t);
      double errors = 0;
      for (size_t i = 0; i < p.size(); ++i) errors += (p[i] - t[i]) * (p[i] - t[i]);
      State s;
      s.sum("errors", errors);
      s.sum("blocks", blocks(o, p));
      s.sum("count", static_cast<double>(p.size()));
      return s;
    },
    [](const Arguments &o, const State &s) {
      const double range = data_range(o);
      return result(10 * std::log10(range * range / (s["errors"][0] / s["count"][0] + s["blocks"][0])));
    });

const MetricRow variation(
    "TotalVariation", "total_variation", "reduction='sum'", "img",
    [](const Arguments &o, const Arguments &in) {
      const Numbers n = numbers(in, "img");
      if (n.rank() != 4) in.refuse("img", "[batch, channels, height, width]");
      const auto h = static_cast<size_t>(n.extent(2)), w = static_cast<size_t>(n.extent(3)),
                 inner = static_cast<size_t>(n.extent_from(1));
      std::vector<double> each(static_cast<size_t>(n.extent(0)));
      for (size_t i = 0; i < n.size(); ++i) {
        if (i % w + 1 < w) each[i / inner] += std::abs(n[i + 1] - n[i]);
        if (i / w % h + 1 < h) each[i / inner] += std::abs(n[i + w] - n[i]);
      }
      State s;
      put_reduced(s, o, each);
      return s;
    },
    reduced);

// ---- Of spectra: channels of a pixel, or bands.

const MetricRow angles(
    "SpectralAngleMapper", "spectral_angle_mapper", "reduction='elementwise_mean'", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = image_pair(in);
      if (p.extent(1) < 2) in.refuse("preds", "two channels or more");
      const auto channels = static_cast<size_t>(p.extent(1)), inner = static_cast<size_t>(p.extent_from(2));
      Numbers each({p.extent(0), p.extent(2), p.extent(3)}, {});
      for (size_t i = 0; i < p.size() / channels; ++i) {
        double dot = 0, pp = 0, tt = 0;
        for (size_t c = 0; c < channels; ++c) {
          const size_t at = (i / inner * channels + c) * inner + i % inner;
          dot += p[at] * t[at];
          pp += p[at] * p[at];
          tt += t[at] * t[at];
        }
        each.all.push_back(std::acos(std::clamp(dot / (std::sqrt(pp) * std::sqrt(tt)), -1.0, 1.0)));
      }
      State s;
      put_reduced(s, o, each);
      return s;
    },
    reduced);
const MetricRow ergas(
    "ErrorRelativeGlobalDimensionlessSynthesis", "error_relative_global_dimensionless_synthesis",
    "ratio=4, reduction='elementwise_mean'", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [p, t] = image_pair(in);
      const auto channels = static_cast<size_t>(p.extent(1)), inner = static_cast<size_t>(p.extent_from(2));
      std::vector<double> each;
      for (size_t i = 0; i < p.size(); i += channels * inner) {
        double all = 0;
        for (size_t c = 0; c < channels; ++c) {
          double errors = 0, total = 0;
          for (size_t k = i + c * inner; k < i + (c + 1) * inner; ++k) {
            errors += (p[k] - t[k]) * (p[k] - t[k]);
            total += t[k];
          }
          const auto n = static_cast<double>(inner);
          all += errors / n / (total / n * (total / n));
        }
        each.push_back(100 / o.real("ratio") * std::sqrt(all / static_cast<double>(channels)));
      }
      State s;
      put_reduced(s, o, each);
      return s;
    },
    reduced);

// ---- In windows that move over images: sums of maps, which images have in common.

State window_errors(const Arguments &o, const Arguments &in) {
  const auto [p, t] = image_pair(in);
  const int64_t w = o.integer("window_size");
  const auto less = static_cast<int64_t>(std::nearbyint(static_cast<double>(w) / 2));
  if (w < 1) o.refuse("window_size", "at least 1");
  if (less >= std::min(t.extent(2), t.extent(3))) o.refuse("window_size", "less than twice the images");
  const Shape shape(p.shape.begin() + 1, p.shape.end());
  Numbers roots = Numbers::zeros(shape), means = roots;
  const auto channels = static_cast<size_t>(p.extent(1)), inner = static_cast<size_t>(p.extent_from(2));
  double total = 0;
  for (size_t k = 0; k < plane_count(p); ++k) {
    const Plane a = plane(p, k), b = plane(t, k);
    Plane squares = a;
    for (size_t i = 0; i < squares.all.size(); ++i) squares.all[i] = (a.all[i] - b.all[i]) * (a.all[i] - b.all[i]);
    Plane root = window_means(in, squares, w);
    for (double &x : root.all) x = std::sqrt(x);
    const Plane target = window_means(in, b, w), middle = cropped(root, {less, less});
    for (size_t i = 0; i < inner; ++i) {
      roots[k % channels * inner + i] += root.all[i];
      means[k % channels * inner + i] += target.all[i] / static_cast<double>(w * w);
    }
    total += mean(Numbers(middle.all)) / static_cast<double>(channels);
  }
  State s;
  s.sum("roots", roots);
  s.sum("means", means);
  s.sum("total", total);
  s.sum("count", static_cast<double>(p.extent(0)));
  return s;
}
const MetricRow sliding("RootMeanSquaredErrorUsingSlidingWindow", "root_mean_squared_error_using_sliding_window",
                        "window_size=8", "preds, target", window_errors,
                        [](const Arguments &, const State &s) { return result(s["total"][0] / s["count"][0]); });
const MetricRow rase("RelativeAverageSpectralError", "relative_average_spectral_error", "window_size=8",
                     "preds, target", window_errors, [](const Arguments &o, const State &s) {
                       const Numbers &roots = s["roots"], &means = s["means"];
                       const auto channels = static_cast<size_t>(roots.extent(0)),
                                  inner = static_cast<size_t>(roots.extent_from(1));
                       const double n = s["count"][0], c = static_cast<double>(channels);
                       Plane map{{roots.extent(1), roots.extent(2)}, std::vector<double>(inner)};
                       for (size_t i = 0; i < inner; ++i) {
                         double squares = 0, target = 0;
                         for (size_t k = i; k < roots.size(); k += inner) {
                           squares += roots[k] / n * (roots[k] / n) / c;
                           target += means[k] / n / c;
                         }
                         map.all[i] = 100 / target * std::sqrt(squares);
                       }
                       const auto less =
                           static_cast<int64_t>(std::nearbyint(static_cast<double>(o.integer("window_size")) / 2));
                       return result(mean(Numbers(cropped(map, {less, less}).all)));
                     });

// The correlation of edges, which a high-pass filter leaves, in windows.
Plane filtered(const Arguments &in, const Plane &p, const Numbers &filter) {
  const int64_t rows = filter.extent(0), columns = filter.extent(1);
  const Plane padded = reflected(in, p, {(rows - 1) / 2, (columns - 1) / 2}, {rows / 2, columns / 2}, true);
  Plane out = p;
  for (size_t y = 0; y < p.height(); ++y)
    for (size_t x = 0; x < p.width(); ++x) {
      double all = 0;
      for (size_t i = 0; i < filter.size(); ++i) {
        const size_t r = i / static_cast<size_t>(columns), c = i % static_cast<size_t>(columns);
        all += filter[filter.size() - 1 - i] * padded.all[(y + r) * padded.width() + x + c];
      }
      out.all[y * p.width() + x] = 2 * all;
    }
  return out;
}
Plane with_zeros(const Plane &p, int64_t before, int64_t behind) {
  Plane out{{p.extents[0] + before + behind, p.extents[1] + before + behind}, {}};
  out.all.resize(static_cast<size_t>(elements(out.extents)));
  for (size_t y = 0; y < p.height(); ++y)
    std::copy_n(p.all.begin() + static_cast<int64_t>(y * p.width()), p.width(),
                out.all.begin() + (static_cast<int64_t>(y) + before) * out.extents[1] + before);
  return out;
}
const MetricRow correlation(
    "SpatialCorrelationCoefficient", "spatial_correlation_coefficient", "high_pass_filter=None, window_size=8",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      auto [p, t] = image_pair(in, 3);
      for (Numbers *n : {&p, &t})
        if (n->rank() == 3) n->shape.insert(n->shape.begin() + 1, 1);
      const int64_t w = o.integer("window_size");
      if (w < 1 || w > std::min(p.extent(2), p.extent(3))) o.refuse("window_size", "from 1 to the size of images");
      const Numbers filter = o.has("high_pass_filter") ? numbers(o, "high_pass_filter")
                                                       : Numbers({3, 3}, {-1, -1, -1, -1, 8, -1, -1, -1, -1});
      if (filter.rank() != 2) o.refuse("high_pass_filter", "a matrix");
      double total = 0;
      for (size_t k = 0; k < plane_count(p); ++k) {
        const Local l(with_zeros(filtered(in, plane(p, k), filter), w / 2, (w - 1) / 2),
                      with_zeros(filtered(in, plane(t, k), filter), w / 2, (w - 1) / 2), {box(w), box(w)});
        double sum = 0;
        for (size_t i = 0; i < l.covariance.all.size(); ++i)
          sum += ratio(l.covariance.all[i], std::sqrt(l.variance_a.all[i]) * std::sqrt(l.variance_b.all[i]));
        total += sum / static_cast<double>(l.covariance.all.size()) / static_cast<double>(p.extent(1));
      }
      State s;
      s.sum("total", total);
      s.sum("count", static_cast<double>(p.extent(0)));
      return s;
    },
    [](const Arguments &, const State &s) { return result(s["total"][0] / s["count"][0]); }, nullptr,
    "preds, target, window_size=8");

}  // namespace

const void *image_errors() { return &psnr; }

}  // namespace saltern::metrics
