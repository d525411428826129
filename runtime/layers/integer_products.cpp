#include "runtime/layers/integer_products.h"

#include <algorithm>

#include "runtime/operations.h"

namespace saltern {

namespace {

// Elements of channels [begin, begin + count) as they count from `zero`, in f32.
template <typename T>
Tensor counted(const Tensor &t, int64_t zero, int64_t begin, int64_t count) {
  const Tensor part = t.slice(1, begin, count).in_layout(Layout::row_major);
  const Tensor to = Tensor::empty(part.shape());
  const T *from = part.data<T>();
  std::transform(from, from + part.size(), to.data<float>(), [&](T v) { return static_cast<float>(v - zero); });
  return to;
}

// f32 holds integers up to 2^24, so that sums of some channels are exact in any order; these are added in i32.
Tensor summed(const Tensor &x, const Tensor &w, const Attributes &a) {
  if (x.type() != Type::u8 || w.type() != Type::i8 || x.rank() != 4 || w.rank() != 4)
    fail("operation '", a.owner(), "' takes images of u8 and weights of i8, not ", facts(x.type()).name, " ",
         to_string(x.shape()), " and ", facts(w.type()).name, " ", to_string(w.shape()));
  const int64_t zero = a.integer("zero"), channels = w.extent(1), taps = w.extent(2) * w.extent(3);
  constexpr int64_t exact = (1 << 24) / (255 * 128);
  if (taps > most_integer_taps) fail("operation '", a.owner(), "': a window of ", taps, " taps");
  // Channels of several groups do not lie together: these have one channel each.
  const bool grouped = a.integer("groups", 1) != 1;
  if (grouped && channels != 1) fail("operation '", a.owner(), "': groups of ", channels, " channels");
  const int64_t most = std::max<int64_t>(1, exact / std::max<int64_t>(1, taps));
  Tensor sums;
  for (int64_t begin = 0; begin < channels; begin += most) {
    const int64_t count = std::min(most, channels - begin);
    const Tensor image = counted<uint8_t>(x, zero, begin, grouped ? x.extent(1) : count);
    const Tensor part =
        operations::conv2d.compute({image, counted<int8_t>(w, 0, begin, count)}, a)[0].in_layout(Layout::row_major);
    if (!sums.defined()) sums = Tensor::zeros(part.shape(), Type::i32);
    const float *from = part.data<float>();
    std::transform(from, from + part.size(), sums.data<int32_t>(), sums.data<int32_t>(),
                   [](float f, int32_t sum) { return sum + static_cast<int32_t>(f); });
  }
  return sums;
}

}  // namespace

namespace operations {

const Operation integer_conv2d("integer_conv2d",
                               [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
                                 return {summed(in.at(0), in.at(1), a)};
                               });

const Operation integer_dense("integer_dense",
                              [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
                                const Tensor x = in.at(0).in_layout(Layout::row_major),
                                             w = in.at(1).in_layout(Layout::row_major);
                                if (x.rank() != 2 || w.rank() != 2 || x.extent(1) != w.extent(1))
                                  fail("operation '", a.owner(), "': ", to_string(x.shape()), " and ",
                                       to_string(w.shape()), " do not fit each other");
                                Attributes window = a;
                                window.set("strides", Shape{1, 1});
                                window.set("dilations", Shape{1, 1});
                                window.set("pads", Shape{0, 0, 0, 0});
                                const auto pixels = [](const Tensor &t) {
                                  return t.reshaped({t.extent(0), t.extent(1), 1, 1});
                                };
                                return {summed(pixels(x), pixels(w), window).reshaped({x.extent(0), w.extent(0)})};
                              });

}  // namespace operations

}  // namespace saltern
