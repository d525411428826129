// Images of other sizes, and images read between their pixels.

#include <cmath>

#include "algorithms/resizing.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

using namespace formula;
using algorithms::Interpolation;

// ---- Other sizes.

// What PyTorch calls a filter, for images of so many axes.
struct Mode {
  const char *name;
  int axes;  // 0: any number
  enum class By : uint8_t { nearest, nearest_exact, filter, area } by;
  Interpolation::Filter filter = Interpolation::Filter::linear;
};
const Mode modes[] = {
    {"nearest", 0, Mode::By::nearest},
    {"nearest-exact", 0, Mode::By::nearest_exact},
    {"area", 0, Mode::By::area},
    {"linear", 1, Mode::By::filter},
    {"bilinear", 2, Mode::By::filter},
    {"trilinear", 3, Mode::By::filter},
    {"bicubic", 2, Mode::By::filter, Interpolation::Filter::cubic},
};

const Mode &mode_named(const std::string &name) {
  for (const Mode &m : modes)
    if (m.name == name) return m;
  fail("'", name, "' is no way to resize");
}

// Attributes: mode, sizes, scales, align_corners, antialias
const Operation resize("resize_image", [](const Values &in, const Attributes &a) -> Values {
  const Mode &mode = mode_named(a.word("mode"));
  Value y = in.at(0);
  for (int axis = 2; axis < in[0].rank(); ++axis) {
    const auto d = static_cast<size_t>(axis - 2);
    const algorithms::Resizing how = {mode.filter, a.integers("sizes")[d], a.reals("scales")[d],
                                      a.integer("align_corners") != 0, a.integer("antialias") != 0};
    if (is_number(y.extent(axis), static_cast<double>(how.to)) && how.scale == 1) continue;
    y = mode.by == Mode::By::filter ? algorithms::filtered(y, axis, how)
                                    : algorithms::nearest(y, axis, how, mode.by == Mode::By::nearest_exact);
  }
  return {named("resized", y)};
});

// The extents of the result; a scale of 0: that of the extents.
struct Sizes {
  Shape sizes;
  std::vector<double> scales;
};
Sizes sizes_of(const Arguments &a, const Shape &from) {
  if (a.has("size") == a.has("scale_factor")) a.refuse("size", "either this or a scale_factor");
  const bool recompute = a.signature().has("recompute_scale_factor") && a.has("recompute_scale_factor") &&
                         a.flag("recompute_scale_factor");
  Sizes s = {{}, std::vector<double>(from.size(), 0)};
  if (a.has("size")) {
    if (recompute) a.refuse("recompute_scale_factor", "nothing where there is a size");
    s.sizes = integers_from(a, "size", from.size(), 1);
    return s;
  }
  const std::vector<double> factors = a.reals("scale_factor", from.size());
  for (size_t d = 0; d < from.size(); ++d) {
    const double extent = std::floor(static_cast<double>(from[d]) * factors[d]);
    if (!(extent >= 1 && extent <= INT32_MAX)) a.refuse("scale_factor", "numbers that leave an extent of 1 or more");
    s.sizes.push_back(static_cast<int64_t>(extent));
    if (!recompute) s.scales[d] = 1 / factors[d];
  }
  return s;
}

Argument interpolated(const Arguments &a, const std::string &mode_name, bool aligned, bool antialias) {
  const Mode &mode = mode_named(mode_name);
  const Variable x = a.variable("input");
  const int axes = x.rank() - 2;
  if (axes < 1 || axes > 3 || (mode.axes != 0 && mode.axes != axes))
    a.refuse("input", "(N, C, ...) with " + (mode.axes == 0 ? "1 to 3" : std::to_string(mode.axes)) +
                          " further dimensions for '" + mode.name + "'");
  if (aligned && mode.by != Mode::By::filter) a.refuse("align_corners", "None where no filter is linear or cubic");
  if (antialias && (mode.by != Mode::By::filter || axes != 2))
    a.refuse("antialias", "False for another mode than 'bilinear' or 'bicubic'");
  if (mode.by == Mode::By::filter && !is_real(x.type())) a.refuse("input", "real numbers to filter");
  const Shape from(x.shape().begin() + 2, x.shape().end());
  for (int64_t e : from)
    if (e < 1) a.refuse("input", "images with pixels");
  Sizes s = sizes_of(a, from);
  if (mode.by == Mode::By::area) return call(with_axes("adaptive_avg_pool", axes), {x, s.sizes});
  for (size_t d = 0; d < from.size(); ++d) {
    const auto in = static_cast<double>(from[d]), out = static_cast<double>(s.sizes[d]);
    if (aligned) s.scales[d] = out > 1 ? (in - 1) / (out - 1) : 0;
    if (!aligned && s.scales[d] == 0) s.scales[d] = in / out;
  }
  return apply_one(resize, {x},
                   {{"mode", mode_name},
                    {"sizes", s.sizes},
                    {"scales", s.scales},
                    {"align_corners", int64_t{aligned}},
                    {"antialias", int64_t{antialias}}});
}

bool flag_if_given(const Arguments &a, const char *name) {
  return a.signature().has(name) && a.has(name) && a.flag(name);
}

Argument interpolate_as_told(const Arguments &a) {
  std::vector<std::string> names;
  for (const Mode &m : modes) names.emplace_back(m.name);
  return interpolated(a, a.word("mode", names), flag_if_given(a, "align_corners"), flag_if_given(a, "antialias"));
}

const Function interpolate("interpolate",
                           "input, size=None, scale_factor=None, mode='nearest', align_corners=None, "
                           "recompute_scale_factor=None, antialias=False",
                           interpolate_as_told);
const Function upsample("upsample", "input, size=None, scale_factor=None, mode='nearest', align_corners=None",
                        interpolate_as_told);
const char *const of_sizes = "input, size=None, scale_factor=None";
const Function upsample_nearest("upsample_nearest", of_sizes,
                                [](const Arguments &a) { return interpolated(a, "nearest", false, false); });
const Function upsample_bilinear("upsample_bilinear", of_sizes,
                                 [](const Arguments &a) { return interpolated(a, "bilinear", true, false); });
const LayerRow upsample_layer(
    "Upsample", "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
    calls("interpolate"));
const LayerRow nearest_layer("UpsamplingNearest2d", "size=None, scale_factor=None", calls("upsample_nearest"));
const LayerRow bilinear_layer("UpsamplingBilinear2d", "size=None, scale_factor=None", calls("upsample_bilinear"));

// ---- Between pixels.

template <typename Choice>
Choice chosen(const Arguments &a, const char *name, const std::vector<std::pair<std::string, Choice>> &choices) {
  std::vector<std::string> names;
  for (const auto &[word, choice] : choices) names.push_back(word);
  const std::string &word = a.word(name, names);
  for (const auto &[known, choice] : choices)
    if (known == word) return choice;
  a.refuse(name, "another word");
}

const Function grid_sample(
    "grid_sample", "input, grid, mode='bilinear', padding_mode='zeros', align_corners=None",
    by_formula([](const Arguments &a) {
      using Filter = Interpolation::Filter;
      using Outside = Interpolation::Outside;
      const Value x = a.value("input"), grid = a.value("grid");
      if (x.rank() != 4 && x.rank() != 5) a.refuse("input", "(N, C, H, W) or (N, C, D, H, W)");
      if (grid.rank() != x.rank() || !is_number(grid.extent(-1), x.rank() - 2))
        a.refuse("grid", "(N, ..., " + std::to_string(x.rank() - 2) + ") of the rank of the input");
      if (!is_real(x.type()) || x.type() != grid.type()) a.refuse("grid", "real numbers of the input's type");
      if (!is_same(grid.extent(0), x.extent(0))) a.refuse("grid", "as many as there are images");
      const bool aligned = a.has("align_corners") && a.flag("align_corners");
      const Interpolation how = {
          chosen<Filter>(a, "mode",
                         {{"bilinear", Filter::linear}, {"nearest", Filter::nearest}, {"bicubic", Filter::cubic}}),
          chosen<Outside>(
              a, "padding_mode",
              {{"zeros", Outside::zeros}, {"border", Outside::border}, {"reflection", Outside::reflection}}),
          aligned};
      return algorithms::grid_sample(x, grid, how, aligned);
    }));

const Function affine_grid("affine_grid", "theta, size, align_corners=None", by_formula([](const Arguments &a) {
                             const Value theta = a.value("theta");
                             const std::vector<int64_t> size = a.integers("size");
                             const auto axes = static_cast<int>(size.size()) - 2;
                             if (axes != 2 && axes != 3) a.refuse("size", "(N, C, H, W) or (N, C, D, H, W)");
                             for (int64_t extent : size)
                               if (extent < 1) a.refuse("size", "extents of 1 or more");
                             if (theta.rank() != 3 || !is_number(theta.extent(1), axes) ||
                                 !is_number(theta.extent(2), axes + 1))
                               a.refuse("theta", "(N, " + std::to_string(axes) + ", " + std::to_string(axes + 1) + ")");
                             return algorithms::affine_grid(theta, {size.begin() + 2, size.end()},
                                                            a.has("align_corners") && a.flag("align_corners"));
                           }));

}  // namespace

const void *resampling() { return &interpolate; }

}  // namespace saltern::nn
