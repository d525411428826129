#pragma once
// Convolution with a window of 3 x 3 and stride 1 by Winograd's minimal filtering F(m, 3), which is a rewrite of
// algorithms/convolution.h: the same sums of finite numbers but for rounding, with fewer products.
//
//   y = At [ (G w Gt) * (Bt x B) ] A      for each tile of m x m pixels of y, from a patch of (m + 2) x (m + 2) of x
//
// `*` is a product of elements that is summed over channels: (m + 2)^2 products a tile instead of 9 m^2, which is 2.25
// times fewer for m = 2 and 4 times for m = 4. Sums of patches are larger than what they are made of and cancel out in the
// end, but fewer terms are added one by one: for m = 2 errors are about those of a plain sum, for m = 4 some eight times as large
// (docs/compiled-models.md has figures). What is no number becomes one of its tile.
//
// Tiles of an image, or of several images that make a set, are numbered row by row, and channels of an image stand in
// chunks: so a register tile may take any number of tiles, whose elements lie side by side.

#include <array>
#include <vector>

#include "algorithms/sliding.h"
#include "dsl/value.h"

namespace saltern::forms {

// Matrices by rows. Terms of one group are added first, so that rows share sums but for a factor.
struct LinearMap {
  std::vector<std::vector<double>> rows;
  std::vector<std::vector<int>> groups;
};

struct WinogradTransforms {
  LinearMap of_patch, of_weights, of_products;  // Bt, G and At
};

constexpr int winograd_window = 3;
constexpr int channel_chunk = 16;

inline const WinogradTransforms &winograd_transforms(int tile) {
  static const std::vector<std::vector<int>> window = {{0, 2}, {1}};
  static const WinogradTransforms two = {
      {{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}, {{0, 2}, {1, 3}}},
      {{{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}, window},
      {{{1, 1, 1, 0}, {0, 1, -1, -1}}, {{1, 2}, {0}, {3}}}};
  static const WinogradTransforms four = {
      {{{4, 0, -5, 0, 1, 0},
        {0, -4, -4, 1, 1, 0},
        {0, 4, -4, -1, 1, 0},
        {0, -2, -1, 2, 1, 0},
        {0, 2, -1, -2, 1, 0},
        {0, 4, 0, -5, 0, 1}},
       {{0, 2, 4}, {1, 3, 5}}},
      {{{1. / 4, 0, 0},
        {-1. / 6, -1. / 6, -1. / 6},
        {-1. / 6, 1. / 6, -1. / 6},
        {1. / 24, 1. / 12, 1. / 6},
        {1. / 24, -1. / 12, 1. / 6},
        {0, 0, 1}},
       window},
      {{{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
       {{1, 2}, {3, 4}, {0}, {5}}}};
  return tile == 2 ? two : four;
}

// What a matrix makes of the elements read(0), read(1), ...: which row of it, an index says.
template <typename Read>
formula::Expression of_row(const LinearMap &map, const formula::Expression &row, const Read &read) {
  const auto scaled = [](const formula::Expression &e, double by) { return by == 1 ? e : by == -1 ? -e : e * by; };
  const auto added = [&](const formula::Expression &to, const formula::Expression &e, double by) {
    if (!to.defined()) return scaled(e, by);
    return by == -1 ? to - e : to + scaled(e, by);
  };
  const auto element = [&](const std::vector<double> &factors) {
    formula::Expression all;
    for (const std::vector<int> &group : map.groups) {
      formula::Expression part;
      double last = 0;
      for (int term : group)
        if (factors[static_cast<size_t>(term)] != 0) last = factors[static_cast<size_t>(term)];
      for (int term : group)
        if (const double f = factors[static_cast<size_t>(term)]; f != 0) part = added(part, read(term), f / last);
      if (part.defined()) all = added(all, part, last);
    }
    return all;
  };
  formula::Expression chosen = element(map.rows.back());
  for (size_t r = map.rows.size() - 1; r-- > 0;)
    chosen = select(row == static_cast<int64_t>(r), element(map.rows[r]), chosen);
  return chosen;
}

// The stages, each by what is innermost last:
struct WinogradStages {
  formula::Value across;    // (set, tile, row, i, chunk, c): patches with their rows transformed
  formula::Value patches;   // (set, j, i, chunk, tile, c)
  formula::Value products;  // (set, tile, j, i, block, o), summed over channels
  formula::Value partly;    // (set, tile, j, column, block, o): rows of the products transformed back
  formula::Value sums;      // (n, y, x, block, o)
};

// How tiles cover a result.
struct WinogradTiles {
  int tile, height, width;  // the last two of the result
  int images = 1;           // in a set

  int patch() const { return tile + winograd_window - 1; }
  int rows() const { return (height + tile - 1) / tile; }
  int columns() const { return (width + tile - 1) / tile; }
};

// Of an image (n, y, x, c) and transformed weights (block, j, i, chunk, c, o).
inline WinogradStages winograd(const formula::Value &image, const formula::Value &weights, const WinogradTiles &tiles,
                               const algorithms::Slides &slides) {
  using namespace formula;
  using Extents = std::vector<Expression>;
  const WinogradTransforms &maps = winograd_transforms(tiles.tile);
  const int m = tiles.tile, patch = tiles.patch(), columns = tiles.columns(), rows = tiles.rows(),
            images = tiles.images;
  const Expression sets = quotient(image.extent(0) + (images - 1), images), all = images * rows * columns,
                   blocks = weights.extent(0), chunks = weights.extent(3), lanes = weights.extent(5);
  WinogradStages s;
  s.across = compute("across", Extents{sets, all, patch, patch, chunks, channel_chunk}, [&](const Axes &at) {
    const Expression line = quotient(at[1], columns);
    const Expression n = images == 1 ? at[0] : at[0] * images + quotient(line, rows),
                     y = (images == 1 ? line : modulo(line, rows)) * m + at[2] - slides[0].pad,
                     x = modulo(at[1], columns) * m - slides[1].pad;
    return of_row(maps.of_patch, at[3],
                  [&](int a) { return image.or_zero(n, y, x + a, at[4] * channel_chunk + at[5]); });
  });
  s.patches = compute("patches", Extents{sets, patch, patch, chunks, all, channel_chunk}, [&](const Axes &at) {
    return of_row(maps.of_patch, at[1], [&](int b) { return s.across(at[0], at[4], b, at[2], at[3], at[5]); });
  });
  s.products = compute("products", Extents{sets, all, patch, patch, blocks, lanes}, [&](const Axes &at) {
    return sum(Extents{chunks, channel_chunk}, [&](const Axes &c) {
      return weights(at[4], at[2], at[3], c[0], c[1], at[5]) * s.patches(at[0], at[2], at[3], c[0], at[1], c[1]);
    });
  });
  s.partly = compute("partly", Extents{sets, all, patch, m, blocks, lanes}, [&](const Axes &at) {
    return of_row(maps.of_products, at[3], [&](int i) { return s.products(at[0], at[1], at[2], i, at[4], at[5]); });
  });
  s.sums = compute("sums", Extents{image.extent(0), tiles.height, tiles.width, blocks, lanes}, [&](const Axes &at) {
    // No modulo, of which Halide would take all values to be needed.
    const Expression set = quotient(at[0], images), line = (at[0] - set * images) * rows + quotient(at[1], m),
                     tile = line * columns + quotient(at[2], m);
    return of_row(maps.of_products, modulo(at[1], m),
                  [&](int j) { return s.partly(set, tile, j, modulo(at[2], m), at[3], at[4]); });
  });
  return s;
}

// G w Gt of weights (o, c, 3, 3), as winograd() takes them: output channels in blocks of so many, zeros behind the last.
struct WinogradWeights {
  formula::Value windows;      // (block, y, x, chunk, c, o): as they are
  formula::Value transformed;  // (block, j, i, chunk, c, o)
};

inline WinogradWeights winograd_weights(const formula::Value &w, int tile, int lanes) {
  using namespace formula;
  const LinearMap &map = winograd_transforms(tile).of_weights;
  const int patch = tile + winograd_window - 1;
  const Expression blocks = quotient(w.extent(0) + (lanes - 1), lanes),
                   chunks = quotient(w.extent(1) + (channel_chunk - 1), channel_chunk);
  const auto extents = [&](int side) {
    return std::vector<Expression>{blocks, side, side, chunks, channel_chunk, lanes};
  };
  const Value windows = compute("windows", extents(winograd_window), [&](const Axes &at) {
    return w.or_zero(at[0] * lanes + at[5], at[3] * channel_chunk + at[4], at[1], at[2]);
  });
  const Value transformed = compute("weights", extents(patch), [&](const Axes &at) {
    return of_row(map, at[1], [&](int y) {
      return of_row(map, at[2], [&](int x) { return windows(at[0], y, x, at[3], at[4], at[5]); });
    });
  });
  return {windows, transformed};
}

// The same of one window, by rows, in the precision of constants that are made once.
inline std::vector<double> transformed_window(const std::array<double, 9> &w, int tile) {
  const std::vector<std::vector<double>> &g = winograd_transforms(tile).of_weights.rows;
  std::vector<double> all;
  for (const std::vector<double> &down : g)
    for (const std::vector<double> &across : g) {
      double sum = 0;
      for (size_t y = 0; y < 3; ++y)
        for (size_t x = 0; x < 3; ++x) sum += down[y] * across[x] * w[3 * y + x];
      all.push_back(sum);
    }
  return all;
}

}  // namespace saltern::forms
