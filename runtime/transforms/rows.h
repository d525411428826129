#pragma once
// For those who write rows of transforms.

#include "runtime/transforms/beside.h"
#include "runtime/transforms/image.h"
#include "runtime/transforms/resampling.h"
#include "runtime/transforms/transform.h"

namespace saltern::transforms {

std::vector<TransformRow> container_rows();
std::vector<TransformRow> value_rows();
std::vector<TransformRow> size_rows();
std::vector<TransformRow> place_rows();
std::vector<TransformRow> colour_rows();
std::vector<TransformRow> augment_rows();
std::vector<TransformRow> batch_rows();

// Of a function of a picture, which moves what is beside it, too (beside.h).
using OfImage = std::function<Image(const Arguments &made, Random &random, const Image &x)>;
TransformRow::Apply of_image(OfImage f);
// Of one that is called with the probability that the argument p is.
TransformRow::Apply sometimes(OfImage f);

// Of one that leaves pixels where they are.
TransformRow::Apply in_place(TransformRow::Apply of_input);

// ---- Draws.
double drawn(Random &random, double low, double high);
// Of low, ..., high - 1.
int64_t drawn_below(Random &random, int64_t low, int64_t high);
// 0, ..., count - 1 in some order.
std::vector<int64_t> drawn_order(Random &random, int64_t count);
// As likely as the numbers say that X^a (1 - X)^b is.
double drawn_beta(Random &random, double alpha, double beta);
double drawn_gamma(Random &random, double shape);

// ---- Arguments.
extern const std::string interpolation_and_antialias;  // interpolation='bilinear', antialias=True
Filter filter_of(const Arguments &a, const char *name = "interpolation");
// (height, width) of a size that is one number or two.
std::pair<int64_t, int64_t> height_and_width(const Arguments &a, const char *name);
std::pair<double, double> range_of(const Arguments &a, const char *name);
// One number, or one for each channel.
std::vector<float> fill_of(const Arguments &a, const Image &x, const char *name = "fill");
void expect_probability(const Arguments &a);

// ---- Affine maps, as torchvision makes them.
// What a pixel of the result is multiplied by, from the middle of both: turned by degrees, moved, scaled, sheared.
struct Affine {
  double a, b, c, d, e, f;  // x' = a x + b y + c, y' = d x + e y + f
};
Affine inverse_affine(double center_x, double center_y, double degrees, double right, double down, double scale,
                      double shear_x, double shear_y);
Image moved(const Image &x, const Affine &m, int64_t height, int64_t width, Filter filter,
            const std::vector<float> &fill);

}  // namespace saltern::transforms
