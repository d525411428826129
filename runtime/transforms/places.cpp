// Transforms that take pixels from other places: flips, rotations, shears, perspective, waves, blur.

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/transforms/rows.h"

namespace saltern::transforms {

namespace {

// One number is both ends.
std::pair<double, double> degrees_of(const Arguments &a, const char *name) {
  if (a[name].as<Argument::List>()) return range_of(a, name);
  const double d = a.real(name);
  if (!(d >= 0)) a.refuse(name, "a number of 0 or more, or two");
  return {-d, d};
}

// From the middle of the picture; (0, 0) where nothing was said.
std::pair<double, double> center_of(const Arguments &a, const Image &x) {
  if (!a.has("center")) return {0, 0};
  const std::vector<double> c = a.reals("center", 2);
  return {c[0] - static_cast<double>(x.width) / 2, c[1] - static_cast<double>(x.height) / 2};
}

// Of a picture that is turned, so that all of it can be seen.
std::pair<int64_t, int64_t> expanded(const Image &x, const Affine &m) {
  const double w = static_cast<double>(x.width) / 2, h = static_cast<double>(x.height) / 2;
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (const double i : {-w, w})
    for (const double j : {-h, h}) {
      const double at[2] = {m.a * i + m.b * j + m.c + w, m.d * i + m.e * j + m.f + h};
      for (int k = 0; k < 2; ++k) low[k] = std::min(low[k], at[k]), high[k] = std::max(high[k], at[k]);
    }
  const auto size = [&](int k) {
    const auto cut = [](double v) { return std::trunc(static_cast<float>(v) * 1e3F) / 1e3F; };
    return static_cast<int64_t>(std::ceil(cut(high[k])) - std::floor(cut(low[k])));
  };
  return {size(1), size(0)};
}

Image rotated(const Arguments &a, Random &random, const Image &x) {
  const auto [low, high] = degrees_of(a, "degrees");
  const auto [cx, cy] = center_of(a, x);
  const Affine m = inverse_affine(cx, cy, -drawn(random, low, high), 0, 0, 1, 0, 0);
  const auto [height, width] = a.flag("expand") ? expanded(x, m) : std::pair(x.height, x.width);
  return moved(x, m, height, width, filter_of(a), fill_of(a, x));
}

Image affine(const Arguments &a, Random &random, const Image &x) {
  const auto [low, high] = degrees_of(a, "degrees");
  const double turn = drawn(random, low, high);
  double right = 0, down = 0, scale = 1, shear_x = 0, shear_y = 0;
  if (a.has("translate")) {
    const std::vector<double> part = a.reals("translate", 2);
    const double most_x = part[0] * static_cast<double>(x.width), most_y = part[1] * static_cast<double>(x.height);
    right = std::nearbyint(drawn(random, -most_x, most_x));
    down = std::nearbyint(drawn(random, -most_y, most_y));
  }
  if (a.has("scale")) scale = drawn(random, range_of(a, "scale").first, range_of(a, "scale").second);
  if (a.has("shear")) {
    const auto *list = a["shear"].as<Argument::List>();
    if (list && list->size() == 4) {
      const std::vector<double> s = a.reals("shear", 4);
      shear_x = drawn(random, s[0], s[1]);
      shear_y = drawn(random, s[2], s[3]);
    } else {
      const auto [least, most] = degrees_of(a, "shear");
      shear_x = drawn(random, least, most);
    }
  }
  const auto [cx, cy] = center_of(a, x);
  return moved(x, inverse_affine(cx, cy, turn, right, down, scale, shear_x, shear_y), x.height, x.width, filter_of(a),
               fill_of(a, x));
}

void check_affine(const Arguments &a) {
  degrees_of(a, "degrees");
  if (a.has("translate"))
    for (const double t : a.reals("translate", 2))
      if (!(t >= 0 && t <= 1)) a.refuse("translate", "parts of the width and the height, 0 to 1");
  if (a.has("scale") && !(range_of(a, "scale").first > 0)) a.refuse("scale", "numbers above 0");
  filter_of(a);
}

using Corners = std::array<Place, 4>;

// The eight numbers of x' = (c0 x + c1 y + c2) / (c6 x + c7 y + 1), y' = (c3 x + c4 y + c5) / (...), by elimination.
std::array<double, 8> perspective_of(const Corners &from, const Corners &to) {
  double m[8][9] = {};
  for (int i = 0; i < 4; ++i) {
    const double x = from[i].x, y = from[i].y,
                 rows[2][9] = {{x, y, 1, 0, 0, 0, -x * to[i].x, -y * to[i].x, to[i].x},
                               {0, 0, 0, x, y, 1, -x * to[i].y, -y * to[i].y, to[i].y}};
    for (int r = 0; r < 2; ++r) std::copy(rows[r], rows[r] + 9, m[2 * i + r]);
  }
  for (int k = 0; k < 8; ++k) {
    int pivot = k;
    for (int r = k + 1; r < 8; ++r)
      if (std::abs(m[r][k]) > std::abs(m[pivot][k])) pivot = r;
    if (m[pivot][k] == 0) fail("three corners are on one line");
    std::swap_ranges(m[k], m[k] + 9, m[pivot]);
    for (int r = 0; r < 8; ++r) {
      if (r == k) continue;
      const double f = m[r][k] / m[k][k];
      for (int c = k; c < 9; ++c) m[r][c] -= f * m[k][c];
    }
  }
  std::array<double, 8> all = {};
  for (int k = 0; k < 8; ++k) all[static_cast<size_t>(k)] = m[k][8] / m[k][k];
  return all;
}

Image in_perspective(const Arguments &a, Random &random, const Image &x) {
  const auto reach = [&](int64_t extent) {
    return static_cast<int64_t>(a.real("distortion_scale") * static_cast<double>(extent / 2));
  };
  const auto near = [&](int64_t extent) { return static_cast<double>(drawn_below(random, 0, reach(extent) + 1)); };
  const auto far = [&](int64_t extent) {
    return static_cast<double>(drawn_below(random, extent - reach(extent) - 1, extent));
  };
  const double right = static_cast<double>(x.width - 1), bottom = static_cast<double>(x.height - 1);
  const Corners begin = {{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
  Corners end = {};
  end[0].x = near(x.width), end[0].y = near(x.height);
  end[1].x = far(x.width), end[1].y = near(x.height);
  end[2].x = far(x.width), end[2].y = far(x.height);
  end[3].x = near(x.width), end[3].y = far(x.height);
  const std::array<double, 8> c = perspective_of(end, begin);
  const Where where = [&](int64_t column, int64_t row) -> Place {
    const double i = static_cast<double>(column) + 0.5, j = static_cast<double>(row) + 0.5, z = c[6] * i + c[7] * j + 1;
    return {(c[0] * i + c[1] * j + c[2]) / z - 0.5, (c[3] * i + c[4] * j + c[5]) / z - 0.5};
  };
  const std::array<double, 8> b = perspective_of(begin, end);
  const auto to = [&](const Place &p) -> Place {
    const double z = b[6] * p.x + b[7] * p.y + 1;
    return {(b[0] * p.x + b[1] * p.y + b[2]) / z, (b[3] * p.x + b[4] * p.y + b[5]) / z};
  };
  return warped(x, x.height, x.width, where, to, filter_of(a), fill_of(a, x));
}

// Noise that is smoothed, as shifts of pixels.
Image elastic(const Arguments &a, Random &random, const Image &x) {
  const std::vector<double> alpha = a.reals("alpha", 2), sigma = a.reals("sigma", 2);
  const auto shifts = [&](size_t k, int64_t of, int64_t extent) {
    Image noise{{}, 1, x.height, x.width, {}, Type::f32};
    for (int64_t i = 0; i < x.area(); ++i) noise.pixels.push_back(random.uniform(-1, 1));
    if (sigma[k] > 0) {
      const int64_t size = static_cast<int64_t>(8 * sigma[k] + 1) | 1;
      noise = filtered(noise, bell(size, sigma[0]), bell(size, sigma[1]));
    }
    for (float &v : noise.pixels)
      v *= static_cast<float>(alpha[k] / static_cast<double>(of) * static_cast<double>(extent) / 2);
    return noise;
  };
  const Image across = shifts(0, x.height, x.width), down = shifts(1, x.width, x.height);
  const Where where = [&](int64_t column, int64_t row) -> Place {
    const int64_t at = row * x.width + column;
    return {static_cast<double>(column) + across.plane(0)[at], static_cast<double>(row) + down.plane(0)[at]};
  };
  // Nearly the other way round: by the shift of where a place was.
  const auto to = [&](const Place &p) -> Place {
    const auto inside = [](double v, int64_t extent) {
      return std::clamp(static_cast<int64_t>(v), int64_t{0}, extent - 1);
    };
    const int64_t at = inside(p.y, x.height) * x.width + inside(p.x, x.width);
    return {p.x - static_cast<double>(across.plane(0)[at]), p.y - static_cast<double>(down.plane(0)[at])};
  };
  return warped(x, x.height, x.width, where, to, filter_of(a), fill_of(a, x));
}

Image blurred(const Arguments &a, Random &random, const Image &x) {
  const std::vector<int64_t> size = a.integers("kernel_size", 2);  // width and height
  const auto [low, high] = range_of(a, "sigma");
  const double sigma = drawn(random, low, high);
  return filtered(x, bell(size[0], sigma), bell(size[1], sigma));
}

void check_blur(const Arguments &a) {
  for (const int64_t s : a.integers("kernel_size", 2))
    if (s < 1 || s % 2 == 0) a.refuse("kernel_size", "odd numbers");
  if (!(range_of(a, "sigma").first > 0)) a.refuse("sigma", "numbers above 0");
}

}  // namespace

std::vector<TransformRow> place_rows() {
  const Signature called = of_sample();
  return {
      {"RandomHorizontalFlip", Signature("p=0.5"),
       sometimes([](const Arguments &, Random &, const Image &x) { return flipped(x, true, false); }), called,
       expect_probability},
      {"RandomVerticalFlip", Signature("p=0.5"),
       sometimes([](const Arguments &, Random &, const Image &x) { return flipped(x, false, true); }), called,
       expect_probability},
      {"RandomRotation", Signature("degrees, interpolation='nearest', expand=False, center=None, fill=0"),
       of_image(rotated), called, [](const Arguments &a) { degrees_of(a, "degrees"); }},
      {"RandomAffine",
       Signature("degrees, translate=None, scale=None, shear=None, interpolation='nearest', fill=0, center=None"),
       of_image(affine), called, check_affine},
      {"RandomPerspective", Signature("distortion_scale=0.5, p=0.5, interpolation='bilinear', fill=0"),
       sometimes(in_perspective), called,
       [](const Arguments &a) {
         expect_probability(a);
         if (const double d = a.real("distortion_scale"); !(d >= 0 && d <= 1)) a.refuse("distortion_scale", "0 to 1");
       }},
      {"ElasticTransform", Signature("alpha=50.0, sigma=5.0, interpolation='bilinear', fill=0"), of_image(elastic)},
      {"GaussianBlur", Signature("kernel_size, sigma=(0.1, 2.0)"), of_image(blurred), called, check_blur},
  };
}

}  // namespace saltern::transforms
