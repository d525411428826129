#include "runtime/layers/linear.h"

#include "algorithms/contraction.h"
#include "algorithms/normalisation.h"
#include "dsl/derivative.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/reduction.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// Two matrices that agree in one extent: of dimension i of `a`, and j of `b`.
void expect_dense(const char *who, const Tensor &a, int i, const Tensor &b, int j) {
  if (a.rank() != 2 || b.rank() != 2 || a.extent(i) != b.extent(j))
    fail(who, ": ", to_string(a.shape()), " and ", to_string(b.shape()), " do not fit each other");
}

}  // namespace

namespace operations {

// (w, dy) -> dx
const Operation dense_gradient_x(
    "dense_gradient_x",
    [](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
      expect_dense("dense_gradient_x", in.at(0), 0, in.at(1), 1);
      return {multiplied(in[1], in[0])};
    },
    [](const Values &in, const Attributes &) -> Values { return {algorithms::dense_gradient_x(in.at(0), in.at(1))}; },
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      return {t.needs(0) ? apply_one(dense_gradient_w, {dd[0], t.input(1)}) : Variable(),
              t.needs(1) ? apply_one(dense, {dd[0], t.input(0)}) : Variable()};
    });

// (x, dy) -> dw
const Operation dense_gradient_w(
    "dense_gradient_w",
    [](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
      expect_dense("dense_gradient_w", in.at(0), 0, in.at(1), 0);
      return {turned_multiplied(in[1], in[0])};
    },
    [](const Values &in, const Attributes &) -> Values { return {algorithms::dense_gradient_w(in.at(0), in.at(1))}; },
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      return {t.needs(0) ? apply_one(dense_gradient_x, {dd[0], t.input(1)}) : Variable(),
              t.needs(1) ? apply_one(dense, {t.input(0), dd[0]}) : Variable()};
    });

// dy (N, O) or an image (N, C, H, W) -> db, the sum over all but dimension 1
const Operation dense_gradient_b(
    "dense_gradient_b",
    [](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
      const Tensor dy = channels_last(in.at(0));
      if (dy.rank() < 2 || dy.extent(1) == 0)
        fail("dense_gradient_b: ", to_string(dy.shape()), " has no outputs in dimension 1");
      const int64_t channels = dy.extent(1);
      const Tensor db = Tensor::empty({channels});
      call("dense_gradient_b", {View(dy, {{channels, 1}, {dy.size() / channels, channels}}), flat(db)});
      return {db};
    },
    [](const Values &in, const Attributes &) -> Values {
      const Value &dy = in.at(0);
      return {algorithms::of_channel(formula::sum(dy, algorithms::all_but({1}, dy)), 1)};
    },
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      Shape as_channels(t.shape(0).size(), 1);
      as_channels[1] = dd[0].shape()[0];
      return {saltern::expand(saltern::reshape(dd[0], as_channels), t.shape(0))};
    });

const Operation dense(
    "dense",
    [](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
      const Tensor x = row_major(in.at(0)), w = row_major(in.at(1));
      expect_dense("dense", x, 1, w, 1);
      const Tensor b = in.size() > 2 ? row_major(in[2]) : Tensor::zeros({w.extent(0)});
      if (b.shape() != Shape{w.extent(0)}) fail("dense: a bias of ", to_string(b.shape()), "; expected ", w.extent(0));
      const Tensor y = Tensor::empty({x.extent(0), w.extent(0)});
      call("dense", {reversed(x), reversed(w), flat(b), reversed(y)});
      return {y};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      std::vector<Variable> d(t.input_count());
      if (t.needs(0)) d[0] = apply_one(dense_gradient_x, {t.input(1), dy[0]});
      if (t.needs(1)) d[1] = apply_one(dense_gradient_w, {t.input(0), dy[0]});
      if (t.needs(2)) d[2] = apply_one(dense_gradient_b, {dy[0]});
      return d;
    });

}  // namespace operations

Variable linear(const Variable &x, const Variable &w, const Variable &b) {
  const bool flat = x.shape().size() == 2;
  const Variable rows = flat ? x : reshape(x, {-1, x.extent(-1)});
  const Variable y = apply_one(operations::dense, b.defined() ? std::vector{rows, w, b} : std::vector{rows, w});
  if (flat) return y;
  Shape shape = x.shape();
  shape.back() = w.shape()[0];
  return reshape(y, shape);
}

}  // namespace saltern
