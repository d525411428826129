#include "runtime/layers/window_rows.h"

#include "runtime/layers/matmul.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// An image or weights whose channels are innermost, as rows of so many columns.
Tensor as_rows(const Tensor &t, int64_t columns) { return t.viewed({t.size() / columns, columns}, {columns, 1}); }

Tensor with_channels_innermost(const Shape &shape) { return Tensor::empty(shape, Type::f32, Layout::channels_last); }

// The windows of an image, (pixels, ky kx c).
Tensor windows_of(const Tensor &x, const Shape &kernel, const Shape &y, const Window &s) {
  const int64_t images = x.extent(0), channels = x.extent(1), height = x.extent(2), width = x.extent(3);
  const Shape shape = {images, channels, (y[2] - 1) * s.y.stride + kernel[2], (y[3] - 1) * s.x.stride + kernel[3]};
  // What windows reach of the image, with zeros around it.
  const Tensor padded = Tensor::zeros(shape, Type::f32, Layout::channels_last);
  const auto reached = [](int64_t extent, int64_t reach, int64_t before) { return std::min(extent, reach - before); };
  const int64_t rows = reached(height, shape[2], s.y.pad_before), columns = reached(width, shape[3], s.x.pad_before);
  copy(padded.slice(2, s.y.pad_before, rows).slice(3, s.x.pad_before, columns),
       x.slice(2, 0, rows).slice(3, 0, columns));
  const Shape &by = padded.strides();
  const Tensor all = Tensor::empty({images, y[2], y[3], kernel[2], kernel[3], channels});
  copy(all, padded.viewed(all.shape(), {by[0], by[2] * s.y.stride, by[3] * s.x.stride, by[2], by[3], 1}));
  return all.reshaped({images * y[2] * y[3], kernel[2] * kernel[3] * channels});
}

}  // namespace

bool WindowRows::fits() const {
  constexpr int64_t few_pixels = 25, vector = 16;
  const auto is_plain_along = [](const Sliding<int64_t> &s, int64_t kernel) {
    return s.dilation == 1 && s.pad_before < kernel;
  };
  const bool is_plain = is_plain_along(window.y, w[2]) && is_plain_along(window.x, w[3]);
  return is_plain && y[2] * y[3] < few_pixels && w[2] * w[3] > 1 && w[0] % vector == 0 && w[1] % vector == 0 &&
         w[1] == x[1] && elements(y) > 0;
}

bool WindowRows::has_gradient_x() const {
  const auto is_plain = [](const Sliding<int64_t> &s, int64_t kernel) {
    return s.stride == 1 && s.pad_before < kernel && s.pad_after < kernel;
  };
  return fits() && is_plain(window.y, w[2]) && is_plain(window.x, w[3]);
}

Tensor WindowRows::result(const Tensor &x, const Tensor &w, const Tensor &b) const {
  const Tensor y = with_channels_innermost(this->y), windows = windows_of(x, w.shape(), y.shape(), window);
  call("dense",
       {reversed(windows), reversed(as_rows(w, windows.extent(1))), flat(b), reversed(as_rows(y, y.extent(1)))});
  return y;
}

// A convolution with the weights turned around.
Tensor WindowRows::gradient_x(const Tensor &w, const Tensor &dy) const {
  const int64_t outputs = w.extent(0), channels = w.extent(1), rows = w.extent(2), columns = w.extent(3);
  const auto back = [](Sliding<int64_t> s, int64_t kernel) {
    return Sliding<int64_t>{1, 1, kernel - 1 - s.pad_before, kernel - 1 - s.pad_after};
  };
  const Tensor dx = with_channels_innermost(x), turned = Tensor::empty({rows, columns, outputs, channels});
  for (int64_t ky = 0; ky < rows; ++ky)
    for (int64_t kx = 0; kx < columns; ++kx)
      copy(turned.slice(0, ky, 1).slice(1, kx, 1).viewed({outputs, channels}, {channels, 1}),
           w.slice(2, rows - 1 - ky, 1)
               .slice(3, columns - 1 - kx, 1)
               .viewed({outputs, channels}, {w.strides()[0], w.strides()[1]}));
  const Tensor windows = windows_of(dy, w.shape(), dx.shape(), {back(window.x, columns), back(window.y, rows)});
  multiply(windows, turned.reshaped({rows * columns * outputs, channels}), as_rows(dx, channels));
  return dx;
}

Tensor WindowRows::gradient_w(const Tensor &x, const Tensor &dy) const {
  const Tensor dw = with_channels_innermost(w), windows = windows_of(x, w, dy.shape(), window);
  multiply(turned(as_rows(dy, dy.extent(1))), windows, as_rows(dw, windows.extent(1)));
  return dw;
}

}  // namespace saltern
