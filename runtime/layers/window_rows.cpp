#include "runtime/layers/window_rows.h"

#include <algorithm>

#include "runtime/layers/matmul.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// Images whose windows, of so many bytes, are still in the cache when they are read.
constexpr int64_t bytes_at_once = 512 << 10;

// An image or weights whose channels are innermost, as rows of so many columns.
Tensor as_rows(const Tensor &t, int64_t columns) { return t.viewed({t.size() / columns, columns}, {columns, 1}); }

// Images whose channels are innermost as (n, y x, c).
Tensor as_pixels(const Tensor &images) {
  const int64_t channels = images.extent(1), count = images.extent(2) * images.extent(3);
  return images.viewed({images.extent(0), count, channels}, {count * channels, channels, 1});
}

// (N, C, H, W) as (c x, y, n).
View lines(const Tensor &images) {
  const int64_t line = images.extent(1) * images.extent(3), rows = images.extent(2);
  return {images, {{line, 1}, {rows, line}, {images.extent(0), line * rows}}};
}

Tensor with_channels_innermost(const Shape &shape) { return Tensor::empty(shape, Type::f32, Layout::channels_last); }

// y = a b + c of each image.
void multiply_and_add(const Tensor &a, const Tensor &b, const Tensor &c, const Tensor &y) {
  call("tall_matmul", {reversed(a), reversed(b), flat(c), reversed(y)});
}

}  // namespace

bool WindowRows::fits() const {
  constexpr int64_t most_bytes = 1 << 20;  // of the windows of an image, which stay in the cache
  const bool is_plain = window.y.dilation == 1 && window.x.dilation == 1 && w[2] * w[3] > 1 && w[1] == x[1];
  const bool are_few_channels = w[1] < vector && bytes_of_image() <= most_bytes;
  return is_plain && elements(y) > 0 && (are_few_pixels() || are_few_channels);
}

bool WindowRows::are_few_pixels() const {
  constexpr int64_t few = 25;
  return y[2] * y[3] < few && w[0] % vector == 0 && w[1] % vector == 0;
}

int64_t WindowRows::bytes_of_image() const { return 4 * y[2] * y[3] * w[1] * w[2] * w[3]; }

// Few pixels are many weights, which all images go through together. Otherwise how many images there are does not depend on
// threads, which give the same bits so.
int64_t WindowRows::images_at_once() const {
  return std::min(y[0], are_few_pixels() ? y[0] : std::max<int64_t>(1, bytes_at_once / bytes_of_image()));
}

template <typename F>
void WindowRows::by_stretches(const F &f) const {
  const int64_t at_once = images_at_once();
  const Tensor memory = Tensor::empty({at_once, y[2] * y[3], w[1] * w[2] * w[3]});
  for (int64_t first = 0; first < y[0]; first += at_once) {
    const int64_t count = std::min(at_once, y[0] - first);
    f([=](const Tensor &t) { return t.slice(0, first, count); }, memory.slice(0, 0, count));
  }
}

void WindowRows::call_lines(const char *kernel, const KernelArgument &from, std::initializer_list<int64_t> integers,
                            const KernelArgument &to) const {
  std::vector<KernelArgument> arguments = {from};
  append(arguments, integers);
  append(arguments, window);
  arguments.push_back(to);
  call(kernel, std::move(arguments));
}

View WindowRows::runs(const Tensor &windows) const {
  const int64_t run = w[1] * w[3], all = run * w[2];
  return {windows, {{run, 1}, {w[2], run}, {y[3], all}, {y[2], all * y[3]}, {windows.extent(0), all * y[3] * y[2]}}};
}

void WindowRows::put_windows(const Tensor &images, const Tensor &windows) const {
  call_lines("window_lines", lines(images), {w[1], w[3], w[2]}, runs(windows));
}

Tensor WindowRows::result(const Tensor &x, const Tensor &w, const Tensor &b) const {
  const Tensor y = with_channels_innermost(this->y);
  by_stretches([&](const auto &some, const Tensor &windows) {
    put_windows(some(x), windows);
    const int64_t images = windows.extent(0), inputs = windows.extent(2), outputs = w.extent(0);
    if (are_few_pixels())
      call("dense",
           {reversed(as_rows(windows, inputs)), reversed(as_rows(w, inputs)), flat(b), reversed(as_rows(y, outputs))});
    else
      multiply_and_add(windows, w.viewed({images, inputs, outputs}, {0, 1, inputs}), b, as_pixels(some(y)));
  });
  return y;
}

Tensor WindowRows::gradient_x(const Tensor &w, const Tensor &dy) const {
  const Tensor dx = with_channels_innermost(x);
  by_stretches([&](const auto &some, const Tensor &d_windows) {
    const int64_t inputs = d_windows.extent(2), outputs = w.extent(0);
    multiply(as_rows(some(dy), outputs), as_rows(w, inputs), as_rows(d_windows, inputs));
    call_lines("image_of_window_lines", runs(d_windows), {x[1], x[3], x[2]}, lines(some(dx)));
  });
  return dx;
}

// Of few channels, of each image by itself, (n, ky kx c, o), which are then added up.
Tensor WindowRows::gradient_w(const Tensor &x, const Tensor &dy) const {
  const int64_t outputs = w[0], inputs = w[1] * w[2] * w[3];
  const Tensor dw = with_channels_innermost(w), none = Tensor::zeros({outputs}),
               sums = Tensor::empty({inputs, outputs});
  const Tensor parts = are_few_pixels() ? Tensor() : Tensor::empty({y[0], inputs, outputs});
  by_stretches([&](const auto &some, const Tensor &windows) {
    put_windows(some(x), windows);
    const Shape &by = windows.strides();
    if (are_few_pixels())
      multiply(turned(as_rows(dy, outputs)), as_rows(windows, inputs), as_rows(dw, inputs));
    else
      multiply_and_add(windows.viewed({windows.extent(0), inputs, windows.extent(1)}, {by[0], by[2], by[1]}),
                       as_pixels(some(dy)), none, some(parts));
  });
  if (!parts.defined()) return dw;
  call("dense_gradient_b", {reversed(as_rows(parts, sums.size())), flat(sums)});
  copy(as_rows(dw, inputs), turned(sums));
  return dw;
}

}  // namespace saltern
