// Changes of images (n, c, h, w), or of one, that training sees: with Keras' names and arguments, channels second. What is
// random is drawn for each image anew from the stream that dropout has; where nothing is said of it, images that are no
// training stay.

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/random_stream.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/noise.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using namespace formula;
using F = formula::Function;

const Operation uniform_numbers("uniform_numbers", [](const Values &in, const Attributes &a) -> Values {
  return {uniform_beside(in.at(0), in.at(1)) * (a.real("high") - a.real("low")) + a.real("low")};
});

struct Range {
  double low, high;
};

// One layer's call: images, what it was made with, and draws.
struct Change {
  const Arguments &made;
  Variable x;  // (n, c, h, w)

  // A number is one side of a range that may not go below `least`.
  Range range(const char *name, double least) const {
    if (!made[name].as<Argument::List>()) {
      const double f = std::abs(made.real(name));
      return {std::max(-f, least), f};
    }
    const std::vector<double> both = made.reals(name, 2);
    return {std::min(both[0], both[1]), std::max(both[0], both[1])};
  }
  Range values() const { return range("value_range", -INFINITY); }

  Variable numbers(const Shape &shape, const std::vector<double> &all) const {
    return to_type(Tensor::of<double>(shape, all), x.value().type());
  }
  // (n, 1, 1, 1), or one for all.
  Variable drawn(const Range &r, bool for_each = true) const {
    const Variable like = Tensor::zeros({for_each ? x.shape()[0] : 1, 1, 1, 1}, x.value().type());
    return apply_one(uniform_numbers, {like, drawn_beside(like, made.owner())}, {{"low", r.low}, {"high", r.high}});
  }
  // Which images a change with this probability is of; itself drawn from a range.
  Variable chosen(const Range &probability) const { return composed("lt", {drawn({0, 1}), drawn(probability)}); }
  Variable where_chosen(const Variable &which, const Variable &y) const { return composed("where", {which, y, x}); }
  Variable clipped(const Variable &y, const Range &r) const { return composed("clamp", {y, r.low, r.high}); }
  Variable clipped(const Variable &y) const { return clipped(y, values()); }
  // Values of the range as those from 0 to 255, and back.
  Variable as_bytes(const Variable &y) const { return (y - values().low) * (255 / (values().high - values().low)); }
  Variable from_bytes(const Variable &y) const { return y * ((values().high - values().low) / 255) + values().low; }
};

// ---- Colours.

void expect_colours(const Change &c) {
  if (c.x.shape()[1] != 3) fail(c.made.owner(), ": images have ", c.x.shape()[1], " channels; expected 3, colours");
}
Variable grey(const Change &c) {
  expect_colours(c);
  return expand(composed("sum", {c.x * c.numbers({3, 1, 1}, {0.2989, 0.5870, 0.1140}), 1, true}), c.x.shape());
}

// Of colours as hue, saturation and value: hue turned, saturation stretched. (n, 3, h, w) with (n, 1, 1, 1).
const Operation recoloured("recoloured", [](const Values &in, const Attributes &a) -> Values {
  const Value &x = in.at(0);
  const auto channel = [&](int i) {
    return inlined({x.extent(0), 1, x.extent(2), x.extent(3)},
                   [&x, i](const Axes &at) { return x(at[0], Expression(i), at[2], at[3]); });
  };
  const Value r = channel(0), g = channel(1), b = channel(2), v = max(r, max(g, b)), c = v - min(r, min(g, b));
  const Value some = where(c == 0, 1, c);
  const Value sixth = where(v == r, (g - b) / some, where(v == g, (b - r) / some + 2, (r - g) / some + 4));
  const Value turned = where(c == 0, 0, map(F::modulo, sixth, constant_value(x.type(), 6))) + in.at(1) * 6;
  const Value s = min(max(c / where(v == 0, 1, v) * in.at(2), a.real("low")), a.real("high"));
  const auto component = [&](int n) {
    const Value k = map(F::modulo, turned + n, constant_value(x.type(), 6));
    return v - v * s * max(min(min(k, 4 - k), 1), 0);
  };
  const Value parts[] = {component(5), component(3), component(1)};
  return {inlined(x.extents(), [&](const Axes &at) {
    const Axes one = {at[0], 0, at[2], at[3]};
    return formula::select(at[1] == 0, parts[0].at(one),
                           formula::select(at[1] == 1, parts[1].at(one), parts[2].at(one)));
  })};
});

Variable one_for_each(const Change &c, double value) {
  return Tensor::full({c.x.shape()[0], 1, 1, 1}, value, c.x.value().type());
}

Variable brighter(const Change &c, const char *factor) {
  return c.clipped(c.x + c.drawn(c.range(factor, -1)) * (c.values().high - c.values().low));
}
Variable with_contrast(const Change &c, const char *factor) {
  const Range f = c.range(factor, 0);
  const Variable middle = mean(c.x, {2, 3});
  return c.clipped((c.x - middle) * c.drawn({1 - f.low, 1 + f.high}) + middle);
}
Variable with_saturation(const Change &c, const char *factor) {
  expect_colours(c);
  const Variable f = c.drawn(c.range(factor, -1));
  return apply_one(recoloured, {c.x, one_for_each(c, 0), f / (1.0 - f + 1e-7)},
                   {{"low", c.values().low}, {"high", c.values().high}});
}
Variable with_hue(const Change &c, const char *factor) {
  expect_colours(c);
  const Variable side = composed("where", {call("gt", {c.drawn({0, 1}), 0.5}), -0.5, one_for_each(c, 0.5)});
  const Range v = c.values();
  const Variable y =
      apply_one(recoloured, {(c.x - v.low) / (v.high - v.low), side * c.drawn(c.range(factor, 0)), one_for_each(c, 1)},
                {{"low", 0.0}, {"high", 1.0}});
  return c.clipped(y, {0, 1}) * (v.high - v.low) + v.low;
}

// ---- Neighbours.

// Each channel by itself, with zeros around.
Variable smoothed(const Change &c, const Variable &kernel) {
  const int64_t channels = c.x.shape()[1], h = kernel.shape()[2], w = kernel.shape()[3];
  return composed("conv2d", {c.x, expand(kernel, {channels, 1, h, w})},
                  {{"padding", {h / 2, w / 2}}, {"groups", channels}});
}
Variable sharper(const Change &c) {
  std::vector<double> kernel(9, 1.0 / 13);
  kernel[4] = 5.0 / 13;
  const Variable k = c.numbers({1, 1, 3, 3}, kernel);
  return c.clipped(c.x + (1.0 - c.drawn(c.range("factor", 0)) * 2.0) * (smoothed(c, k) - c.x));
}
// e^(-k^2 / 2 sigma^2) along one axis, 1 in all.
Variable bell(const Change &c, int64_t size, const Shape &shape) {
  std::vector<double> squares;
  for (int64_t i = 0; i < size; ++i)
    squares.push_back(-0.5 * std::pow(static_cast<double>(i) - static_cast<double>(size - 1) / 2, 2));
  const Variable sigma = c.drawn(c.range("sigma", 0), false) + 1e-6;
  const Variable y = exp(c.numbers(shape, squares) / (sigma * sigma));
  return y / composed("sum", {y});
}
Variable blurred(const Change &c) {
  const Shape size = c.made.integers("kernel_size", 2);
  for (int64_t s : size)
    if (s < 1 || s % 2 == 0) c.made.refuse("kernel_size", "odd numbers");
  const Variable which = c.chosen(c.range("factor", 0));
  const Variable kernel = bell(c, size[0], {1, 1, 1, size[0]}) * bell(c, size[1], {1, 1, size[1], 1});
  return c.clipped(c.where_chosen(which, smoothed(c, kernel)));
}

// ---- Places.

const Operation part_from("part_from", [](const Values &in, const Attributes &a) -> Values {
  const Value &x = in.at(0), &top = in.at(1), &left = in.at(2);
  return {compute("part", {x.extent(0), x.extent(1), a.integer("height"), a.integer("width")}, [&](const Axes &at) {
    const auto from = [](const Value &start) { return cast(Type::i64, start(0, 0, 0, 0)); };
    return x(at[0], at[1], at[2] + from(top), at[3] + from(left));
  })};
});
struct Crop {
  int64_t height, width, down, right;  // how far it may begin from the first

  explicit Crop(const Change &c)
      : height(c.made.integer("height")),
        width(c.made.integer("width")),
        down(c.x.shape()[2] - height),
        right(c.x.shape()[3] - width) {
    if (height < 1 || down < 0) c.made.refuse("height", "1 to " + std::to_string(c.x.shape()[2]));
    if (width < 1 || right < 0) c.made.refuse("width", "1 to " + std::to_string(c.x.shape()[3]));
  }
};
Variable middle_of(const Change &c) {
  const Crop crop(c);
  return slice(slice(c.x, 2, crop.down / 2, crop.height), 3, crop.right / 2, crop.width);
}
Variable some_part_of(const Change &c) {
  const Crop crop(c);
  const auto begin = [&](int64_t room) { return c.drawn({0, static_cast<double>(room + 1)}, false); };
  return apply_one(part_from, {c.x, begin(crop.down), begin(crop.right)},
                   {{"height", crop.height}, {"width", crop.width}});
}
Variable flipped(const Change &c) {
  const std::string &mode = c.made.word("mode", {"horizontal", "vertical", "horizontal_and_vertical"});
  Change y = c;
  for (const auto &[name, axis] : {std::pair("horizontal", 3), std::pair("vertical", 2)})
    if (mode.find(name) != std::string::npos) y.x = y.where_chosen(y.chosen({0.5, 0.5}), composed("flip", {y.x, axis}));
  return y.x;
}

// ---- The layers.

Variable same(const Change &c) { return c.x; }

struct ImageChange {
  using Of = Variable (*)(const Change &);
  ImageChange(const char *name, const std::string &made_with, Of training, Of otherwise = same)
      : row(name, made_with, {"input", [=](Layer &self, const Arguments &in) -> Argument {
                                const Images x(in, "input", 2);
                                const Change c = {self.made_with(), x.batch()};
                                return x.as_given(self.training() ? training(c) : otherwise(c));
                              }}) {}
  LayerRow row;
};

Variable contrasted(const Change &c) {
  const Variable low = composed("amin", {c.x, {2, 3}, true}), high = composed("amax", {c.x, {2, 3}, true});
  const Variable flat = composed("eq", {low, high});
  const Variable span = composed("where", {flat, 1.0, high - low});
  return composed("where", {flat, c.x, (c.x - low) / span * (c.values().high - c.values().low) + c.values().low});
}
Variable solarized(const Change &c) {
  const Range add = c.range("addition_factor", 0), threshold = c.range("threshold_factor", 0);
  const Variable y = c.clipped(c.as_bytes(c.x) + c.drawn({add.low, add.high * 255}), {0, 255});
  const Variable limit = c.drawn({threshold.low, threshold.high * 255});
  return c.from_bytes(composed("where", {call("lt", {y, limit}), y, 255.0 - y}));
}
// The first bits of a byte; how many is drawn.
Variable posterized(const Change &c) {
  const Range bits = c.range("factor", 1);
  const Variable shift = 8.0 - composed("floor", {c.drawn(bits)}), step = composed("exp2", {shift});
  return c.from_bytes(composed("floor", {composed("floor", {c.as_bytes(c.x)}) / step}) * step);
}
Variable jittered(const Change &c) {
  Change y = c;
  const std::pair<const char *, Variable (*)(const Change &, const char *)> all[] = {
      {"brightness_factor", brighter},
      {"contrast_factor", with_contrast},
      {"saturation_factor", with_saturation},
      {"hue_factor", with_hue}};
  for (const auto &[name, change] : all)
    if (c.made.has(name)) y.x = change(y, name);
  return y.x;
}

const std::string of_factor = "factor, value_range=(0, 255)";
const ImageChange changes[] = {
    {"RandomBrightness", of_factor, [](const Change &c) { return brighter(c, "factor"); }},
    {"RandomContrast", of_factor, [](const Change &c) { return with_contrast(c, "factor"); }},
    {"RandomSaturation", of_factor, [](const Change &c) { return with_saturation(c, "factor"); }},
    {"RandomHue", of_factor, [](const Change &c) { return with_hue(c, "factor"); }},
    {"RandomColorJitter",
     "value_range=(0, 255), brightness_factor=None, contrast_factor=None, saturation_factor=None, hue_factor=None",
     jittered},
    {"RandomColorDegeneration", of_factor,
     [](const Change &c) { return c.clipped(c.x + c.drawn(c.range("factor", -1)) * (grey(c) - c.x)); }},
    {"RandomGrayscale", "factor=0.5",
     [](const Change &c) {
       const double p = c.made.real("factor");
       return c.where_chosen(c.chosen({p, p}), grey(c));
     }},
    {"RandomInvert", "factor=1.0, value_range=(0, 255)",
     [](const Change &c) { return c.where_chosen(c.chosen(c.range("factor", 0)), c.values().high - c.x); }},
    {"RandomPosterization", of_factor, posterized},
    {"RandomSharpness", of_factor, sharper},
    {"RandomGaussianBlur", "factor=1.0, kernel_size=3, sigma=1.0, value_range=(0, 255)", blurred},
    {"Solarization", "addition_factor=0.0, threshold_factor=0.0, value_range=(0, 255)", solarized},
    {"AutoContrast", "value_range=(0, 255)", contrasted, contrasted},
    {"RandomFlip", "mode='horizontal_and_vertical'", flipped},
    {"RandomCrop", "height, width", some_part_of, middle_of},
    {"CenterCrop", "height, width", middle_of, middle_of},
};

}  // namespace

const void *image_changes() { return changes; }

}  // namespace saltern::nn
