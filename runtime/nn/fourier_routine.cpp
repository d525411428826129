#include "runtime/nn/fourier_routine.h"

#define EIGEN_MPL2_ONLY
#include <cmath>
#include <complex>
#include <unsupported/Eigen/FFT>

namespace saltern {

namespace {

using Number = std::complex<double>;
using Line = std::vector<Number>;

constexpr double pi = 3.14159265358979323846;

// Transforms of lines of one length, forward and not scaled.
class Transform {
 public:
  explicit Transform(size_t n) : n_(n), result_(n) {
    fourier_.SetFlag(Eigen::FFT<double>::Unscaled);
    constexpr size_t small = 64;
    if (largest_factor(n) > small) prepare();
  }

  const Line &operator()(const Line &x) {
    if (n_ < 2) return x;
    if (!turns_.empty()) return by_convolution(x);
    fourier_.fwd(result_.data(), x.data(), static_cast<Eigen::Index>(n_));
    return result_;
  }

 private:
  static size_t largest_factor(size_t n) {
    size_t p = 2;
    while (p * p <= n)
      if (n % p == 0)
        n /= p;
      else
        ++p;
    return n;
  }

  // j k = (j^2 + k^2 - (k - j)^2) / 2: a convolution with w(j) = e^(-pi i j^2 / n), whose squares are taken modulo 2 n.
  void prepare() {
    size_t size = 1;
    while (size < 2 * n_) size *= 2;
    Line mirrored(size);
    for (size_t j = 0; j < n_; ++j) {
      turns_.push_back(std::polar(1.0, -pi * static_cast<double>(j * j % (2 * n_)) / static_cast<double>(n_)));
      mirrored[j] = mirrored[(size - j) % size] = std::conj(turns_[j]);
    }
    kernel_.resize(size);
    fourier_.fwd(kernel_.data(), mirrored.data(), static_cast<Eigen::Index>(size));
  }

  const Line &by_convolution(const Line &x) {
    const auto size = static_cast<Eigen::Index>(kernel_.size());
    Line turned(kernel_.size()), spectrum(kernel_.size());
    for (size_t j = 0; j < n_; ++j) turned[j] = x[j] * turns_[j];
    fourier_.fwd(spectrum.data(), turned.data(), size);
    for (size_t k = 0; k < spectrum.size(); ++k) spectrum[k] *= kernel_[k];
    fourier_.inv(turned.data(), spectrum.data(), size);
    for (size_t k = 0; k < n_; ++k) result_[k] = turned[k] * turns_[k] / static_cast<double>(size);
    return result_;
  }

  size_t n_;
  Eigen::FFT<double> fourier_;
  Line result_, turns_, kernel_;
};

// The inverse is the conjugate of the transform of the conjugates.
void transform_along(Line &all, size_t n, size_t stride, bool inverse) {
  if (n == 0) return;
  Transform transform(n);
  Line line(n);
  for (size_t begin = 0; begin < all.size(); begin += n * stride)
    for (size_t at = begin; at < begin + stride; ++at) {
      for (size_t j = 0; j < n; ++j) line[j] = inverse ? std::conj(all[at + j * stride]) : all[at + j * stride];
      const Line &y = transform(line);
      for (size_t k = 0; k < n; ++k) all[at + k * stride] = inverse ? std::conj(y[k]) : y[k];
    }
}

template <typename T>
void transform_all(const Tensor &y, const Tensor &x, const std::vector<int64_t> &dimensions, bool inverse,
                   double scale) {
  const T *from = static_cast<const T *>(x.raw());
  T *to = static_cast<T *>(y.raw());
  Line all(static_cast<size_t>(x.size() / 2));
  for (size_t i = 0; i < all.size(); ++i) all[i] = {from[2 * i], from[2 * i + 1]};
  for (int64_t d : dimensions) {
    size_t stride = 1;
    for (int i = static_cast<int>(d) + 1; i + 1 < x.rank(); ++i) stride *= static_cast<size_t>(x.extent(i));
    transform_along(all, static_cast<size_t>(x.extent(static_cast<int>(d))), stride, inverse);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    to[2 * i] = static_cast<T>(scale * all[i].real());
    to[2 * i + 1] = static_cast<T>(scale * all[i].imag());
  }
}

}  // namespace

Tensor fourier_transform(const Tensor &x, const std::vector<int64_t> &dimensions, bool inverse, double scale) {
  if (x.rank() < 1 || x.extent(-1) != 2 || (x.type() != Type::f32 && x.type() != Type::f64))
    fail("a Fourier transform of ", facts(x.type()).name, to_string(x.shape()),
         "; expected complex numbers (..., 2), of f32 or f64");
  for (int64_t d : dimensions)
    if (d < 0 || d + 1 >= x.rank()) fail("a Fourier transform of ", to_string(x.shape()), " along dimension ", d);
  const Tensor y = Tensor::empty(x.shape(), x.type());
  if (y.is_outline() || x.size() == 0) return y;
  const Tensor dense = x.in_layout(Layout::row_major);
  if (x.type() == Type::f32)
    transform_all<float>(y, dense, dimensions, inverse, scale);
  else
    transform_all<double>(y, dense, dimensions, inverse, scale);
  return y;
}

}  // namespace saltern
