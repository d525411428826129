// Pools over regions of interest: (N, C, H, W) -> (regions, C, P, Q). MaxRoiPool rounds regions to whole elements,
// RoiAlign reads between them.

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

using namespace formula;

void expect_regions(const Operand &x, const Operand &regions, int64_t columns) {
  if (x.rank() != 4 || regions.rank() != 2 || regions.shape[1] != columns)
    fail("an image of ", to_string(x.shape), " and regions of ", to_string(regions.shape),
         "; expected (N, C, H, W) and [regions, ", columns, "]");
}

Expression infinity_below(Type type) { return formula::constant(type, -std::numeric_limits<double>::infinity()); }

// ---- MaxRoiPool: regions are (image, x1, y1, x2, y2), ends included.

void max_roi_pool(Lowering &n) {
  const Operand &x = n.input(0), &regions = n.input(1);
  expect_same_type(x, regions);
  expect_regions(x, regions, 5);
  const std::vector<int64_t> pooled = n.attributes().integers("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    fail("pooled_shape is ", to_string(pooled), "; expected two positive numbers");
  const double scale = n.attributes().real("spatial_scale", 1);
  const Type type = working_type(x.type);
  const Shape shape = {regions.shape[0], x.shape[1], pooled[0], pooled[1]};
  const Value from = cast(type, x), all = cast(type, regions);
  n.give(0, cast(x.type, compute("max_roi_pool", extents(shape), [&](const Axes &at) {
                   const auto region = [&](int64_t column) { return all(at[0], column); };
                   // [first, end) of a bin, along the dimension whose ends are in these columns.
                   struct Bin {
                     Expression first, end;
                   };
                   const auto bin = [&](int64_t column, size_t d) {
                     const auto whole = [&](int64_t c) { return floor(region(c) * scale + 0.5); };
                     const Expression begin = whole(column), extent = max(whole(column + 2) - begin + 1.0, 1.0);
                     const Expression size = extent / static_cast<double>(shape[d]), p = cast(type, at[d]);
                     const auto clamped = [&](const Expression &e) {
                       return cast(Type::i64, max(min(e + begin, static_cast<double>(x.shape[d])), 0.0));
                     };
                     return Bin{clamped(floor(p * size)), clamped(call(Function::ceiling, (p + 1.0) * size))};
                   };
                   const Bin y = bin(2, 2), z = bin(1, 3);
                   const Expression image = cast(Type::i64, region(0));
                   // A bin may be as large as the image: all of it is looked at.
                   const Expression largest =
                       reduce(Function::greatest, {x.shape[2], x.shape[3]}, [&](const std::vector<Expression> &s) {
                         const Expression inside = s[0] >= y.first && s[0] < y.end && s[1] >= z.first && s[1] < z.end;
                         return select(inside, from(image, at[1], s[0], s[1]), infinity_below(type));
                       });
                   const Expression empty = y.end <= y.first || z.end <= z.first;
                   return select(empty, literal(largest, 0), largest);
                 })));
}

// ---- RoiAlign: each bin is the mean, or the largest, of samples on a grid inside it.

struct Alignment {
  int64_t height, width, ratio;
  double scale, shift;  // regions are scaled, then moved by half an element where these have their centres there
  bool largest;
};

Alignment alignment(const Lowering &n) {
  const Attributes &a = n.attributes();
  const char *name = "coordinate_transformation_mode";
  const std::string mode = one_of({"avg", "max"}, "mode", a.word("mode", "avg"));
  const std::string pixels = one_of({"half_pixel", "output_half_pixel"}, name,
                                    a.word(name, n.opset() >= 16 ? "half_pixel" : "output_half_pixel"));
  return {a.integer("output_height", 1), a.integer("output_width", 1),     a.integer("sampling_ratio", 0),
          a.real("spatial_scale", 1),    pixels == "half_pixel" ? 0.5 : 0, mode == "max"};
}

double region_extent(const Alignment &how, double begin, double end) {
  const double extent = (end - begin) * how.scale;
  return how.shift == 0 ? std::max(extent, 1.0) : extent;
}

// The most samples that any region has along one dimension of a bin. Where their number follows from the regions, it
// decides on the loops, and the regions must be known.
int64_t most_samples(const Lowering &n, const Alignment &how, size_t column, int64_t bins) {
  if (how.ratio > 0) return how.ratio;
  const std::vector<double> all = n.known(1, "where samples are (sampling_ratio is 0)").reals();
  int64_t most = 0;
  for (size_t i = column; i + 2 < all.size(); i += 4) {
    const double size = region_extent(how, all[i], all[i + 2]) / static_cast<double>(bins);
    most = std::max(most, integer_of(std::ceil(size)) + 1);  // one more: this is not rounded as f32 is
  }
  return most;
}

// Along one dimension: where bins begin and how many samples they have.
struct Grid {
  Expression begin, bin, samples;
};

Grid grid(const Alignment &how, const Expression &low, const Expression &high, int64_t bins) {
  const Expression begin = low * how.scale - how.shift, end = high * how.scale - how.shift;
  const Expression extent = how.shift == 0 ? max(end - begin, 1.0) : end - begin;
  const Expression bin = extent / static_cast<double>(bins);
  const Expression samples =
      how.ratio > 0 ? formula::constant_integer(Type::i64, how.ratio) : cast(Type::i64, call(Function::ceiling, bin));
  return {begin, bin, samples};
}

// The two elements around a sample, and the weight of the second; the sample may lie up to one element outside.
struct Neighbours {
  Expression low, high, weight, outside;
};

Neighbours neighbours(const Grid &g, const Expression &place, const Expression &sample, int64_t extent) {
  const Type type = g.bin.type();
  const Expression v =
      g.begin + cast(type, place) * g.bin + (cast(type, sample) + 0.5) * g.bin / cast(type, max(g.samples, 1));
  const Expression inside = max(v, 0.0), low = cast(Type::i64, floor(inside));
  const Expression at_end = low >= extent - 1;
  return {select(at_end, literal(low, extent - 1), low), select(at_end, literal(low, extent - 1), low + 1),
          select(at_end, literal(v, 0), inside - floor(inside)), v < -1.0 || v > static_cast<double>(extent)};
}

void roi_align(Lowering &n) {
  const Operand &x = n.input(0), &regions = n.input(1), &images = n.input(2);
  expect_same_type(x, regions);
  expect_regions(x, regions, 4);
  expect_shape(images, {regions.shape[0]}, "batch_indices");
  expect_indices(images, x.shape[0]);
  const Alignment how = alignment(n);
  const Type type = working_type(x.type);
  const Shape shape = {regions.shape[0], x.shape[1], how.height, how.width};
  const Shape steps = {most_samples(n, how, 1, how.height), most_samples(n, how, 0, how.width)};
  const Value from = cast(type, x), all = cast(type, regions), which = cast(Type::i64, images);
  n.give(0,
         cast(x.type, compute("roi_align", extents(shape), [&](const Axes &at) {
                const auto region = [&](int64_t column) { return all(at[0], column); };
                const Expression image = which(at[0]);
                const Grid rows = grid(how, region(1), region(3), how.height),
                           columns = grid(how, region(0), region(2), how.width);
                const auto sample = [&](const std::vector<Expression> &s) {
                  const Neighbours y = neighbours(rows, at[2], s[0], x.shape[2]),
                                   z = neighbours(columns, at[3], s[1], x.shape[3]);
                  Expression value;
                  for (int corner = 0; corner < 4; ++corner) {
                    const bool lower = corner >= 2, right = corner % 2 == 1;
                    const Expression term = from(image, at[1], lower ? y.high : y.low, right ? z.high : z.low) *
                                            (lower ? y.weight : 1.0 - y.weight) * (right ? z.weight : 1.0 - z.weight);
                    // The largest is that of weighted elements, not of interpolated values: so ONNX's reference has it.
                    value = !value.defined() ? term : how.largest ? max(value, term) : value + term;
                  }
                  const Expression counts = s[0] < rows.samples && s[1] < columns.samples;
                  const Expression seen = select(y.outside || z.outside, literal(value, 0), value);
                  return select(counts, seen, how.largest ? infinity_below(type) : literal(value, 0));
                };
                const Expression total = reduce(how.largest ? Function::greatest : Function::sum, steps, sample);
                const Expression count = max(rows.samples, 0) * max(columns.samples, 0);
                return how.largest ? select(count == 0, literal(total, 0), total) : total / cast(type, max(count, 1));
              })));
}

}  // namespace

const OperatorList region_operators = {{"MaxRoiPool", max_roi_pool}, {"RoiAlign", roi_align}};

}  // namespace saltern
