// Reductions over axes, places of extremes, and running sums and products.

#include <algorithm>

#include "algorithms/reductions.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;
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
    std::vector<int> axes = axes_in(n, listed(n, "axes", 1, "the axes").value_or(std::vector<int64_t>{}), x.rank());
    if (axes.empty() && n.attributes().integer("noop_with_empty_axes", 0) == 0)
      for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
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

}  // namespace

const OperatorList &reducing_operators() {
  using F = Function;
  static const OperatorList list = {
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
  };
  return list;
}

}  // namespace saltern
