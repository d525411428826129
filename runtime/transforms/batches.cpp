// Transforms of pictures and labels of a batch together, and of a part of a picture.

#include <algorithm>
#include <cmath>

#include "runtime/nn/types.h"
#include "runtime/transforms/rows.h"

namespace saltern::transforms {

namespace {

// Labels (N) become (N, classes); scores of classes stay.
Tensor as_scores(const Arguments &a, const Tensor &labels) {
  if (is_real(labels.type()) && labels.rank() == 2)
    return nn::to_type(labels, Type::f32).value().in_layout(Layout::row_major);
  if (labels.rank() != 1 || is_real(labels.type()))
    fail(a.owner(), ": labels are ", facts(labels.type()).name, to_string(labels.shape()),
         "; expected integers (N), or real numbers (N, classes)");
  if (!a.has("num_classes")) a.refuse("num_classes", "their number, for labels that are numbers of classes");
  const int64_t classes = a.integer("num_classes");
  const Tensor scores = Tensor::zeros({labels.extent(0), classes});
  const std::vector<int64_t> all = labels.integers();
  for (size_t n = 0; n < all.size(); ++n) {
    if (all[n] < 0 || all[n] >= classes) fail(a.owner(), ": a label is ", all[n], " of ", classes, " classes");
    scores.data<float>()[static_cast<int64_t>(n) * classes + all[n]] = 1;
  }
  return scores;
}

// part of each row, and 1 - part of the one before it.
Tensor mixed(const Tensor &rows, double part) {
  const Tensor y = Tensor::empty(rows.shape(), rows.type());
  const int64_t n = rows.extent(0), size = rows.size() / std::max(n, int64_t{1});
  const auto p = static_cast<float>(part);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < size; ++k)
      y.data<float>()[i * size + k] =
          p * rows.data<float>()[i * size + k] + (1 - p) * rows.data<float>()[(i + n - 1) % n * size + k];
  return y;
}

Tensor real_images(const Arguments &a, const Arguments &in) {
  const Tensor x = in.variable("images").value();
  if (x.rank() != 4 || x.type() != Type::f32)
    fail(a.owner(), ": images are ", facts(x.type()).name, to_string(x.shape()), "; expected f32(N, C, H, W)");
  if (x.extent(0) != in.variable("labels").extent(0)) fail(a.owner(), ": images and labels are not as many");
  return x.in_layout(Layout::row_major);
}

Argument mix_up(const Arguments &a, Random &random, const Arguments &in) {
  const double part = drawn_beta(random, a.real("alpha"), a.real("alpha"));
  const Tensor x = real_images(a, in), scores = as_scores(a, in.variable("labels").value());
  return Argument::List{mixed(x, part), mixed(scores, part)};
}

Argument cut_mix(const Arguments &a, Random &random, const Arguments &in) {
  const double part = drawn_beta(random, a.real("alpha"), a.real("alpha"));
  const Tensor x = real_images(a, in).clone(), from = x.clone(), scores = as_scores(a, in.variable("labels").value());
  const int64_t n = x.extent(0), c = x.extent(1), h = x.extent(2), w = x.extent(3);
  const int64_t column = drawn_below(random, 0, w), row = drawn_below(random, 0, h);
  const double half = 0.5 * std::sqrt(1 - part);
  const auto reach_x = static_cast<int64_t>(half * static_cast<double>(w)),
             reach_y = static_cast<int64_t>(half * static_cast<double>(h));
  const int64_t left = std::max(column - reach_x, int64_t{0}), right = std::min(column + reach_x, w);
  const int64_t top = std::max(row - reach_y, int64_t{0}), bottom = std::min(row + reach_y, h);
  for (int64_t p = 0; p < n * c; ++p)
    for (int64_t i = top; i < bottom; ++i)
      std::copy_n(from.data<float>() + (((p / c + n - 1) % n * c + p % c) * h + i) * w + left, right - left,
                  x.data<float>() + (p * h + i) * w + left);
  const double kept = 1 - static_cast<double>((right - left) * (bottom - top)) / static_cast<double>(w * h);
  return Argument::List{x, mixed(scores, kept)};
}

void check_mixing(const Arguments &a) {
  if (!(a.real("alpha") > 0)) a.refuse("alpha", "a number above 0");
  if (a.has("num_classes") && a.integer("num_classes") < 1) a.refuse("num_classes", "1 or more");
}

Image erased(const Arguments &a, Random &random, const Image &x) {
  const auto [least, most] = range_of(a, "scale");
  const auto [narrow, wide] = range_of(a, "ratio");
  for (int i = 0; i < 10; ++i) {
    const double area = static_cast<double>(x.area()) * drawn(random, least, most);
    const double ratio = std::exp(drawn(random, std::log(narrow), std::log(wide)));
    const auto height = static_cast<int64_t>(std::nearbyint(std::sqrt(area * ratio))),
               width = static_cast<int64_t>(std::nearbyint(std::sqrt(area / ratio)));
    if (height >= x.height || width >= x.width) continue;
    const int64_t top = drawn_below(random, 0, x.height - height + 1),
                  left = drawn_below(random, 0, x.width - width + 1);
    const bool noise = a["value"].as<std::string>() != nullptr;
    const std::vector<float> fill = noise ? std::vector<float>() : fill_of(a, x, "value");
    Image y = x;
    for (int64_t p = 0; p < x.planes(); ++p)
      for (int64_t r = top; r < top + height; ++r)
        for (int64_t c = left; c < left + width; ++c)
          y.plane(p)[r * x.width + c] =
              noise ? random.normal() : fill[fill.size() == 1 ? 0 : static_cast<size_t>(p % x.channels)];
    return y;
  }
  return x;
}

void check_erasing(const Arguments &a) {
  expect_probability(a);
  if (const auto *word = a["value"].as<std::string>(); word && *word != "random")
    a.refuse("value", "numbers, or 'random'");
  if (const auto s = range_of(a, "scale"); !(s.first >= 0 && s.second <= 1)) a.refuse("scale", "0 to 1");
  if (!(range_of(a, "ratio").first > 0)) a.refuse("ratio", "numbers above 0");
}

}  // namespace

std::vector<TransformRow> batch_rows() {
  const Signature called = of_sample(), of_batches("images, labels");
  return {
      {"MixUp", Signature("*, alpha=1.0, num_classes=None"), mix_up, of_batches, check_mixing},
      {"CutMix", Signature("*, alpha=1.0, num_classes=None"), cut_mix, of_batches, check_mixing},
      {"RandomErasing", Signature("p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0.0, inplace=False"),
       sometimes(erased), called, check_erasing},
  };
}

}  // namespace saltern::transforms
