#pragma once
// Attention, of any number of batch dimensions b (heads, samples).
//
//   query(e, l, b)  key(s, e, b)  value(f, s, b)   ->   y(f, l, b) = sum_s weight(s, l, b) value(f, s, b)
//   weight(s, l, b) = softmax over s of score(product(s, l, b)),   product(s, l, b) = sum_e query(e, l, b) key(s, e, b)
//
// score is any function of a product and its place: a scale, a mask, an order of time. Weights are divided by their
// total at the end, once for each y instead of once for each weight.

#include <functional>

#include "schedules/forms/elementary.h"
#include "schedules/forms/tensor.h"

namespace saltern::forms {

// The stages of a softmax over the innermost dimension.
struct SoftmaxStages {
  Halide::Func largest;  // m(n)
  Halide::Func power;    // exp(x(c, n) - m(n))
  Halide::Func total;    // sum_c power(c, n)
};

inline SoftmaxStages softmax_stages(const Tensor &x) {
  const std::vector<Halide::Var> at = x.vars(), n(at.begin() + 1, at.end());
  Halide::RDom r(0, x.extent(0), "r");
  std::vector<Halide::Expr> each = {r};
  each.insert(each.end(), n.begin(), n.end());
  Halide::Func largest("largest"), power("power"), total("total");
  largest(n) = x.type().min();
  largest(n) = Halide::max(largest(n), x(each));
  power(at) = forms::exp(forms::difference(x(at), largest(n)));
  total(n) = Halide::cast(x.type(), 0);
  total(n) += power(each);
  return {largest, power, total};
}

struct Attention {
  Halide::Func product;
  Tensor scores;
  SoftmaxStages stages;
  Halide::Func sum;  // of the weights, not yet divided, times values
  Tensor y;
};

// Gives the score of a product at (s, l, b).
using Score = std::function<Halide::Expr(const Halide::Expr &product, const std::vector<Halide::Var> &at)>;

inline Attention attention(const Tensor &query, const Tensor &key, const Tensor &value, const Score &score) {
  Halide::Var s("key"), f("column");  // a dimension of the name "s" confuses Halide 21: its stages are s0, s1
  Halide::RDom e(0, query.extent(0), "e"), r(0, key.extent(0), "r");
  std::vector<Halide::Var> row = {Halide::Var("row")}, batch;
  std::vector<Halide::Expr> extents = {query.extent(1)};
  for (int d = 2; d < query.rank(); ++d) {
    batch.emplace_back("b" + std::to_string(d - 2));
    extents.push_back(query.extent(d));
  }
  row.insert(row.end(), batch.begin(), batch.end());
  // Indices: some first ones, then those of a row or a batch.
  const auto at = [](std::vector<Halide::Expr> first, const std::vector<Halide::Var> &rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  };
  const auto with = [](const Halide::Var &first, const std::vector<Halide::Var> &rest) {
    std::vector<Halide::Var> all = {first};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  const auto over = [&](const Halide::Expr &first) {
    std::vector<Halide::Expr> all = {first};
    all.insert(all.end(), extents.begin(), extents.end());
    return all;
  };

  Halide::Func product("product"), scores("scores"), sum("sum"), y("attention");
  const std::vector<Halide::Var> of_key = with(s, row), of_value = with(f, row);
  product(of_key) = Halide::cast(query.type(), 0);
  product(of_key) += query(at({e}, row)) * key(at({s, e}, batch));
  scores(of_key) = score(product(of_key), of_key);
  const SoftmaxStages stages = softmax_stages({scores, over(key.extent(0))});
  sum(of_value) = Halide::cast(query.type(), 0);
  sum(of_value) += stages.power(at({r}, row)) * value(at({f, r}, batch));
  y(of_value) = sum(of_value) / stages.total(row);
  return {product, {scores, over(key.extent(0))}, stages, sum, {y, over(value.extent(0))}};
}

}  // namespace saltern::forms
