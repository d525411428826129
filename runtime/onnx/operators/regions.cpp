// Pools over regions of interest: (N, C, H, W) -> (regions, C, P, Q). MaxRoiPool rounds regions to whole elements,
// RoiAlign reads between them.

#include <algorithm>
#include <cmath>

#include "algorithms/regions.h"
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
  const Value all = cast(type, regions);
  // A bin may be as large as the image.
  const algorithms::RegionBins bins = {pooled[0], pooled[1], x.shape[2], x.shape[3], scale};
  n.give(0, cast(x.type, algorithms::region_maxima(cast(type, x), algorithms::region_corners(all),
                                                   algorithms::region_images(all), bins)));
}

// ---- RoiAlign: each bin is the mean, or the largest, of samples on a grid inside it.

// The most samples that any region has along one dimension of a bin. Where their number follows from the regions, it
// decides on the loops, and the regions must be known.
int64_t most_samples(const Lowering &n, const algorithms::RegionSamples &how, double scale, size_t column,
                     int64_t bins) {
  if (how.ratio > 0) return how.ratio;
  const std::vector<double> all = n.known(1, "where samples are (sampling_ratio is 0)").reals();
  int64_t most = 0;
  for (size_t i = column; i + 2 < all.size(); i += 4) {
    const double extent = (all[i + 2] - all[i]) * scale;
    const double size = (how.aligned ? extent : std::max(extent, 1.0)) / static_cast<double>(bins);
    most = std::max(most, integer_of(std::ceil(size)) + 1);  // one more: this is not rounded as f32 is
  }
  return most;
}

void roi_align(Lowering &n) {
  const Operand &x = n.input(0), &regions = n.input(1), &images = n.input(2);
  expect_same_type(x, regions);
  expect_regions(x, regions, 4);
  expect_shape(images, {regions.shape[0]}, "batch_indices");
  expect_indices(images, x.shape[0]);
  const Attributes &a = n.attributes();
  const char *name = "coordinate_transformation_mode";
  const std::string mode = one_of({"avg", "max"}, "mode", a.word("mode", "avg"));
  const std::string pixels = one_of({"half_pixel", "output_half_pixel"}, name,
                                    a.word(name, n.opset() >= 16 ? "half_pixel" : "output_half_pixel"));
  const algorithms::RegionSamples how = {a.integer("sampling_ratio", 0), pixels == "half_pixel", mode == "max"};
  const int64_t height = a.integer("output_height", 1), width = a.integer("output_width", 1);
  const double scale = a.real("spatial_scale", 1);
  const algorithms::RegionBins bins = {height, width, most_samples(n, how, scale, 1, height),
                                       most_samples(n, how, scale, 0, width), scale};
  const Type type = working_type(x.type);
  n.give(0, cast(x.type,
                 algorithms::region_samples(cast(type, x), cast(type, regions), cast(Type::i64, images), bins, how)));
}

}  // namespace

const OperatorList region_operators = {{"MaxRoiPool", max_roi_pool}, {"RoiAlign", roi_align}};

}  // namespace saltern
