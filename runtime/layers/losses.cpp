#include "runtime/layers/losses.h"

#include <algorithm>
#include <optional>

#include "algorithms/probabilities.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/unary.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// Labels as kernels take them: to those, one that names no class is a sample to leave out. Here only `ignore` is; any
// other label outside [0, classes) is a mistake.
Tensor checked_labels(const Tensor &labels, const Tensor &x, std::optional<int64_t> ignore = {}) {
  if (x.rank() != 2 || labels.shape() != Shape{x.extent(0)})
    fail("cross_entropy: labels ", to_string(labels.shape()), " for x ", to_string(x.shape()),
         "; expected [N] for [N, C]");
  if (labels.type() != Type::i32 && labels.type() != Type::i64)
    fail("cross_entropy: labels are ", facts(labels.type()).name, "; expected i32 or i64");
  const Tensor dense = Tensor::empty(labels.shape(), Type::i32);
  if (dense.is_outline()) return dense;
  for (int64_t n = 0; n < labels.size(); ++n) {
    const int64_t label = labels.type() == Type::i32 ? labels.at<int32_t>({n}) : labels.at<int64_t>({n});
    const bool left_out = ignore && label == *ignore;
    if (!left_out && (label < 0 || label >= x.extent(1)))
      fail("cross_entropy: label ", n, " is ", label, "; there are ", x.extent(1), " classes");
    dense.data<int32_t>()[n] = left_out ? -1 : static_cast<int32_t>(label);
  }
  return dense;
}

std::optional<int64_t> ignored(const Attributes &a) {
  return a.has("ignore") ? std::optional(a.integer("ignore")) : std::nullopt;
}

// labels -> 1 for samples that count, 0 for those left out
const Operation counted_samples("counted_samples", [](const Values &in, const Attributes &a) -> Values {
  const Value is_left_out = formula::cast(Type::i64, in.at(0)) ==
                            formula::constant_value(Type::i64, static_cast<double>(a.integer("ignore")));
  return {where(is_left_out, formula::constant_value(Type::f32, 0), formula::constant_value(Type::f32, 1))};
});

Variable counted(const Variable &labels, int64_t ignore) {
  return apply_one(counted_samples, {labels}, {{"ignore", ignore}});
}

}  // namespace

namespace operations {

// (x, labels, dloss) -> dx(n, c) = (softmax(x)(n, c) - [c is label(n)]) dloss(n)
const Operation cross_entropy_gradient(
    "cross_entropy_gradient",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Tensor x = row_major(in.at(0)), labels = checked_labels(in.at(1), x, ignored(a)), dx = Tensor::like(x);
      call("cross_entropy_gradient", {reversed(x), flat(labels), flat(row_major(in.at(2))), reversed(dx)});
      return {dx};
    },
    [](const Values &in, const Attributes &a) -> Values {
      const Value dx = algorithms::cross_entropy_gradient(in.at(0), in.at(1), in.at(2));
      if (!a.has("ignore")) return {dx};
      const Value labels = formula::cast(Type::i64, in[1]);
      return {formula::compute("left_out", dx.extents(), [&](const formula::Axes &at) {
        return select(labels(at[0]) == a.integer("ignore"), formula::constant(dx.type(), 0), dx.at(at));
      })};
    });

const Operation cross_entropy(
    "cross_entropy",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Tensor x = row_major(in.at(0)), labels = checked_labels(in.at(1), x, ignored(a));
      const Tensor loss = Tensor::empty(labels.shape());
      call("cross_entropy", {reversed(x), flat(labels), flat(loss)});
      return {loss};
    },
    [](const Taped &t, const std::vector<Variable> &dloss) -> std::vector<Variable> {
      return {apply_one(cross_entropy_gradient, {t.input(0), t.input(1), dloss[0]}, t.attributes()), Variable()};
    });

}  // namespace operations

Variable cross_entropy(const Variable &x, const Variable &labels) {
  if (labels.size() == 0)
    fail("cross_entropy: a batch without samples has no mean; x is ", to_string(x.shape()));
  return mean(apply_one(operations::cross_entropy, {x, labels}));
}

Variable cross_entropy(const Variable &x, const Variable &labels, int64_t ignore) {
  const Variable losses = apply_one(operations::cross_entropy, {x, labels}, {{"ignore", ignore}});
  return sum(losses) / maximum(sum(counted(labels, ignore)), scalar(1));
}

Variable mean_squared_error(const Variable &x, const Variable &wanted) { return mean(square(x - wanted)); }

double accuracy(const Tensor &scores, const Tensor &labels) {
  const Tensor x = row_major(scores), wanted = checked_labels(labels, x);
  int64_t right = 0;
  for (int64_t n = 0; n < x.extent(0); ++n) {
    const float *row = x.data<float>() + n * x.extent(1);
    right += std::max_element(row, row + x.extent(1)) - row == wanted.data<int32_t>()[n];
  }
  return static_cast<double>(right) / static_cast<double>(std::max<int64_t>(1, x.extent(0)));
}

}  // namespace saltern
