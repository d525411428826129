#include "runtime/transforms/resampling.h"

#include <algorithm>
#include <cmath>

namespace saltern::transforms {

namespace {

// What an output is made of: weights of inputs from `first` on, which may be outside.
struct Taps {
  int64_t first = 0;
  std::vector<float> weights;
};

double weight(Filter filter, double at, double sharpness) {
  at = std::abs(at);
  if (filter == Filter::bilinear) return std::max(1 - at, 0.0);
  if (at < 1) return ((sharpness + 2) * at - (sharpness + 3)) * at * at + 1;
  return at < 2 ? ((at - 5) * at + 8) * at * sharpness - 4 * sharpness : 0;
}

std::vector<Taps> taps_of(int64_t in, int64_t out, Filter filter, bool antialias) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  std::vector<Taps> all(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    Taps &t = all[static_cast<size_t>(i)];
    const auto at = static_cast<double>(i);
    if (filter == Filter::nearest || filter == Filter::nearest_exact) {
      const double middle = filter == Filter::nearest ? 0 : 0.5;
      t = {std::min(static_cast<int64_t>((at + middle) * scale), in - 1), {1}};
      continue;
    }
    const double half = filter == Filter::bilinear ? 1 : 2, center = (at + 0.5) * scale;
    if (antialias) {
      const double wide = std::max(scale, 1.0), reach = half * wide;
      t.first = std::max(static_cast<int64_t>(center - reach + 0.5), int64_t{0});
      const int64_t end = std::min(static_cast<int64_t>(center + reach + 0.5), in);
      double sum = 0;
      std::vector<double> weights;
      for (int64_t j = t.first; j < end; ++j) {
        weights.push_back(weight(filter, (static_cast<double>(j) - center + 0.5) / wide, -0.5));
        sum += weights.back();
      }
      for (const double w : weights) t.weights.push_back(static_cast<float>(w / sum));
      continue;
    }
    // Linear filters stop at the first pixel's middle.
    const double from = filter == Filter::bilinear ? std::max(center - 0.5, 0.0) : center - 0.5, low = std::floor(from);
    t.first = static_cast<int64_t>(low) - static_cast<int64_t>(half) + 1;
    for (int64_t j = 0; j < static_cast<int64_t>(2 * half); ++j)
      t.weights.push_back(static_cast<float>(weight(filter, from - static_cast<double>(t.first + j), -0.75)));
  }
  return all;
}

int64_t reflected(int64_t i, int64_t count) {
  if (count == 1) return 0;
  const int64_t period = 2 * (count - 1), at = ((i % period) + period) % period;
  return at < count ? at : period - at;
}
int64_t mirrored(int64_t i, int64_t count) {
  const int64_t period = 2 * count, at = ((i % period) + period) % period;
  return at < count ? at : period - 1 - at;
}

// to += weight from
void add_scaled(float *to, float weight, const float *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += weight * from[i];
}

float outside_of(const std::vector<float> &fill, int64_t plane, int64_t channels) {
  if (fill.empty()) return 0;
  return fill.size() == 1 ? fill[0] : fill[static_cast<size_t>(plane % channels)];
}

}  // namespace

Image resized(const Image &x, int64_t height, int64_t width, Filter filter, bool antialias) {
  if (height == x.height && width == x.width) return x;
  const std::vector<Taps> across = taps_of(x.width, width, filter, antialias);
  const std::vector<Taps> down = taps_of(x.height, height, filter, antialias);
  Image rows = x.like(x.height, width), y = x.like(height, width);
  for (int64_t p = 0; p < x.planes(); ++p) {
    for (int64_t i = 0; i < x.height; ++i)
      for (int64_t j = 0; j < width; ++j) {
        const Taps &t = across[static_cast<size_t>(j)];
        float sum = 0;
        for (size_t k = 0; k < t.weights.size(); ++k)
          sum += t.weights[k] *
                 x.plane(p)[i * x.width + std::clamp(t.first + static_cast<int64_t>(k), int64_t{0}, x.width - 1)];
        rows.plane(p)[i * width + j] = sum;
      }
    for (int64_t i = 0; i < height; ++i) {
      const Taps &t = down[static_cast<size_t>(i)];
      for (size_t k = 0; k < t.weights.size(); ++k) {
        const float *from =
            rows.plane(p) + width * std::clamp(t.first + static_cast<int64_t>(k), int64_t{0}, x.height - 1);
        add_scaled(y.plane(p) + i * width, t.weights[k], from, width);
      }
    }
  }
  round_whole(y);
  y.move([&](const Place &p) -> Place {
    return {p.x * static_cast<double>(width) / static_cast<double>(x.width),
            p.y * static_cast<double>(height) / static_cast<double>(x.height)};
  });
  return y;
}

Image part_of(const Image &x, int64_t top, int64_t left, int64_t height, int64_t width, float fill) {
  return padded(x, {-left, -top, left + width - x.width, top + height - x.height}, Edge::constant, {fill});
}

Image padded(const Image &x, const Padding &padding, Edge edge, const std::vector<float> &fill) {
  const int64_t height = x.height + padding.top + padding.bottom, width = x.width + padding.left + padding.right;
  if (height < 1 || width < 1) fail("padding leaves a picture of ", height, " x ", width, " pixels");
  Image y = x.like(height, width);
  const auto source = [edge](int64_t i, int64_t count) {
    return edge == Edge::edge        ? std::clamp(i, int64_t{0}, count - 1)
           : edge == Edge::reflect   ? reflected(i, count)
           : edge == Edge::symmetric ? mirrored(i, count)
                                     : (i < 0 || i >= count ? int64_t{-1} : i);
  };
  for (int64_t p = 0; p < x.planes(); ++p)
    for (int64_t i = 0; i < height; ++i)
      for (int64_t j = 0; j < width; ++j) {
        const int64_t row = source(i - padding.top, x.height), column = source(j - padding.left, x.width);
        y.plane(p)[i * width + j] =
            row < 0 || column < 0 ? outside_of(fill, p, x.channels) : x.plane(p)[row * x.width + column];
      }
  y.move([&](const Place &p) -> Place {
    return {p.x + static_cast<double>(padding.left), p.y + static_cast<double>(padding.top)};
  });
  return y;
}

Image flipped(const Image &x, bool across, bool down) {
  Image y = x;
  for (int64_t p = 0; p < x.planes(); ++p)
    for (int64_t i = 0; i < x.height; ++i)
      for (int64_t j = 0; j < x.width; ++j)
        y.plane(p)[i * x.width + j] =
            x.plane(p)[(down ? x.height - 1 - i : i) * x.width + (across ? x.width - 1 - j : j)];
  y.move([&](const Place &p) -> Place {
    return {across ? static_cast<double>(x.width) - p.x : p.x, down ? static_cast<double>(x.height) - p.y : p.y};
  });
  for (Place &p : y.keypoints)
    p = {across ? p.x - 1 : p.x, down ? p.y - 1 : p.y};  // which are pixels here, as torchvision's
  return y;
}

Image warped(const Image &x, int64_t height, int64_t width, const Where &from,
             const std::function<Place(const Place &)> &to, Filter filter, const std::vector<float> &fill) {
  if (filter != Filter::nearest && filter != Filter::bilinear) fail("pixels between others are nearest or bilinear");
  Image y = x.like(height, width);
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < width; ++j) {
      const Place at = from(j, i);
      const bool nearest = filter == Filter::nearest;
      const double left = nearest ? std::nearbyint(at.x) : std::floor(at.x),
                   top = nearest ? std::nearbyint(at.y) : std::floor(at.y);
      const double right_part = nearest ? 0 : at.x - left, lower_part = nearest ? 0 : at.y - top;
      // The four around it; those outside count nothing.
      struct {
        int64_t place;
        float weight;
      } around[4];
      int count = 0;
      float inside = 0;
      for (int dy = 0; dy < 2; ++dy)
        for (int dx = 0; dx < 2; ++dx) {
          const double w = (dx ? right_part : 1 - right_part) * (dy ? lower_part : 1 - lower_part);
          const double column = left + dx, row = top + dy;
          if (!(w > 0 && column >= 0 && row >= 0 && column < static_cast<double>(x.width) &&
                row < static_cast<double>(x.height)))
            continue;
          around[count++] = {static_cast<int64_t>(row) * x.width + static_cast<int64_t>(column), static_cast<float>(w)};
          inside += static_cast<float>(w);
        }
      for (int64_t p = 0; p < x.planes(); ++p) {
        float sum = 0;
        for (int k = 0; k < count; ++k) sum += around[k].weight * x.plane(p)[around[k].place];
        const float outside = outside_of(fill, p, x.channels);
        y.plane(p)[i * width + j] = inside * (sum - outside) + outside;
      }
    }
  round_whole(y);
  y.move(to);
  return y;
}

Image filtered(const Image &x, const std::vector<float> &across, const std::vector<float> &down) {
  Image rows = x.like(x.height, x.width), y = rows;
  const auto reach = static_cast<int64_t>(across.size() / 2), reach_down = static_cast<int64_t>(down.size() / 2);
  std::vector<int64_t> columns;  // of a row with its reflections
  for (int64_t j = -reach; j < x.width + reach; ++j) columns.push_back(reflected(j, x.width));
  std::vector<float> wide(columns.size());
  for (int64_t p = 0; p < x.planes(); ++p) {
    for (int64_t i = 0; i < x.height; ++i) {
      for (size_t j = 0; j < columns.size(); ++j) wide[j] = x.plane(p)[i * x.width + columns[j]];
      for (size_t k = 0; k < across.size(); ++k)
        add_scaled(rows.plane(p) + i * x.width, across[k], wide.data() + k, x.width);
    }
    for (int64_t i = 0; i < x.height; ++i)
      for (size_t k = 0; k < down.size(); ++k)
        add_scaled(y.plane(p) + i * x.width, down[k],
                   rows.plane(p) + x.width * reflected(i + static_cast<int64_t>(k) - reach_down, x.height), x.width);
  }
  round_whole(y);
  return y;
}

std::vector<float> bell(int64_t size, double sigma) {
  std::vector<double> all;
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double k = static_cast<double>(i) - static_cast<double>(size - 1) / 2;
    all.push_back(std::exp(-0.5 * k * k / (sigma * sigma)));
    sum += all.back();
  }
  std::vector<float> kernel;
  for (const double v : all) kernel.push_back(static_cast<float>(v / sum));
  return kernel;
}

}  // namespace saltern::transforms
