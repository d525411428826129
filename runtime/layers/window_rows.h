#pragma once
// Convolutions as products of matrices: the windows of all pixels are the rows of one, windows(n y x, ky kx c), and weights,
// whose channels are innermost, are the other, w(o, ky kx c).
//
// Kernels of convolutions have tiles that end with an image, most of which is idle where that has 2 x 2 pixels
// (schedules/patterns/window_rows.h has figures), and go through channels, which are no loop where there are few: a step of
// LeNet-5 at a batch of 64 took 19.6 ms on one core of a Zen 4, and takes 4.6. Compiled models have the former by a kernel of
// its own (schedules/forms/window_rows.h).

#include "runtime/layers/window.h"

namespace saltern {

// Of shapes (N, C, H, W), (O, C, KH, KW) and (N, O, Y, X) of one group.
struct WindowRows {
  Shape x, w, y;
  Window window;

  // Whether these are few pixels, of enough channels, or few channels.
  bool fits() const;

  // Of tensors whose channels are innermost.
  Tensor result(const Tensor &x, const Tensor &w, const Tensor &b) const;
  Tensor gradient_x(const Tensor &w, const Tensor &dy) const;
  Tensor gradient_w(const Tensor &x, const Tensor &dy) const;

 private:
  static constexpr int64_t vector = 16;

  bool are_few_pixels() const;
  int64_t bytes_of_image() const;
  int64_t images_at_once() const;
  // Calls f(some, windows) for each stretch of images: some(t) are those of a tensor, and windows is memory for theirs.
  template <typename F>
  void by_stretches(const F &f) const;
  void call_lines(const char *kernel, const KernelArgument &from, std::initializer_list<int64_t> integers,
                  const KernelArgument &to) const;
  // (n, y x, ky kx c) as (kx c, ky, x, y, n).
  View runs(const Tensor &windows) const;
  void put_windows(const Tensor &images, const Tensor &windows) const;
};

}  // namespace saltern
