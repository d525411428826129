#include "generators/model/winograd.h"

namespace saltern::generators {

namespace {

// Microseconds on one core, of an AMD Zen 4 as measured: they decide between ways to compute the same, so that what
// counts is how they compare.
constexpr double flops_in_microsecond = 9e4;
// Weights come from memory the first time, and from the cache that cores share later if they are few.
constexpr double bytes_in_microsecond = 3e4, cached_bytes_in_microsecond = 1e5, most_cached_bytes = 8e6;
// Both transforms, for each tile and channel.
double transform_microseconds(int tile) { return tile == 2 ? 0.0017 : 0.005; }
// Of weights, for each pair of channels: once for all images, where they are not constant.
double weights_transform_microseconds(int tile) { return tile == 2 ? 0.003 : 0.006; }

constexpr int fewest_channels = 32;
// A form that costs more than this share of another one's time is not worth what it brings with it: larger errors, larger
// weights.
constexpr double worth_it = 0.85;

double weights_microseconds(double bytes, int times) {
  const double again = bytes <= most_cached_bytes ? cached_bytes_in_microsecond : bytes_in_microsecond;
  return bytes / bytes_in_microsecond + (times - 1) * bytes / again;
}

double plain_microseconds(const Geometry &g) {
  return g.flops() / flops_in_microsecond + weights_microseconds(4.0 * 9 * g.channels_in * panels(g) * panel, 1);
}

double winograd_microseconds(const Geometry &g, int tile, bool has_constants) {
  const schedules::WinogradShape s = winograd_shape(g, tile);
  const schedules::WinogradCut cut = schedules::winograd_cut(s);
  const double channels_in = channel_chunks(g) * forms::channel_chunk, channels_out = s.blocks * panel,
               tiles = static_cast<double>(cut.pieces(s)) * cut.tiles(s),
               weights = s.patch() * s.patch() * channels_in * channels_out;
  return 2 * tiles * weights / flops_in_microsecond +
         tiles * (channels_in + channels_out) * transform_microseconds(tile) +
         weights_microseconds(4 * weights, cut.pieces(s)) +
         (has_constants ? 0 : channels_in * channels_out * weights_transform_microseconds(tile));
}

}  // namespace

int winograd_tile(const Graph::Node &node) { return static_cast<int>(node.attributes.integer("winograd_tile", 0)); }

std::optional<WinogradNode> winograd_form(const Graph &graph, const Graph::Node &node) {
  if (node.operation != "conv2d" || node.attributes.integer("groups", 1) != 1) return std::nullopt;
  const auto is_constant = [&](size_t i) { return graph.value(node.inputs[i]).constant.defined(); };
  const bool has_bias = node.inputs.size() > 2;
  const Geometry g = geometry_of(graph, node);
  const auto fits = [](int window, const Sliding<int> &s) {
    return window == forms::winograd_window && s.stride == 1 && s.dilation == 1;
  };
  if (!fits(g.kernel_x, g.sliding.x) || !fits(g.kernel_y, g.sliding.y)) return std::nullopt;
  return WinogradNode{g, is_constant(1) && (!has_bias || is_constant(2)), has_bias, winograd_tile(node)};
}

int fastest_tile(const Geometry &g, bool has_constants) {
  if (std::min(g.channels_in, g.channels_out) < fewest_channels) return 0;
  if (std::min({g.out_height(), g.out_width(), g.batch}) < 1) return 0;
  int best = 0;
  double shortest = plain_microseconds(g);
  for (int tile : {2, 4})
    if (const double time = winograd_microseconds(g, tile, has_constants); time < worth_it * shortest) {
      best = tile;
      shortest = time;
    }
  return best;
}

schedules::WinogradShape winograd_shape(const Geometry &g, int tile) {
  const forms::WinogradTiles t = {tile, g.out_height(), g.out_width()};
  return {panel, panels(g), g.batch, tile, t.rows(), t.columns(), forms::channel_chunk};
}

int channel_chunks(const Geometry &g) { return (g.channels_in + forms::channel_chunk - 1) / forms::channel_chunk; }

Tensor transformed_weights(const Tensor &weights, const Geometry &g, int tile) {
  const int patch = tile + forms::winograd_window - 1, chunks = channel_chunks(g);
  const Tensor packed = Tensor::zeros({panels(g), patch, patch, chunks, forms::channel_chunk, panel});
  const int64_t channels = chunks * forms::channel_chunk;
  const float *from = weights.data<float>();
  const Shape &s = weights.strides();
  for (int o = 0; o < g.channels_out; ++o)
    for (int c = 0; c < g.channels_in; ++c) {
      std::array<double, 9> window = {};
      for (int k = 0; k < 9; ++k)
        window[static_cast<size_t>(k)] = from[o * s[0] + c * s[1] + k / 3 * s[2] + k % 3 * s[3]];
      float *to = packed.data<float>() + (o / panel * patch * patch * channels + c) * panel + o % panel;
      for (double v : forms::transformed_window(window, tile)) {
        *to = static_cast<float>(v);
        to += channels * panel;
      }
    }
  return packed;
}

}  // namespace saltern::generators
