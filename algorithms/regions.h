#pragma once
// Pools over regions of interest of images x(n, c, h, w): y(r, c, p, q), of the bin (p, q) of region r.
//
//   region_samples    of samples on a grid in each bin, read between elements, the mean or the largest
//   region_maxima     of regions rounded to whole elements, the largest element of each bin
//   region_means      likewise the mean, ends not included
//
// regions(r, 4) are (x1, y1, x2, y2); images(r) says which image each lies in. Where each bin has channels of its own, it
// reads channel (c P + p) Q + q of x.

#include <limits>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

struct RegionBins {
  int64_t rows, columns;               // P and Q
  Expression most_rows, most_columns;  // samples, or elements, that any bin has
  double scale = 1;                    // from coordinates of regions to elements
  bool by_place = false;               // each bin has channels of its own

  Expression channel(const Axes &at) const {
    return by_place ? (at[1] * rows + at[2]) * columns + at[3] : Expression(at[1]);
  }
  std::vector<Expression> extents(const Value &x, const Value &regions) const {
    return {regions.extent(0), by_place ? quotient(x.extent(1), rows * columns) : x.extent(1), rows, columns};
  }
};

// Of regions (image, x1, y1, x2, y2).
inline Value region_images(const Value &regions) {
  return inlined({regions.extent(0)}, [&](const Axes &at) { return cast(Type::i64, regions(at[0], 0)); });
}
inline Value region_corners(const Value &regions) {
  return inlined({regions.extent(0), 4}, [&](const Axes &at) { return regions(at[0], at[1] + 1); });
}

// ---- Between elements.

struct RegionSamples {
  int64_t ratio = 0;     // samples of a bin along each axis; 0: as many as it has elements
  bool aligned = false;  // elements have their centres at halves; else no region is smaller than an element
  bool largest = false;
};

// Along one axis: where the region begins, how long a bin is, and how many samples it has.
struct RegionAxis {
  Expression begin, bin, samples;
};
inline RegionAxis region_axis(const Expression &low, const Expression &high, int64_t bins, double scale,
                              const RegionSamples &how) {
  const double shift = how.aligned ? 0.5 : 0;
  const Expression begin = low * scale - shift, extent = high * scale - shift - begin;
  const Expression bin = (how.aligned ? extent : max(extent, 1.0)) / static_cast<double>(bins);
  return {begin, bin,
          how.ratio > 0 ? constant_integer(Type::i64, how.ratio) : cast(Type::i64, call(Function::ceiling, bin))};
}

// The two elements around a sample, and the weight of the second; the sample may lie up to one element outside.
struct SampleNeighbours {
  Expression low, high, weight, outside;
};
inline SampleNeighbours sample_neighbours(const RegionAxis &axis, const Expression &place, const Expression &sample,
                                          const Expression &extent) {
  const Type type = axis.bin.type();
  const Expression v = axis.begin + cast(type, place) * axis.bin +
                       (cast(type, sample) + 0.5) * axis.bin / cast(type, max(axis.samples, 1));
  const Expression inside = max(v, 0.0), low = cast(Type::i64, floor(inside)), at_end = low >= extent - 1;
  return {select(at_end, extent - 1, low), select(at_end, extent - 1, low + 1),
          select(at_end, constant(type, 0), inside - floor(inside)), v < -1.0 || v > cast(type, extent)};
}

inline Value region_samples(const Value &x, const Value &regions, const Value &images, const RegionBins &bins,
                            const RegionSamples &how) {
  return compute("region_samples", bins.extents(x, regions), [&](const Axes &at) {
    const RegionAxis rows = region_axis(regions(at[0], 1), regions(at[0], 3), bins.rows, bins.scale, how),
                     columns = region_axis(regions(at[0], 0), regions(at[0], 2), bins.columns, bins.scale, how);
    const auto sample = [&](const Axes &s) {
      const SampleNeighbours y = sample_neighbours(rows, at[2], s[0], x.extent(2)),
                             z = sample_neighbours(columns, at[3], s[1], x.extent(3));
      Expression value;
      for (int corner = 0; corner < 4; ++corner) {
        const bool lower = corner >= 2, right = corner % 2 == 1;
        const Expression element = x(images(at[0]), bins.channel(at), lower ? y.high : y.low, right ? z.high : z.low);
        const Expression term = element * cast(x.type(), lower ? y.weight : 1.0 - y.weight) *
                                cast(x.type(), right ? z.weight : 1.0 - z.weight);
        // The largest is that of weighted elements, not of interpolated values: so ONNX's reference has it.
        value = !value.defined() ? term : how.largest ? max(value, term) : value + term;
      }
      const Expression counts = s[0] < rows.samples && s[1] < columns.samples;
      const Expression seen = select(y.outside || z.outside, constant(x.type(), 0), value);
      return select(counts, seen, constant(x.type(), how.largest ? -std::numeric_limits<double>::infinity() : 0));
    };
    const Expression total =
        reduce_open(how.largest ? Function::greatest : Function::sum, {bins.most_rows, bins.most_columns}, sample);
    const Expression count = max(rows.samples, 0) * max(columns.samples, 0);
    return how.largest ? select(count == 0, constant(x.type(), 0), total) : total / cast(x.type(), max(count, 1));
  });
}

// ---- Of whole elements.

// [first, end) of a bin along one axis; the ends of regions belong to them, or do not.
struct WholeBin {
  Expression first, end;
};
inline WholeBin whole_bin(const Expression &low, const Expression &high, const Expression &place, int64_t bins,
                          const Expression &extent, double scale, bool with_ends) {
  const Type type = low.type();
  const auto whole = [&](const Expression &e) { return floor(e * scale + 0.5); };
  const Expression begin = whole(low), length = whole(high) - begin;
  const Expression size = max(with_ends ? length + 1.0 : length, 1.0) / static_cast<double>(bins);
  const Expression p = cast(type, place), last = cast(type, with_ends ? extent : extent - 1);
  const auto clamped = [&](const Expression &e) { return cast(Type::i64, max(min(e + begin, last), 0.0)); };
  return {clamped(floor(p * size)), clamped(call(Function::ceiling, (p + 1.0) * size))};
}

inline Value region_of_elements(const char *name, const Value &x, const Value &regions, const Value &images,
                                const RegionBins &bins, bool largest) {
  return compute(name, bins.extents(x, regions), [&](const Axes &at) {
    const auto bin = [&](int column, size_t d, int64_t count) {
      return whole_bin(regions(at[0], column), regions(at[0], column + 2), at[d], count, x.extent(static_cast<int>(d)),
                       bins.scale, largest);
    };
    const WholeBin y = bin(1, 2, bins.rows), z = bin(0, 3, bins.columns);
    const Expression none = constant(x.type(), largest ? -std::numeric_limits<double>::infinity() : 0);
    const Expression total = reduce_open(
        largest ? Function::greatest : Function::sum, {bins.most_rows, bins.most_columns}, [&](const Axes &s) {
          const Expression row = y.first + s[0], column = z.first + s[1];
          return select(row < y.end && column < z.end, x(images(at[0]), bins.channel(at), row, column), none);
        });
    const Expression count = max(y.end - y.first, 0) * max(z.end - z.first, 0);
    return select(count == 0, constant(x.type(), 0), largest ? total : total / cast(x.type(), max(count, 1)));
  });
}
inline Value region_maxima(const Value &x, const Value &regions, const Value &images, const RegionBins &bins) {
  return region_of_elements("region_maxima", x, regions, images, bins, true);
}
inline Value region_means(const Value &x, const Value &regions, const Value &images, const RegionBins &bins) {
  return region_of_elements("region_means", x, regions, images, bins, false);
}

}  // namespace saltern::algorithms
