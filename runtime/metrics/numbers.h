#pragma once
// What metrics compute with: numbers in f64 under a shape, row major, whatever the tensors' types were.

#include <limits>
#include <string>
#include <vector>

#include "runtime/nn/signature.h"

namespace saltern::metrics {

using nn::Argument;
using nn::Arguments;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Numbers {
  Shape shape;
  std::vector<double> all;
  bool whole = false;  // they were, or are to be, integers

  Numbers() = default;
  Numbers(double one) : all{one} {}
  Numbers(std::vector<double> row) : shape{static_cast<int64_t>(row.size())}, all(std::move(row)) {}
  Numbers(Shape shape, std::vector<double> all, bool whole = false)
      : shape(std::move(shape)), all(std::move(all)), whole(whole) {}
  static Numbers zeros(Shape shape) { return {shape, std::vector<double>(static_cast<size_t>(elements(shape)))}; }

  size_t size() const { return all.size(); }
  int rank() const { return static_cast<int>(shape.size()); }
  // 1 behind the last dimension.
  int64_t extent(int d) const { return d < rank() ? shape[static_cast<size_t>(d)] : 1; }
  // Of all dimensions from one on.
  int64_t extent_from(int d) const;
  double &operator[](size_t i) { return all[i]; }
  double operator[](size_t i) const { return all[i]; }
  double *begin() { return all.data(); }
  double *end() { return all.data() + all.size(); }
  const double *begin() const { return all.data(); }
  const double *end() const { return all.data() + all.size(); }
};

// An argument: a tensor, a number, or lists of them. Throws an error that names it where it is something else.
Numbers numbers(const Arguments &a, std::string_view name);
// Nothing where none was given.
Numbers numbers_if_given(const Arguments &a, std::string_view name);
// Two of one shape; an error names the second.
std::pair<Numbers, Numbers> alike(const Arguments &a, std::string_view first = "preds",
                                  std::string_view second = "target");
// As a tensor of f64, or of i64 where they are whole.
Tensor tensor_of(const Numbers &n);
Argument result(const Numbers &n);
// Several, each by a name.
Argument results(const std::vector<std::pair<std::string, Numbers>> &all);

double sum(const Numbers &n);
double mean(const Numbers &n);
// 0 / 0 is `otherwise`, and so is all else by 0.
inline double ratio(double a, double b, double otherwise = 0) { return b == 0 ? otherwise : a / b; }
// 0 log 0 is 0.
double x_log_y(double x, double y);
double sigmoid(double x);
// Numbers outside 0 .. 1 are scores: all of them through a sigmoid then, or a softmax along the rows of a matrix.
void sigmoid_if_scores(Numbers &n);
void softmax_if_scores(Numbers &n);
// [n, c, ...] as [n ..., c].
Numbers channels_last(const Numbers &n);
// Compared in f32, as scores mostly are: 0.3 is not above the threshold 0.3.
inline bool is_above(double x, double limit) { return static_cast<float>(x) > static_cast<float>(limit); }
inline bool is_not_below(double x, double limit) { return static_cast<float>(x) >= static_cast<float>(limit); }
// The elements in ascending order of this, those that are equal as they stand.
std::vector<size_t> sorted_places(const double *begin, const double *end);

// For each row the column that it gets, so that the sum of costs is the least; a matrix of `side` rows (Kuhn's method).
std::vector<size_t> assigned(std::vector<double> costs, size_t side);

// An option of these words, or None, which is "none".
std::string word_or_none(const Arguments &a, std::string_view name, std::vector<std::string> choices);

}  // namespace saltern::metrics
