// Transforms that give pictures of other sizes: resizing, parts, padding.

#include <algorithm>
#include <cmath>

#include "runtime/transforms/rows.h"

namespace saltern::transforms {

namespace {

using Sizes = std::pair<int64_t, int64_t>;

Image resized_to(const Arguments &a, const Image &x, const Sizes &to) {
  return resized(x, std::max(to.first, int64_t{1}), std::max(to.second, int64_t{1}), filter_of(a), a.flag("antialias"));
}

int64_t scaled(int64_t extent, double by) { return static_cast<int64_t>(static_cast<double>(extent) * by); }

// A size of one number is that of the shorter side; the longer one is at most `most`.
Sizes kept_ratio(const Image &x, int64_t shorter, int64_t most) {
  const int64_t low = std::min(x.height, x.width), high = std::max(x.height, x.width);
  int64_t other = static_cast<int64_t>(static_cast<double>(shorter * high) / static_cast<double>(low));
  if (most > 0 && other > most) {
    shorter = static_cast<int64_t>(static_cast<double>(most * shorter) / static_cast<double>(other));
    other = most;
  }
  return x.width <= x.height ? Sizes{other, shorter} : Sizes{shorter, other};
}

int64_t most_of(const Arguments &a) { return a.has("max_size") ? a.integer("max_size") : 0; }

Image resize(const Arguments &a, Random &, const Image &x) {
  if (!a.has("size")) {  // the longer side becomes max_size
    if (most_of(a) < 1) a.refuse("max_size", "pixels, where there is no size");
    const int64_t low = std::min(x.height, x.width), high = std::max(x.height, x.width), longer = most_of(a);
    const int64_t shorter = scaled(longer * low, 1 / static_cast<double>(high));
    return resized_to(a, x, x.width <= x.height ? Sizes{longer, shorter} : Sizes{shorter, longer});
  }
  const std::vector<int64_t> size = a.integers("size");
  if (size.size() == 2) {
    if (most_of(a) > 0) a.refuse("max_size", "None where a size is two numbers");
    return resized_to(a, x, height_and_width(a, "size"));
  }
  const int64_t shorter = height_and_width(a, "size").first;
  if (a.has("max_size") && most_of(a) <= shorter) a.refuse("max_size", "more than the size");
  return resized_to(a, x, kept_ratio(x, shorter, most_of(a)));
}

Padding padding_of(const Arguments &a) {
  const std::vector<int64_t> p = a.integers("padding");
  if (p.size() == 1) return {p[0], p[0], p[0], p[0]};
  if (p.size() == 2) return {p[0], p[1], p[0], p[1]};
  if (p.size() != 4)
    a.refuse("padding", "one number, two (left and right, top and bottom) or four (left, top, right, bottom)");
  return {p[0], p[1], p[2], p[3]};
}

Image with_padding(const Arguments &a, const Image &x, const Padding &p) {
  const std::string &mode = a.word("padding_mode", {"constant", "edge", "reflect", "symmetric"});
  const Edge edge = mode == "constant"  ? Edge::constant
                    : mode == "edge"    ? Edge::edge
                    : mode == "reflect" ? Edge::reflect
                                        : Edge::symmetric;
  return padded(x, p, edge, fill_of(a, x));
}

Image center(const Arguments &a, const char *name, Image x) {
  const auto [height, width] = height_and_width(a, name);
  const int64_t down = std::max(height - x.height, int64_t{0}), right = std::max(width - x.width, int64_t{0});
  if (down > 0 || right > 0) x = padded(x, {right / 2, down / 2, (right + 1) / 2, (down + 1) / 2}, Edge::constant, {0});
  // Ties to even numbers, as Python rounds.
  const auto half = [](int64_t room) { return static_cast<int64_t>(std::nearbyint(static_cast<double>(room) / 2)); };
  return part_of(x, half(x.height - height), half(x.width - width), height, width);
}

Image random_crop(const Arguments &a, Random &random, Image x) {
  const auto [height, width] = height_and_width(a, "size");
  if (a.has("padding")) x = with_padding(a, x, padding_of(a));
  const int64_t down = std::max(height - x.height, int64_t{0}), right = std::max(width - x.width, int64_t{0});
  if (down > 0 || right > 0) {
    if (!a.flag("pad_if_needed"))
      fail("a picture is ", x.height, " x ", x.width, "; a part of ", height, " x ", width, " is larger");
    x = with_padding(a, x, {right, down, right, down});
  }
  const int64_t top = drawn_below(random, 0, x.height - height + 1), left = drawn_below(random, 0, x.width - width + 1);
  return part_of(x, top, left, height, width);
}

struct Part {
  int64_t top, left, height, width;
};

// One whose area and ratio are drawn; where ten draws do not fit, the largest in the middle.
Part some_part(Random &random, const Image &x, std::pair<double, double> scale, std::pair<double, double> ratio) {
  for (int i = 0; i < 10; ++i) {
    const double area = static_cast<double>(x.area()) * drawn(random, scale.first, scale.second);
    const double aspect = std::exp(drawn(random, std::log(ratio.first), std::log(ratio.second)));
    const auto width = static_cast<int64_t>(std::nearbyint(std::sqrt(area * aspect))),
               height = static_cast<int64_t>(std::nearbyint(std::sqrt(area / aspect)));
    if (width < 1 || height < 1 || width > x.width || height > x.height) continue;
    const int64_t top = drawn_below(random, 0, x.height - height + 1);
    return {top, drawn_below(random, 0, x.width - width + 1), height, width};
  }
  const double is = static_cast<double>(x.width) / static_cast<double>(x.height);
  int64_t width = x.width, height = x.height;
  if (is < ratio.first) height = static_cast<int64_t>(std::nearbyint(static_cast<double>(width) / ratio.first));
  if (is > ratio.second) width = static_cast<int64_t>(std::nearbyint(static_cast<double>(height) * ratio.second));
  return {(x.height - height) / 2, (x.width - width) / 2, height, width};
}

Image random_resized_crop(const Arguments &a, Random &random, const Image &x) {
  const Part p = some_part(random, x, range_of(a, "scale"), range_of(a, "ratio"));
  return resized_to(a, part_of(x, p.top, p.left, p.height, p.width), height_and_width(a, "size"));
}

void check_ranges(const Arguments &a) {
  height_and_width(a, "size");
  if (!(range_of(a, "scale").first > 0)) a.refuse("scale", "numbers above 0");
  if (!(range_of(a, "ratio").first > 0)) a.refuse("ratio", "numbers above 0");
}

Image random_resize(const Arguments &a, Random &random, const Image &x) {
  const int64_t low = a.integer("min_size"), high = a.integer("max_size");
  if (low < 1 || high <= low) a.refuse("max_size", "more than min_size, which is 1 or more");
  return resized_to(a, x, kept_ratio(x, drawn_below(random, low, high), 0));
}

Image random_shortest(const Arguments &a, Random &random, const Image &x) {
  const std::vector<int64_t> all = a.integers("min_size");
  const int64_t chosen = all[random.below(all.size())];
  double r = static_cast<double>(chosen) / static_cast<double>(std::min(x.height, x.width));
  if (most_of(a) > 0)
    r = std::min(r, static_cast<double>(most_of(a)) / static_cast<double>(std::max(x.height, x.width)));
  return resized_to(a, x, {scaled(x.height, r), scaled(x.width, r)});
}

Image scale_jitter(const Arguments &a, Random &random, const Image &x) {
  const auto [height, width] = height_and_width(a, "target_size");
  const auto [low, high] = range_of(a, "scale_range");
  const double r = drawn(random, low, high) * std::min(static_cast<double>(height) / static_cast<double>(x.height),
                                                       static_cast<double>(width) / static_cast<double>(x.width));
  return resized_to(a, x, {scaled(x.height, r), scaled(x.width, r)});
}

Image zoom_out(const Arguments &a, Random &random, const Image &x) {
  const auto [low, high] = range_of(a, "side_range");
  if (!(low >= 1)) a.refuse("side_range", "numbers of 1 or more");
  const double r = drawn(random, low, high);
  const int64_t down = scaled(x.height, r) - x.height, right = scaled(x.width, r) - x.width;
  const int64_t left = scaled(right, drawn(random, 0, 1)), top = scaled(down, drawn(random, 0, 1));
  return padded(x, {left, top, right - left, down - top}, Edge::constant, fill_of(a, x));
}

Argument::List five(const Arguments &a, const Image &x) {
  const auto [height, width] = height_and_width(a, "size");
  if (height > x.height || width > x.width)
    fail(a.owner(), ": a picture is ", x.height, " x ", x.width, "; parts of ", height, " x ", width, " are larger");
  Argument::List all;
  for (const int64_t top : {int64_t{0}, x.height - height})
    for (const int64_t left : {int64_t{0}, x.width - width})
      all.push_back(tensor_of(part_of(x, top, left, height, width)));
  all.push_back(tensor_of(center(a, "size", x)));
  return all;
}

Argument five_crop(const Arguments &a, Random &, const Arguments &in) {
  return five(a, image_of(a.owner(), in.variable("inpt").value()));
}

Argument ten_crop(const Arguments &a, Random &, const Arguments &in) {
  const Image x = image_of(a.owner(), in.variable("inpt").value());
  Argument::List all = five(a, x);
  const bool down = a.flag("vertical_flip");
  for (const Argument &more : five(a, flipped(x, !down, down))) all.push_back(more);
  return all;
}

}  // namespace

std::vector<TransformRow> size_rows() {
  const Signature called = of_sample(), alone("inpt");
  const auto check_size = [](const Arguments &a) { height_and_width(a, "size"); };
  const auto check_resize = [](const Arguments &a) { filter_of(a); };
  return {
      {"Resize", Signature("size, interpolation='bilinear', max_size=None, antialias=True"), of_image(resize), called,
       check_resize},
      {"CenterCrop", Signature("size"),
       of_image([](const Arguments &a, Random &, const Image &x) { return center(a, "size", x); }), called, check_size},
      {"Pad", Signature("padding, fill=0, padding_mode='constant'"),
       of_image([](const Arguments &a, Random &, const Image &x) { return with_padding(a, x, padding_of(a)); }), called,
       [](const Arguments &a) { padding_of(a); }},
      {"RandomCrop", Signature("size, padding=None, pad_if_needed=False, fill=0, padding_mode='constant'"),
       of_image(random_crop), called, check_size},
      {"RandomResizedCrop",
       Signature("size, scale=(0.08, 1.0), ratio=(0.75, 1.3333333333333333), " + interpolation_and_antialias),
       of_image(random_resized_crop), called, check_ranges},
      {"RandomResize", Signature("min_size, max_size, " + interpolation_and_antialias), of_image(random_resize)},
      {"RandomShortestSize", Signature("min_size, max_size=None, " + interpolation_and_antialias),
       of_image(random_shortest)},
      {"ScaleJitter", Signature("target_size, scale_range=(0.1, 2.0), " + interpolation_and_antialias),
       of_image(scale_jitter)},
      {"RandomZoomOut", Signature("fill=0, side_range=(1.0, 4.0), p=0.5"), sometimes(zoom_out), called,
       expect_probability},
      {"FiveCrop", Signature("size"), five_crop, alone, check_size},
      {"TenCrop", Signature("size, vertical_flip=False"), ten_crop, alone, check_size},
  };
}

}  // namespace saltern::transforms
