// The same elements in another order or shape: pixels and channels, windows as columns, flat ones.

#include "algorithms/movement.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/window.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- Pixels from channels, and back. Any number of dimensions may stand before (C, H, W).

// Attributes: by
const Operation shuffled("pixels_shuffled", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::pixel_shuffle(in.at(0), a.integer("by"))};
});
const Operation unshuffled("pixels_unshuffled", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::pixel_unshuffle(in.at(0), a.integer("by"), false)};
});

Argument of_last_three(const Operation &operation, const Arguments &a, int64_t by) {
  const Variable x = a.variable("input");
  const Shape &s = x.shape();
  const auto rest = static_cast<std::ptrdiff_t>(s.size()) - 3;
  const Variable y = apply_one(
      operation,
      {reshape(x, {elements(Shape(s.begin(), s.begin() + rest)), s[s.size() - 3], s[s.size() - 2], s.back()})},
      {{"by", by}});
  Shape shape(s.begin(), s.begin() + rest);
  shape.insert(shape.end(), y.shape().begin() + 1, y.shape().end());
  return reshape(y, shape);
}

int64_t factor(const Arguments &a, const char *name, bool divides_channels) {
  const int64_t r = integers_from(a, name, 1, 1)[0];
  const Shape &s = a.variable("input").shape();
  if (s.size() < 3) a.refuse("input", "(..., C, H, W)");
  const size_t n = s.size();
  if (divides_channels ? s[n - 3] % (r * r) != 0 : s[n - 2] % r != 0 || s[n - 1] % r != 0)
    a.refuse("input", divides_channels ? "channels that " + std::to_string(r) + " squared divides"
                                       : "a height and a width that " + std::to_string(r) + " divides");
  return r;
}

const Function pixel_shuffle("pixel_shuffle", "input, upscale_factor", [](const Arguments &a) {
  return of_last_three(shuffled, a, factor(a, "upscale_factor", true));
});
const Function pixel_unshuffle("pixel_unshuffle", "input, downscale_factor", [](const Arguments &a) {
  return of_last_three(unshuffled, a, factor(a, "downscale_factor", false));
});
const LayerRow pixel_shuffle_layer("PixelShuffle", "upscale_factor", calls("pixel_shuffle"));
const LayerRow pixel_unshuffle_layer("PixelUnshuffle", "downscale_factor", calls("pixel_unshuffle"));

const auto shuffle_channels = by_formula([](const Arguments &a) {
  const Value x = a.value("input");
  const int64_t groups = a.integer("groups");
  if (x.rank() < 3) a.refuse("input", "(N, C, ...) of 3 dimensions or more");
  if (groups < 1 || !is_number(modulo(x.extent(1), groups), 0)) a.refuse("groups", "a divisor of the channels");
  return algorithms::channel_shuffle(x, groups);
});
const Function channel_shuffle("channel_shuffle", "input, groups", shuffle_channels);
const Function native_channel_shuffle("native_channel_shuffle", "input, groups", shuffle_channels);
const LayerRow channel_shuffle_layer("ChannelShuffle", "groups", calls("channel_shuffle"));

// ---- Windows as columns (N, C K, P), and the image that they make where they lie over each other.

// Attributes: those of windows; the way back: also the shape of the image
const Operation columns("columns", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::columns(in.at(0), extents(a, "kernel"), slides_of(a))};
});
const Operation from_columns("from_columns", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::from_columns(in.at(0), extents(a, "kernel"), slides_of(a), extents(a, "shape"))};
});

Windows windows_of(const Arguments &a) {
  Windows w = {integers_from(a, "kernel_size", 2, 1),
               integers_from(a, "stride", 2, 1),
               integers_from(a, "dilation", 2, 1),
               integers_from(a, "padding", 2, 0),
               {}};
  w.after = w.before;
  return w;
}

const Function unfold("unfold", "input, kernel_size, dilation=1, padding=0, stride=1", [](const Arguments &a) {
  const Images x(a, "input", 2);
  Windows w = windows_of(a);
  w.fit(a, x.extents(), false);
  const Variable y = apply_one(columns, {x.batch()}, w.attributes());
  const Shape &s = y.shape();
  return x.as_given(reshape(y, {s[0], s[1] * s[2] * s[3], s[4] * s[5]}));
});

const Function fold("fold", "input, output_size, kernel_size, dilation=1, padding=0, stride=1", [](const Arguments &a) {
  const Images x(a, "input", 1);
  Windows w = windows_of(a);
  const Shape to = integers_from(a, "output_size", 2, 1);
  w.fit(a, to, false);
  const int64_t taps = w.kernel[0] * w.kernel[1];
  Shape counts;
  for (size_t d = 0; d < 2; ++d) counts.push_back((to[d] + 2 * w.before[d] - w.reach(d)) / w.strides[d] + 1);
  if (x.shape()[1] % taps != 0 || x.shape()[2] != counts[0] * counts[1])
    a.refuse("input", "(N, C * " + std::to_string(taps) + ", " + std::to_string(counts[0] * counts[1]) + ")");
  const int64_t n = x.shape()[0], c = x.shape()[1] / taps;
  const Variable apart = reshape(x.batch(), {n, c, w.kernel[0], w.kernel[1], counts[0], counts[1]});
  return x.as_given(apply_one(from_columns, {apart}, w.attributes().with("shape", Shape{n, c, to[0], to[1]})));
});
const LayerRow unfold_layer("Unfold", "kernel_size, dilation=1, padding=0, stride=1", calls("unfold"));
const LayerRow fold_layer("Fold", "output_size, kernel_size, dilation=1, padding=0, stride=1", calls("fold"));

// ---- Several dimensions as one, and one as several.

const Function flatten("flatten", "input, start_dim=0, end_dim=-1", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const Shape s = x.shape().empty() ? Shape{1} : x.shape();
  const auto rank = static_cast<int>(s.size());
  const int first = dimension(a.integer("start_dim"), rank, a.owner()),
            last = dimension(a.integer("end_dim"), rank, a.owner());
  if (last < first) a.refuse("end_dim", "one that is not before start_dim");
  Shape shape(s.begin(), s.begin() + first);
  shape.push_back(elements(Shape(s.begin() + first, s.begin() + last + 1)));
  shape.insert(shape.end(), s.begin() + last + 1, s.end());
  return reshape(x, shape);
});
const LayerRow flatten_layer("Flatten", "start_dim=1, end_dim=-1", calls("flatten"));

Argument unflattened(const Arguments &in, int64_t dim, Shape sizes) {
  const Variable x = in.variable("input");
  const auto d = static_cast<size_t>(dimension(dim, x.rank(), in.owner()));
  const int64_t extent = x.shape()[d];
  int64_t known = 1, open = 0;
  for (int64_t e : sizes) e == -1 ? ++open : known *= e;
  if (sizes.empty() || open > 1 || (open == 1 ? known == 0 || extent % known != 0 : known != extent))
    fail(in.owner(), ": a dimension of ", extent, " does not divide into ", to_string(sizes));
  for (int64_t &e : sizes)
    if (e == -1) e = extent / known;
  Shape shape = x.shape();
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
  shape.insert(at, sizes.begin(), sizes.end());
  return reshape(x, shape);
}
const Function unflatten("unflatten", "input, dim, sizes",
                         [](const Arguments &a) { return unflattened(a, a.integer("dim"), a.integers("sizes")); });
const LayerRow unflatten_layer("Unflatten", "dim, unflattened_size",
                               {"input", [](Layer &self, const Arguments &in) {
                                  const Arguments &a = self.made_with();
                                  return unflattened(in, a.integer("dim"), a.integers("unflattened_size"));
                                }});

}  // namespace

const void *rearrangements() { return &pixel_shuffle; }

}  // namespace saltern::nn
