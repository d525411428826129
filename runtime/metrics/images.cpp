#include "runtime/metrics/images.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace saltern::metrics {

size_t plane_count(const Numbers &images) { return static_cast<size_t>(images.extent(0) * images.extent(1)); }
Plane plane(const Numbers &images, size_t number) {
  const auto size = static_cast<size_t>(images.extent_from(2));
  return {{images.shape.begin() + 2, images.shape.end()},
          {images.begin() + number * size, images.begin() + (number + 1) * size}};
}

Kernel gaussian(int64_t size, double sigma) {
  Kernel k;
  for (int64_t i = 0; i < size; ++i) {
    const double x = (static_cast<double>(i) - static_cast<double>(size - 1) / 2) / sigma;
    k.push_back(std::exp(-x * x / 2));
  }
  const double all = std::accumulate(k.begin(), k.end(), 0.0);
  for (double &x : k) x /= all;
  return k;
}
Kernel box(int64_t size) { return Kernel(static_cast<size_t>(size), 1 / static_cast<double>(size)); }

namespace {
// Along one dimension each place of the result from some of the given ones.
template <typename Of>
Plane along(const Plane &p, size_t d, int64_t extent, const Of &of) {
  Plane out{p.extents, {}};
  out.extents[d] = extent;
  const auto inner =
      static_cast<size_t>(elements(Shape(p.extents.begin() + static_cast<int64_t>(d) + 1, p.extents.end())));
  const auto outer = p.all.size() / (inner * static_cast<size_t>(p.extents[d]));
  out.all.resize(outer * static_cast<size_t>(extent) * inner);
  for (size_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < extent; ++i)
      for (size_t k = 0; k < inner; ++k)
        out.all[(o * static_cast<size_t>(extent) + static_cast<size_t>(i)) * inner + k] =
            of(p.all.data() + o * static_cast<size_t>(p.extents[d]) * inner + k, i, inner);
  return out;
}
}  // namespace

Plane smoothed(const Plane &p, const std::vector<Kernel> &kernels) {
  Plane out = p;
  for (size_t d = 0; d < kernels.size(); ++d) {
    const Kernel &kernel = kernels[d];
    const int64_t extent = std::max<int64_t>(out.extents[d] - static_cast<int64_t>(kernel.size()) + 1, 0);
    out = along(out, d, extent, [&](const double *line, int64_t i, size_t stride) {
      double all = 0;
      for (size_t k = 0; k < kernel.size(); ++k) all += kernel[k] * line[(static_cast<size_t>(i) + k) * stride];
      return all;
    });
  }
  return out;
}

Plane reflected(const Arguments &in, const Plane &p, const std::vector<int64_t> &before,
                const std::vector<int64_t> &behind, bool edge_twice) {
  Plane out = p;
  for (size_t d = 0; d < before.size(); ++d) {
    const int64_t n = out.extents[d], once = edge_twice ? 0 : 1;
    if (before[d] + once > n || behind[d] + once > n) in.refuse("preds", "larger images than the window");
    out = along(out, d, n + before[d] + behind[d], [&, b = before[d]](const double *line, int64_t i, size_t stride) {
      int64_t at = i - b;
      if (at < 0) at = -at - 1 + once;
      if (at >= n) at = 2 * n - 1 - at - once;
      return line[static_cast<size_t>(at) * stride];
    });
  }
  return out;
}

Plane window_means(const Arguments &in, const Plane &p, int64_t w) {
  const int64_t before = w / 2, behind = w - 1 - before;
  return smoothed(reflected(in, p, {before, before}, {behind, behind}, true), {box(w), box(w)});
}

Plane cropped(const Plane &p, const std::vector<int64_t> &less) {
  Plane out = p;
  for (size_t d = 0; d < less.size(); ++d)
    out = along(out, d, std::max<int64_t>(out.extents[d] - 2 * less[d], 0),
                [&, l = less[d]](const double *line, int64_t i, size_t stride) {
                  return line[static_cast<size_t>(i + l) * stride];
                });
  return out;
}

Plane product(const Plane &a, const Plane &b) {
  Plane out = a;
  std::transform(a.all.begin(), a.all.end(), b.all.begin(), out.all.begin(), std::multiplies<>());
  return out;
}

Local::Local(const Plane &a, const Plane &b, const std::vector<Kernel> &kernels)
    : mean_a(smoothed(a, kernels)),
      mean_b(smoothed(b, kernels)),
      variance_a(smoothed(product(a, a), kernels)),
      variance_b(smoothed(product(b, b), kernels)),
      covariance(smoothed(product(a, b), kernels)) {
  for (size_t i = 0; i < mean_a.all.size(); ++i) {
    const double x = mean_a.all[i], y = mean_b.all[i];
    variance_a.all[i] = std::max(variance_a.all[i] - x * x, 0.0);
    variance_b.all[i] = std::max(variance_b.all[i] - y * y, 0.0);
    covariance.all[i] -= x * y;
  }
}

Plane universal_quality(const Arguments &in, const Plane &a, const Plane &b, const std::vector<int64_t> &sizes,
                        const std::vector<double> &sigmas) {
  std::vector<Kernel> kernels;
  std::vector<int64_t> pads;
  for (size_t d = 0; d < 2; ++d) {
    kernels.push_back(gaussian(sizes[d], sigmas[d]));
    pads.push_back((sizes[d] - 1) / 2);
  }
  const Local l(reflected(in, a, pads, pads), reflected(in, b, pads, pads), kernels);
  Plane out = l.mean_a;
  for (size_t i = 0; i < out.all.size(); ++i) {
    const double x = l.mean_a.all[i], y = l.mean_b.all[i];
    out.all[i] = 4 * x * y * l.covariance.all[i] /
                 ((x * x + y * y) * (l.variance_a.all[i] + l.variance_b.all[i]) + 1.1920929e-07);
  }
  return cropped(out, pads);
}

std::pair<Numbers, Numbers> image_pair(const Arguments &in, int least, int most) {
  auto pair = alike(in);
  if (pair.first.rank() < least || pair.first.rank() > most)
    in.refuse("preds", "[batch, channels, height, width]" + std::string(most > 4 ? ", or with a depth" : ""));
  return pair;
}

void put_reduced(State &s, const Arguments &o, const Numbers &each) {
  if (word_or_none(o, "reduction", {"elementwise_mean", "mean", "sum"}) == "none")
    s.list("each", each);
  else
    s.sum("total", sum(each));
  s.sum("count", static_cast<double>(each.size()));
}
Argument reduced(const Arguments &o, const State &s) {
  const std::string how = word_or_none(o, "reduction", {"elementwise_mean", "mean", "sum"});
  return how == "none" ? result(s["each"]) : result(how == "sum" ? s["total"][0] : s["total"][0] / s["count"][0]);
}

}  // namespace saltern::metrics
