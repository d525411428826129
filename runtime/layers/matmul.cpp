#include "runtime/layers/matmul.h"

#include <algorithm>

#include "algorithms/contraction.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/reduction.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// (..., rows, columns) as (column, row, batch); batches that are not evenly spaced are copied.
View batched(const Tensor &t, const Shape &batch) {
  Shape shape = batch;
  shape.insert(shape.end(), {t.extent(-2), t.extent(-1)});
  Tensor whole = t.viewed(shape, broadcast_strides(t, shape, "matmul"));
  int64_t stride = 0, count = 1;
  bool even = true;
  for (int d = static_cast<int>(batch.size()) - 1; d >= 0; --d) {
    if (batch[d] == 1) continue;
    if (count == 1)
      stride = whole.strides()[d];
    else
      even &= whole.strides()[d] == stride * count;
    count *= batch[d];
  }
  if (!even) {
    const Tensor copied = Tensor::empty(shape);
    copy(copied, whole);
    whole = copied;
    stride = shape[shape.size() - 1] * shape[shape.size() - 2];
  }
  return {whole,
          {{t.extent(-1), whole.strides().back()}, {t.extent(-2), whole.strides()[shape.size() - 2]}, {count, stride}}};
}

}  // namespace

namespace operations {

const Operation matmul(
    "matmul",
    [](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
      const Tensor &a = in.at(0), &b = in.at(1);
      if (a.rank() < 2 || b.rank() < 2 || a.extent(-1) != b.extent(-2))
        fail("matmul: ", to_string(a.shape()), " and ", to_string(b.shape()), " do not fit each other");
      const Shape batch = broadcast_shape({a.shape().begin(), a.shape().end() - 2},
                                          {b.shape().begin(), b.shape().end() - 2}, "matmul: the batches");
      Shape shape = batch;
      shape.insert(shape.end(), {a.extent(-2), b.extent(-1)});
      const Tensor y = Tensor::empty(shape);
      call("matmul", {batched(a, batch), batched(b, batch), batched(y, batch)});
      return {y};
    },
    [](const Values &in, const Attributes &) -> Values { return {algorithms::matmul(in.at(0), in.at(1))}; },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      std::vector<Variable> d(2);
      if (t.needs(0)) d[0] = sum_to(saltern::matmul(dy[0], transposed(t.input(1))), t.shape(0));
      if (t.needs(1)) d[1] = sum_to(saltern::matmul(transposed(t.input(0)), dy[0]), t.shape(1));
      return d;
    });

}  // namespace operations

Variable matmul(const Variable &a, const Variable &b) { return apply_one(operations::matmul, {a, b}); }

void multiply(const Tensor &a, const Tensor &b, const Tensor &y) {
  call("matmul", {batched(a, {}), batched(b, {}), batched(y, {})});
}

Tensor multiplied(const Tensor &a, const Tensor &b) {
  const Tensor y = Tensor::empty({a.extent(0), b.extent(1)});
  multiply(a, b, y);
  return y;
}

Tensor turned_multiplied(const Tensor &a, const Tensor &b) {
  if (a.extent(1) > 2 * b.extent(1)) return row_major(turned(multiplied(turned(b), a)));
  return multiplied(turned(a), b);
}

RightOperand::RightOperand(const Tensor &b) : b_(b) {
  constexpr int64_t width = 32;  // of a panel, as the kernel has it
  const int64_t inputs = b.extent(0), panels = b.extent(1) / width, of_row = b.strides()[0], of_column = b.strides()[1];
  if (b.extent(1) % width != 0) return;
  panels_ = Tensor::empty({panels, inputs, width});
  copy(panels_, b.viewed(panels_.shape(), {width * of_column, of_row, of_column}));
}

void RightOperand::multiply(const Tensor &a, const Tensor &y) const {
  if (!panels_.defined()) return saltern::multiply(a, b_, y);
  const int64_t panels = panels_.extent(0), width = panels_.extent(2), rows = a.extent(0);
  // Rows that all panels go through, one after another, are still in the cache: 512 KiB of them.
  const int64_t at_once = std::max<int64_t>(64, (128 << 10) / std::max<int64_t>(a.extent(1), 1) / 8 * 8);
  for (int64_t first = 0; first < rows; first += at_once) {
    const int64_t count = std::min(at_once, rows - first);
    const Tensor some = y.slice(0, first, count);
    call("matmul_packed", {reversed(a.slice(0, first, count)), reversed(panels_),
                           View(some, {{width, 1}, {panels, width}, {count, y.strides()[0]}})});
  }
}

Tensor turned(const Tensor &matrix) {
  return matrix.viewed({matrix.extent(1), matrix.extent(0)}, {matrix.strides()[1], matrix.strides()[0]});
}

}  // namespace saltern
