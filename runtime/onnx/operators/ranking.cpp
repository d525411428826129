// TopK: the k greatest or least elements along an axis, and where they were.

#include <algorithm>
#include <numeric>

#include "algorithms/ranking.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/wide_numbers.h"

namespace saltern {

namespace {

// As a formula each element counts those before it: the square of the extent. Beyond this, sorting is what one wants.
constexpr int64_t most_ranked = 4096;

void expect_count(int64_t k, int64_t extent) {
  if (k < 0 || k > extent) fail("wants ", k, " of ", extent, " elements");
}

// Before opset 10 an attribute.
int64_t count_of(const Lowering &n) {
  return n.attributes().has("k") ? n.attributes().integer("k") : n.known_integers(1, "the count").at(0);
}

void top_k(Lowering &n) {
  const Operand &x = n.input(0);
  const int axis = n.axis(n.attributes().integer("axis", -1), x.rank());
  const bool largest = n.attributes().integer("largest", 1) != 0;
  const int64_t extent = x.shape[static_cast<size_t>(axis)], k = count_of(n);
  expect_count(k, extent);
  if (extent > most_ranked) unsupported("compiled for more than ", most_ranked, " elements");
  const algorithms::Ranked first = algorithms::top(x, axis, k, largest);
  const std::vector<Operand> made = n.computed({first.values, first.places});
  n.give(0, made[0]);
  n.give(1, made[1]);
}

std::vector<HostValue> top_k_on_host(const HostCall &c) {
  const Tensor &x = c.tensor(0);
  const auto axis = static_cast<size_t>(axis_within(c.attributes().integer("axis", -1), x.rank()));
  const bool largest = c.attributes().integer("largest", 1) != 0;
  const int64_t extent = x.shape()[axis],
                k = c.attributes().has("k") ? c.attributes().integer("k") : c.tensor(1).integers().at(0);
  expect_count(k, extent);
  Shape shape = x.shape();
  shape[axis] = k;
  const Tensor places = Tensor::empty(shape, Type::i64);
  return with_widest(x.type(), [&](auto *of) -> std::vector<HostValue> {
    using T = std::remove_pointer_t<decltype(of)>;
    const Tensor from = converted(x, widest(x.type())), values = Tensor::empty(shape, from.type());
    const int64_t stride = dense_strides(x.shape(), Layout::row_major)[axis];
    std::vector<int64_t> order(static_cast<size_t>(extent));
    for (int64_t line = 0; line < places.size() / std::max<int64_t>(k, 1); ++line) {
      const T *v = from.data<T>() + line / stride * stride * extent + line % stride;
      const int64_t to = line / stride * stride * k + line % stride;
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
        const T p = v[a * stride], q = v[b * stride];
        if (largest ? ascends(q, p) : ascends(p, q)) return true;
        return !(largest ? ascends(p, q) : ascends(q, p)) && a < b;
      });
      for (int64_t i = 0; i < k; ++i) {
        places.data<int64_t>()[to + i * stride] = order[static_cast<size_t>(i)];
        values.data<T>()[to + i * stride] = v[order[static_cast<size_t>(i)] * stride];
      }
    }
    return {converted(values, x.type()), places};
  });
}

}  // namespace

const OperatorList &ranking_operators() {
  static const OperatorList list = {{"TopK", top_k, top_k_on_host, "", true}};
  return list;
}

}  // namespace saltern
