// Pools over regions of interest, with torchvision's names: (N, C, H, W) and regions -> (regions, C, P, Q).

#include "algorithms/regions.h"

#include <cmath>

#include "runtime/layers/movement.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- What all are given.

// Regions (image, x1, y1, x2, y2), or a list with those of each image, (x1, y1, x2, y2).
Variable regions_of(const Arguments &a, const Variable &x) {
  if (!a["boxes"].as<Argument::List>()) {
    const Variable all = a.variable("boxes");
    if (all.shape().size() != 2 || all.shape()[1] != 5) a.refuse("boxes", "(regions, 5): image, x1, y1, x2, y2");
    return all;
  }
  std::vector<Variable> rows;
  for (const Variable &of_image : a.variables("boxes")) {
    if (of_image.shape().size() != 2 || of_image.shape()[1] != 4)
      a.refuse("boxes", "tensors (regions, 4): x1, y1, x2, y2");
    const Tensor image = Tensor::full({of_image.shape()[0], 1}, static_cast<double>(rows.size()), of_image.type());
    rows.push_back(concat({image, of_image}, 1));
  }
  if (static_cast<int64_t>(rows.size()) != x.shape()[0]) a.refuse("boxes", "a tensor for each image");
  return concat(rows, 0);
}

struct GivenRegions {
  Variable x, regions;
  Shape size;  // of the result, in bins
  double scale;

  explicit GivenRegions(const Arguments &a)
      : x(a.variable("input")), size(integers_from(a, "output_size", 2, 1)), scale(a.real("spatial_scale")) {
    if (x.shape().size() != 4) a.refuse("input", "images (N, C, H, W)");
    regions = regions_of(a, x);
    if (regions.type() != x.type()) a.refuse("boxes", std::string(facts(x.type()).name) + ", as the input is");
    if (regions.value().is_outline()) return;
    for (int64_t i = 0; i < regions.shape()[0]; ++i)
      if (const double image = corner(i, 0); !(image >= 0 && image < static_cast<double>(x.shape()[0])))
        a.refuse("boxes", "images below " + std::to_string(x.shape()[0]));
  }

  double corner(int64_t region, size_t column) const { return reals()[static_cast<size_t>(region) * 5 + column]; }

  // The most that a bin of any region can have, down or across, of elements or of samples between them. Loops go so far.
  Shape most(const Arguments &a) const {
    if (regions.value().is_outline())
      fail(a.owner(), ": sizes of regions decide how many elements are read; give a sampling_ratio to trace it");
    Shape most = {1, 1};
    for (int64_t i = 0; i < regions.shape()[0]; ++i)
      for (size_t d = 0; d < 2; ++d) {
        const double length = (corner(i, 4 - d) - corner(i, 2 - d)) * scale;
        if (!std::isfinite(length)) a.refuse("boxes", "finite regions");
        // Of rounded ends, and one that is cut on both sides.
        const double bin = std::ceil((std::max(length, 0.0) + 2) / static_cast<double>(size[d])) + 1;
        most[d] = std::max(most[d], static_cast<int64_t>(std::min(bin, 1e6)));
      }
    return most;
  }

  Attributes attributes(const Shape &most, bool by_place) const {
    return {{"size", size}, {"most", most}, {"scale", scale}, {"by_place", int64_t{by_place}}};
  }

 private:
  const std::vector<double> &reals() const {
    if (reals_.empty()) reals_ = regions.value().reals();
    return reals_;
  }
  mutable std::vector<double> reals_;
};

// Bins that have channels of their own.
void expect_channels(const Arguments &a, const GivenRegions &g) {
  const int64_t bins = g.size[0] * g.size[1];
  if (g.x.shape()[1] % bins != 0) a.refuse("input", "channels that " + std::to_string(bins) + " bins divide");
}

algorithms::RegionBins bins_of(const Attributes &a) {
  const Shape &size = a.integers("size"), &most = a.integers("most");
  return {size.at(0), size.at(1), most.at(0), most.at(1), a.real("scale"), a.integer("by_place") != 0};
}

// ---- Samples between elements.

// x, regions (r, 5)
const Operation samples("region_samples", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::region_samples(in.at(0), algorithms::region_corners(in.at(1)), algorithms::region_images(in[1]),
                                     bins_of(a), {a.integer("ratio"), a.integer("aligned") != 0})};
});

Variable aligned(const Arguments &a, const GivenRegions &g, bool by_place, bool is_aligned) {
  const int64_t ratio = std::max<int64_t>(a.integer("sampling_ratio"), 0);
  const Shape most = ratio > 0 ? Shape{ratio, ratio} : g.most(a);
  return apply_one(samples, {g.x, g.regions},
                   g.attributes(most, by_place).with("ratio", ratio).with("aligned", int64_t{is_aligned}));
}

const Function roi_align("roi_align", "input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False",
                         [](const Arguments &a) { return aligned(a, GivenRegions(a), false, a.flag("aligned")); });
const Function ps_roi_align("ps_roi_align", "input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1",
                            [](const Arguments &a) {
                              const GivenRegions g(a);
                              expect_channels(a, g);
                              return aligned(a, g, true, true);
                            });
const LayerRow roi_align_layer("RoIAlign", "output_size, spatial_scale, sampling_ratio, aligned=False",
                               calls("roi_align", "input, boxes"));
const LayerRow ps_roi_align_layer("PSRoIAlign", "output_size, spatial_scale, sampling_ratio",
                                  calls("ps_roi_align", "input, boxes"));

// ---- Whole elements.

const Operation maxima("region_maxima", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::region_maxima(in.at(0), algorithms::region_corners(in.at(1)), algorithms::region_images(in[1]),
                                    bins_of(a))};
});
const Operation means("region_means", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::region_means(in.at(0), algorithms::region_corners(in.at(1)), algorithms::region_images(in[1]),
                                   bins_of(a))};
});

const Function roi_pool("roi_pool", "input, boxes, output_size, spatial_scale=1.0", [](const Arguments &a) {
  const GivenRegions g(a);
  return apply_one(maxima, {g.x, g.regions}, g.attributes(g.most(a), false));
});
const Function ps_roi_pool("ps_roi_pool", "input, boxes, output_size, spatial_scale=1.0", [](const Arguments &a) {
  const GivenRegions g(a);
  expect_channels(a, g);
  return apply_one(means, {g.x, g.regions}, g.attributes(g.most(a), true));
});
const LayerRow roi_pool_layer("RoIPool", "output_size, spatial_scale", calls("roi_pool", "input, boxes"));
const LayerRow ps_roi_pool_layer("PSRoIPool", "output_size, spatial_scale", calls("ps_roi_pool", "input, boxes"));

}  // namespace

const void *regions() { return &roi_align; }

}  // namespace saltern::nn
