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

double winograd_microseconds(const Geometry &g, int tile) {
  const schedules::WinogradShape s = winograd_shape(g, tile);
  const schedules::WinogradCut cut = schedules::winograd_cut(s);
  const double channels_in = channel_chunks(g) * forms::channel_chunk, channels_out = s.blocks * panel,
               tiles = static_cast<double>(cut.pieces(s)) * cut.tiles(s),
               weights = s.patch() * s.patch() * channels_in * channels_out;
  return 2 * tiles * weights / flops_in_microsecond +
         tiles * (channels_in + channels_out) * transform_microseconds(tile) +
         weights_microseconds(4 * weights, cut.pieces(s));
}

bool slides_by_one(const Sliding<int> &s) { return s.stride == 1 && s.dilation == 1; }

}  // namespace

int winograd_tile(const Graph::Node &node) { return static_cast<int>(node.attributes.integer("winograd_tile", 0)); }

bool has_winograd_form(const Geometry &g) {
  return g.kernel_x == forms::winograd_window && g.kernel_y == forms::winograd_window && slides_by_one(g.sliding.x) &&
         slides_by_one(g.sliding.y);
}

int fastest_tile(const Geometry &g) {
  if (std::min(g.channels_in, g.channels_out) < fewest_channels || g.out_height() < 1 || g.out_width() < 1) return 0;
  int best = 0;
  double shortest = plain_microseconds(g);
  for (int tile : {2, 4})
    if (const double time = winograd_microseconds(g, tile); time < worth_it * shortest) {
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
