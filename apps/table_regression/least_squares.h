#pragma once
// What a net has to beat: the weights w with the least squares of [x 1] w - y, by the normal equations, in f64. Features that
// depend on each other, as all words of a column do, get the smallest weights.

#include "runtime/nn/all.h"

namespace saltern {

class LeastSquares {
 public:
  // x: f32 (rows, features), standardised, so that squares of it are of one size; y: f32 (rows, 1).
  LeastSquares(const Tensor &x, const Tensor &y) {
    const int64_t rows = x.extent(0), size = x.extent(1) + 1;
    const Tensor products = Tensor::zeros({size, size}, Type::f64), right = Tensor::zeros({size, 1}, Type::f64);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t j = 0; j < size; ++j) products.data<double>()[i * size + j] += at(x, r, i) * at(x, r, j);
        right.data<double>()[i] += at(x, r, i) * static_cast<double>(y.data<float>()[r]);
      }
    weights_ = nn::variables_of(nn::call("linalg.lstsq", {products, right})).at(0).value().reals();
  }

  // f32 (rows, 1).
  Tensor predict(const Tensor &x) const {
    const Tensor y = Tensor::empty({x.extent(0), 1});
    for (int64_t r = 0; r < x.extent(0); ++r) {
      double sum = 0;
      for (size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] * at(x, r, static_cast<int64_t>(i));
      y.data<float>()[r] = static_cast<float>(sum);
    }
    return y;
  }

 private:
  // Behind the last feature stands 1.
  static double at(const Tensor &x, int64_t row, int64_t i) {
    return i == x.extent(1) ? 1 : static_cast<double>(x.data<float>()[row * x.extent(1) + i]);
  }

  std::vector<double> weights_;
};

}  // namespace saltern
