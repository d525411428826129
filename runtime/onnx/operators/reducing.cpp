// Reductions over axes, places of extremes, running sums and products, and the greatest or least elements.

#include <algorithm>
#include <numeric>

#include "algorithms/ranking.h"
#include "algorithms/reductions.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/wide_numbers.h"

namespace saltern {

namespace {

using namespace formula;
using F = Function;
using Lower = std::function<void(Lowering &)>;

// As the node wants it: with extents of 1 where it was reduced, or without these dimensions.
void give_reduced(Lowering &n, const Value &y, const std::vector<int> &axes) {
  const Operand all = n.computed(y);
  Shape shape;
  for (int d = 0; d < all.rank(); ++d)
    if (n.attributes().integer("keepdims", 1) != 0 || std::find(axes.begin(), axes.end(), d) == axes.end())
      shape.push_back(all.shape[static_cast<size_t>(d)]);
  n.give(0, n.reshaped(all, shape));
}

// The type that a sum or a product is computed in; a sum that is divided; roots and logarithms.
Type own(Type t) { return t == Type::boolean ? Type::u8 : is_real(t) && facts(t).bits == 16 ? Type::f32 : t; }
Type wide(Type t) { return is_real(t) ? own(t) : t == Type::u64 ? t : Type::i64; }
Type real(Type t) { return is_real(t) ? own(t) : Type::f64; }

using Reduction = Value (*)(const Value &x, const std::vector<int> &axes);

Lower reduction(Type (*working)(Type), Reduction of) {
  return [=](Lowering &n) {
    const Operand &x = n.input(0);
    std::vector<int64_t> given = listed(n, "axes", 1, "the axes").value_or(Shape());
    if (given.empty() && n.attributes().integer("noop_with_empty_axes", 0) == 0) given = numbers_below(x.shape.size());
    const std::vector<int> axes = axes_in(given, x.rank());
    give_reduced(n, cast(x.type, of(cast(working(x.type), x), axes)), axes);
  };
}

Value sum_of_sizes(const Value &x, const std::vector<int> &axes) {
  return facts(x.type()).kind == TypeFacts::Kind::natural ? sum(x, axes) : algorithms::l1_norm(x, axes);
}

Lower place(Function first, Function last) {
  return [=](Lowering &n) {
    const Operand &x = n.input(0);
    const int axis = n.axis(n.attributes().integer("axis", 0), x.rank());
    if (x.shape[static_cast<size_t>(axis)] == 0 && elements(x.shape) == 0)
      fail("there is no extreme of no elements: ", to_string(x.shape), " along dimension ", axis);
    const Function f = n.attributes().integer("select_last_index", 0) != 0 ? last : first;
    give_reduced(n, reduced(f, cast(own(x.type), x), {axis}), {axis});
  };
}

template <Function f>
void running(Lowering &n) {
  const Operand &x = n.input(0);
  const int axis = n.axis(n.known_integers(1, "the axis").at(0), x.rank());
  const bool exclusive = n.attributes().integer("exclusive", 0) != 0,
             reverse = n.attributes().integer("reverse", 0) != 0;
  n.give(0, cast(x.type, algorithms::running(f, cast(own(x.type), x), axis, exclusive, reverse)));
}

// ---- TopK: the k greatest or least elements along an axis, and where they were.

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
  n.give({first.values, first.places});
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

const OperatorList reducing_operators = {
    {"ArgMax", place(F::first_greatest, F::last_greatest)},
    {"ArgMin", place(F::first_least, F::last_least)},
    {"CumProd", running<F::product>},
    {"CumSum", running<F::sum>},
    {"ReduceL1", reduction(own, sum_of_sizes)},
    {"ReduceL2", reduction(real, algorithms::l2_norm)},
    {"ReduceLogSum", reduction(real, algorithms::log_sum)},
    {"ReduceLogSumExp", reduction(real, algorithms::log_sum_exp)},
    {"ReduceMax", reduction(own, greatest)},
    {"ReduceMean", reduction(wide, mean)},
    {"ReduceMin", reduction(own, least)},
    {"ReduceProd", reduction(own, product)},
    {"ReduceSum", reduction(own, sum)},
    {"ReduceSumSquare", reduction(own, algorithms::sum_of_squares)},
    {"TopK", top_k, top_k_on_host, "", true},
};

}  // namespace saltern
