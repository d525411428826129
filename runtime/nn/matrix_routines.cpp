#include "runtime/nn/matrix_routines.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

namespace saltern::matrices {

namespace {

using Matrix = Eigen::MatrixXd;

// Which matrix of which call is computed.
struct Place {
  const std::string &who;
  const Shape &shape;
  int64_t number = 0;

  template <typename... Parts>
  [[noreturn]] void refuse(const Parts &...parts) const {
    if (shape.size() == 2) fail(who, ": the matrix ", parts...);
    fail(who, ": matrix ", number, " of the batch of ", to_string(shape), ' ', parts...);
  }
  void expect_finite(const Matrix &a) const {
    if (!a.allFinite()) refuse("has elements that are infinite or no numbers");
  }
};

// The shape of a batch of things of these extents.
Shape beside(const Tensor &a, const Shape &extents) {
  Shape shape(a.shape().begin(), a.shape().end() - 2);
  shape.insert(shape.end(), extents.begin(), extents.end());
  return shape;
}

// Computed in f64, whatever the type: one instance of Eigen's templates compiles in half the time of two.
struct Batch {
  Tensor tensor;
  int64_t rows, columns;

  Matrix operator[](int64_t i) const { return tensor.type() == Type::f32 ? read<float>(i) : read<double>(i); }
  void set(int64_t i, const Matrix &m) const {
    if (tensor.type() == Type::f32)
      write<float>(i, m);
    else
      write<double>(i, m);
  }

 private:
  template <typename T>
  Matrix read(int64_t i) const {
    const T *from = static_cast<const T *>(tensor.raw()) + i * rows * columns;
    Matrix m(rows, columns);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) m(r, c) = static_cast<double>(*from++);
    return m;
  }
  template <typename T>
  void write(int64_t i, const Matrix &m) const {
    T *to = static_cast<T *>(tensor.raw()) + i * rows * columns;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) *to++ = static_cast<T>(m(r, c));
  }
};

Batch matrices_of(const Tensor &t) { return {t.in_layout(Layout::row_major), t.extent(-2), t.extent(-1)}; }
Batch made(const Tensor &a, int64_t rows, int64_t columns) {
  return {Tensor::empty(beside(a, {rows, columns}), a.type()), rows, columns};
}
Batch made(const Tensor &a, int64_t rows) { return {Tensor::empty(beside(a, {rows}), a.type()), rows, 1}; }
Batch made_numbers(const Tensor &a) { return {Tensor::empty(beside(a, {}), a.type()), 1, 1}; }

// body(i, place) for each matrix of the batch that `a` is.
template <typename Body>
void for_each_matrix(const Tensor &a, const std::string &who, const Body &body) {
  int64_t count = 1;
  for (size_t d = 0; d + 2 < a.shape().size(); ++d) count *= a.shape()[d];
  if (a.is_outline()) return;
  for (int64_t i = 0; i < count; ++i) body(i, Place{who, a.shape(), i});
}

void expect_matrices(const Tensor &a, const std::string &who, bool square) {
  if (a.rank() < 2 || (square && a.extent(-1) != a.extent(-2)))
    fail(who, ": 'A' is ", to_string(a.shape()), "; expected ", square ? "square matrices" : "matrices");
  if (a.type() != Type::f32 && a.type() != Type::f64)
    fail(who, ": 'A' is of ", facts(a.type()).name, "; expected f32 or f64");
}

void expect_beside(const Tensor &a, const Tensor &b, const std::string &who) {
  expect_matrices(a, who, true);
  if (b.type() != a.type() || b.shape() != beside(a, {a.extent(-1), b.extent(-1)}))
    fail(who, ": 'B' is ", facts(b.type()).name, to_string(b.shape()), " beside an 'A' of ", facts(a.type()).name,
         to_string(a.shape()));
}

using Factors = Eigen::PartialPivLU<Matrix>;
Factors regular(const Matrix &a, const Place &place) {
  Factors lu(a);
  if ((lu.matrixLU().diagonal().array() == 0).any()) place.refuse("is singular");
  return lu;
}

using Values = Eigen::BDCSVD<Matrix>;
constexpr unsigned whole_sides = Eigen::ComputeFullU | Eigen::ComputeFullV;
constexpr unsigned thin_sides = Eigen::ComputeThinU | Eigen::ComputeThinV;
Values decomposed(const Matrix &a, unsigned sides, const Place &place) {
  place.expect_finite(a);
  return {a, sides};
}

}  // namespace

Tensor cholesky(const Tensor &a, const std::string &who) {
  expect_matrices(a, who, true);
  const Batch in = matrices_of(a), l = made(a, a.extent(-1), a.extent(-1));
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    const Eigen::LLT<Matrix> found(in[i]);
    if (found.info() != Eigen::Success || !(found.matrixLLT().diagonal().array() > 0).all())
      place.refuse("is not positive definite");
    l.set(i, found.matrixL());
  });
  return l.tensor;
}

Tensor solved(const Tensor &a, const Tensor &b, const std::string &who) {
  expect_beside(a, b, who);
  const Batch in = matrices_of(a), right = matrices_of(b), x = made(b, b.extent(-2), b.extent(-1));
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    if (in.rows > 0) x.set(i, regular(in[i], place).solve(right[i]));
  });
  return x.tensor;
}

Tensor solved(const Tensor &a, const Tensor &b, Triangle triangle, const std::string &who) {
  expect_beside(a, b, who);
  const Batch in = matrices_of(a), right = matrices_of(b), x = made(b, b.extent(-2), b.extent(-1));
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    Matrix m = in[i], solution = right[i];
    if (triangle.unit) m.diagonal().setOnes();
    if ((m.diagonal().array() == 0).any()) place.refuse("is singular: its diagonal has a 0");
    if (triangle.upper)
      m.triangularView<Eigen::Upper>().solveInPlace(solution);
    else
      m.triangularView<Eigen::Lower>().solveInPlace(solution);
    x.set(i, solution);
  });
  return x.tensor;
}

Tensor inverse(const Tensor &a, const std::string &who) {
  expect_matrices(a, who, true);
  const Batch in = matrices_of(a), y = made(a, a.extent(-1), a.extent(-1));
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    if (in.rows > 0) y.set(i, regular(in[i], place).inverse());
  });
  return y.tensor;
}

std::array<Tensor, 2> signed_log_determinant(const Tensor &a, const std::string &who) {
  expect_matrices(a, who, true);
  const Batch in = matrices_of(a), sign = made_numbers(a), logarithm = made_numbers(a);
  for_each_matrix(a, who, [&](int64_t i, const Place &) {
    double s = 1, sum = 0;
    if (in.rows > 0) {
      const Eigen::PartialPivLU<Matrix> lu(in[i]);
      s = static_cast<double>(lu.permutationP().determinant());
      for (const double pivot : lu.matrixLU().diagonal()) {
        s *= static_cast<double>((pivot > 0) - (pivot < 0));
        sum += std::log(std::abs(pivot));
      }
    }
    sign.set(i, Matrix::Constant(1, 1, s));
    logarithm.set(i, Matrix::Constant(1, 1, sum));
  });
  return {sign.tensor, logarithm.tensor};
}

Tensor determinant(const Tensor &a, const std::string &who) {
  expect_matrices(a, who, true);
  const Batch in = matrices_of(a), y = made_numbers(a);
  for_each_matrix(a, who, [&](int64_t i, const Place &) {
    y.set(i, Matrix::Constant(1, 1, in.rows == 0 ? 1.0 : Eigen::PartialPivLU<Matrix>(in[i]).determinant()));
  });
  return y.tensor;
}

Tensor cofactors(const Tensor &a, const std::string &who) {
  expect_matrices(a, who, true);
  const Batch in = matrices_of(a), y = made(a, a.extent(-1), a.extent(-1));
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    if (in.rows == 0) return;
    const auto svd = decomposed(in[i], whole_sides, place);
    Matrix others = svd.singularValues();  // the product of all but one
    for (int64_t k = 0; k < in.rows; ++k) {
      others(k) = 1;
      for (int64_t j = 0; j < in.rows; ++j)
        if (j != k) others(k) *= svd.singularValues()(j);
    }
    const double sign = svd.matrixU().determinant() * svd.matrixV().determinant();
    y.set(i, sign * svd.matrixU() * others.col(0).asDiagonal() * svd.matrixV().transpose());
  });
  return y.tensor;
}

std::array<Tensor, 2> eigh(const Tensor &a, const std::string &who) {
  expect_matrices(a, who, true);
  const int64_t n = a.extent(-1);
  const Batch in = matrices_of(a), w = made(a, n), v = made(a, n, n);
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    if (n == 0) return;
    const Matrix lower = in[i].triangularView<Eigen::Lower>();
    place.expect_finite(lower);
    const Eigen::SelfAdjointEigenSolver<Matrix> found(lower);
    if (found.info() != Eigen::Success) place.refuse("has eigenvalues that were not found");
    w.set(i, found.eigenvalues());
    v.set(i, found.eigenvectors());
  });
  return {w.tensor, v.tensor};
}

std::array<Tensor, 3> svd(const Tensor &a, bool whole, const std::string &who) {
  expect_matrices(a, who, false);
  const int64_t m = a.extent(-2), n = a.extent(-1), k = std::min(m, n);
  const Batch in = matrices_of(a), u = made(a, m, whole ? m : k), s = made(a, k), v = made(a, whole ? n : k, n);
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    if (k == 0) {
      u.set(i, Matrix::Identity(u.rows, u.columns));
      v.set(i, Matrix::Identity(v.rows, v.columns));
      return;
    }
    const auto found = decomposed(in[i], whole ? whole_sides : thin_sides, place);
    u.set(i, found.matrixU());
    s.set(i, found.singularValues());
    v.set(i, found.matrixV().transpose());
  });
  return {u.tensor, s.tensor, v.tensor};
}

std::array<Tensor, 2> qr(const Tensor &a, bool whole, const std::string &who) {
  expect_matrices(a, who, false);
  const int64_t m = a.extent(-2), n = a.extent(-1), k = whole ? m : std::min(m, n);
  const Batch in = matrices_of(a), q = made(a, m, k), r = made(a, k, n);
  for_each_matrix(a, who, [&](int64_t i, const Place &) {
    Matrix first = Matrix::Identity(m, k), upper = Matrix::Zero(k, n);
    if (m > 0 && n > 0) {
      const Eigen::HouseholderQR<Matrix> found(in[i]);
      first.applyOnTheLeft(found.householderQ());
      for (int64_t row = 0; row < std::min(m, n); ++row)
        upper.row(row).tail(n - row) = found.matrixQR().row(row).tail(n - row);
    }
    q.set(i, first);
    r.set(i, upper);
  });
  return {q.tensor, r.tensor};
}

Tensor pseudo_inverse(const Tensor &a, double absolute, double relative, const std::string &who) {
  expect_matrices(a, who, false);
  const int64_t m = a.extent(-2), n = a.extent(-1);
  const Batch in = matrices_of(a), y = made(a, n, m);
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    if (m == 0 || n == 0) return;
    const auto found = decomposed(in[i], thin_sides, place);
    Matrix by = found.singularValues();
    const double least = std::max(absolute, relative * by(0));
    for (int64_t k = 0; k < by.rows(); ++k) by(k) = by(k) > least ? 1 / by(k) : 0;
    y.set(i, found.matrixV() * by.col(0).asDiagonal() * found.matrixU().transpose());
  });
  return y.tensor;
}

Tensor exponential(const Tensor &a, const std::string &who) {
  expect_matrices(a, who, true);
  const Batch in = matrices_of(a), y = made(a, a.extent(-1), a.extent(-1));
  for_each_matrix(a, who, [&](int64_t i, const Place &place) {
    if (in.rows == 0) return;
    const Matrix m = in[i];
    place.expect_finite(m);
    y.set(i, m.exp());
  });
  return y.tensor;
}

}  // namespace saltern::matrices
