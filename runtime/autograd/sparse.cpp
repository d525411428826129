#include "runtime/autograd/sparse.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "runtime/tensor/parts.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// Adds factor times row `from` of x to row `to` of y.
template <typename T>
void add_row(const Tensor &y, int64_t to, const Tensor &x, int64_t from, double factor) {
  const int64_t count = x.size() / x.extent(0);
  T *sum = static_cast<T *>(y.raw()) + to * count;
  const T *more = static_cast<const T *>(x.raw()) + from * count;
  for (int64_t i = 0; i < count; ++i) sum[i] += static_cast<T>(factor) * more[i];
}
auto adding_rows(Type type) {
  if (type != Type::f32 && type != Type::f64) fail("a sparse gradient of ", facts(type).name, "; expected f32 or f64");
  return type == Type::f32 ? add_row<float> : add_row<double>;
}

Tensor zeros_of(size_t rows, const Tensor &like) {
  Shape shape = like.shape();
  shape[0] = static_cast<int64_t>(rows);
  return Tensor::zeros(shape, like.type());
}

}  // namespace

Variable sparse_gradient(const Shape &table, const std::vector<RowShare> &shares, const Tensor &dy) {
  const Tensor x = row_major(dy);
  SparseRows all = {{}, zeros_of(shares.size(), x)};
  const auto add = adding_rows(x.type());
  for (const RowShare &s : shares) {
    add(all.values, static_cast<int64_t>(all.rows.size()), x, s.from, s.factor);
    all.rows.push_back(s.row);
  }
  return of_sparse(table, std::move(all));
}

Variable of_sparse(const Shape &table, SparseRows rows) {
  Variable v(Tensor::outline(table, rows.values.type()));
  v.node_->sparse = std::make_shared<const SparseRows>(std::move(rows));
  return v;
}

SparseRows coalesced(const SparseRows &given) {
  if (given.is_coalesced) return given;
  std::map<int64_t, int64_t> place;
  for (int64_t row : given.rows) place.emplace(row, 0);
  SparseRows once = {{}, zeros_of(place.size(), given.values), true};
  for (auto &[row, at] : place) {
    at = static_cast<int64_t>(once.rows.size());
    once.rows.push_back(row);
  }
  const auto add = adding_rows(given.values.type());
  for (size_t i = 0; i < given.rows.size(); ++i)
    add(once.values, place[given.rows[i]], given.values, static_cast<int64_t>(i), 1);
  return once;
}

SparseRows joined(const SparseRows &a, const SparseRows &b) {
  SparseRows both = {a.rows, saltern::joined({a.values, b.values}, 0)};
  both.rows.insert(both.rows.end(), b.rows.begin(), b.rows.end());
  return both;
}

Tensor dense(const Shape &table, const SparseRows &given) {
  const Tensor all = Tensor::zeros(table, given.values.type());
  const auto add = adding_rows(given.values.type());
  for (size_t i = 0; i < given.rows.size(); ++i) add(all, given.rows[i], given.values, static_cast<int64_t>(i), 1);
  return all;
}

}  // namespace saltern
