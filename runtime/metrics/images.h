#pragma once
// Planes of images, [batch, channels, height, width] or with a depth, and windows that move over them.

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

// One channel of one image, of two dimensions or three.
struct Plane {
  Shape extents;
  std::vector<double> all;

  size_t height() const { return static_cast<size_t>(extents[0]); }
  size_t width() const { return static_cast<size_t>(extents[1]); }
};
// The plane of a channel of an image.
Plane plane(const Numbers &images, size_t number);
size_t plane_count(const Numbers &images);

using Kernel = std::vector<double>;
Kernel gaussian(int64_t size, double sigma);
Kernel box(int64_t size);
// A kernel along each dimension, where it fits.
Plane smoothed(const Plane &p, const std::vector<Kernel> &kernels);
// So many more on each side, reflected at the outermost (which stands once), or at the edge behind it (twice).
Plane reflected(const Arguments &in, const Plane &p, const std::vector<int64_t> &before,
                const std::vector<int64_t> &behind, bool edge_twice = false);
// Means of windows of w by w, at every pixel.
Plane window_means(const Arguments &in, const Plane &p, int64_t w);
// Less so many on each side.
Plane cropped(const Plane &p, const std::vector<int64_t> &less);
Plane product(const Plane &a, const Plane &b);

// What windows have: means, variances, which are not below 0, and covariances.
struct Local {
  Plane mean_a, mean_b, variance_a, variance_b, covariance;
  Local(const Plane &a, const Plane &b, const std::vector<Kernel> &kernels);
};
// The universal image quality index at each pixel but those at the edge.
Plane universal_quality(const Arguments &in, const Plane &a, const Plane &b,
                        const std::vector<int64_t> &sizes = {11, 11}, const std::vector<double> &sigmas = {1.5, 1.5});

// Two of one shape and so many dimensions.
std::pair<Numbers, Numbers> image_pair(const Arguments &in, int least = 4, int most = 4);
// Numbers of samples or pixels as the option 'reduction' says: their mean, their sum, or each.
void put_reduced(State &s, const Arguments &options, const Numbers &each);
Argument reduced(const Arguments &options, const State &s);

}  // namespace saltern::metrics
