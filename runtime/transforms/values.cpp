// Transforms of values, whatever place they have: types, scales, noise.

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/types.h"
#include "runtime/transforms/rows.h"

namespace saltern::transforms {

namespace {

bool is_byte(Type t) { return t == Type::u8; }

// Bytes from 0 to 255, real numbers from 0 to 1.
Argument as_type(const Arguments &a, const Argument &x, bool scales) {
  const Variable v = nn::variable_of(x);
  const Type from = v.type(), to = nn::type_named(a.word("dtype"));
  if (!scales || from == to || (is_real(from) && is_real(to))) return nn::to_type(v, to);
  if (!(is_byte(from) || is_real(from)) || !(is_byte(to) || is_real(to)))
    fail(a.owner(), ": from ", facts(from).name, " to ", facts(to).name,
         " nothing is scaled; expected u8 and real numbers");
  Image image = image_of(a.owner(), nn::to_type(v, Type::f32).value());
  const float factor = is_real(to) ? 1 / 255.0F : 255 + 1 - 1e-3F;
  for (float &p : image.pixels) p = is_real(to) ? p / 255 : p * factor;
  image.type = is_real(to) ? Type::f32 : to;
  return nn::to_type(tensor_of(image), to);
}

Image normalized(const Arguments &a, Random &, const Image &x) {
  if (x.is_whole()) fail("a picture is whole numbers; ToDtype('float32', scale=True) makes them real");
  const auto of = [&](const char *name) {
    const std::vector<double> all = a.reals(name);
    if (all.size() != 1 && all.size() != static_cast<size_t>(x.channels))
      a.refuse(name, "one number, or one for each of " + std::to_string(x.channels) + " channels");
    return all;
  };
  const std::vector<double> mean = of("mean"), deviation = of("std");
  Image y = x;
  for (int64_t p = 0; p < x.planes(); ++p) {
    const auto c = static_cast<size_t>(p % x.channels);
    const auto m = static_cast<float>(mean[mean.size() == 1 ? 0 : c]),
               d = static_cast<float>(deviation[deviation.size() == 1 ? 0 : c]);
    for (int64_t i = 0; i < x.area(); ++i) y.plane(p)[i] = (x.plane(p)[i] - m) / d;
  }
  return y;
}

Image noisy(const Arguments &a, Random &random, const Image &x) {
  if (x.is_whole()) fail("a picture is whole numbers; noise is for real ones");
  Image y = x;
  const auto mean = static_cast<float>(a.real("mean")), sigma = static_cast<float>(a.real("sigma"));
  for (float &v : y.pixels) v += mean + sigma * random.normal();
  if (a.flag("clip")) clamp(y);
  return y;
}

// (x - mean) matrix, of all elements of a sample.
Argument linear(const Arguments &a, Random &, const Arguments &in) {
  const Variable x = in.variable("inpt"), matrix = a.variable("transformation_matrix"),
                 mean = a.variable("mean_vector");
  const int64_t count = matrix.rank() == 2 ? matrix.extent(0) : -1;
  if (matrix.rank() != 2 || matrix.extent(1) != count) a.refuse("transformation_matrix", "a square");
  if (mean.size() != count) a.refuse("mean_vector", std::to_string(count) + " numbers");
  if (x.size() == 0 || x.size() % count != 0)
    fail(a.owner(), ": a sample is ", to_string(x.shape()), "; expected ", count, " elements");
  const Variable flat = nn::composed("reshape", {x, {-1, count}});
  const Variable y = nn::composed("matmul", {flat - nn::composed("reshape", {mean, {1, count}}), matrix});
  return nn::composed("reshape", {y, Argument(x.shape())});
}

// Of the dimension before channels.
Argument some_frames(const Arguments &a, Random &, const Arguments &in) {
  const Variable x = in.variable("inpt");
  const int64_t wanted = a.integer("num_samples");
  if (x.rank() < 4) fail(a.owner(), ": a video is ", to_string(x.shape()), "; expected (..., T, C, H, W)");
  const int64_t axis = x.rank() - 4, last = x.extent(static_cast<int>(axis)) - 1;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < wanted; ++i)
    places.push_back(wanted == 1 ? 0
                                 : static_cast<int64_t>(static_cast<float>(last) * static_cast<float>(i) /
                                                        static_cast<float>(wanted - 1)));
  return nn::call("index_select", {x, axis, Tensor::of<int64_t>({wanted}, places)});
}

}  // namespace

std::vector<TransformRow> value_rows() {
  const Signature called = of_sample();
  const auto same = [](const Arguments &, Random &, const Arguments &in) { return in["inpt"]; };
  const auto check_type = [](const Arguments &a) { nn::type_named(a.word("dtype")); };
  return {
      {"Identity", Signature(""), in_place(same)},
      {"ToDtype", Signature("dtype, scale=False"), in_place([](const Arguments &a, Random &, const Arguments &in) {
         return as_type(a, in["inpt"], a.flag("scale"));
       }),
       called, check_type},
      {"ConvertImageDtype", Signature("dtype='float32'"),
       in_place([](const Arguments &a, Random &, const Arguments &in) { return as_type(a, in["inpt"], true); }), called,
       check_type},
      {"Normalize", Signature("mean, std, inplace=False"), of_image(normalized), called,
       [](const Arguments &a) {
         for (const double d : a.reals("std"))
           if (d == 0) a.refuse("std", "no zeros");
       }},
      {"GaussianNoise", Signature("mean=0.0, sigma=0.1, clip=True"), of_image(noisy), called,
       [](const Arguments &a) {
         if (!(a.real("sigma") >= 0)) a.refuse("sigma", "0 or more");
       }},
      {"LinearTransformation", Signature("transformation_matrix, mean_vector"), linear, Signature("inpt")},
      {"UniformTemporalSubsample", Signature("num_samples"), in_place(some_frames), called,
       [](const Arguments &a) {
         if (a.integer("num_samples") < 1) a.refuse("num_samples", "1 or more");
       }},
  };
}

}  // namespace saltern::transforms
