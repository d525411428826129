// Reductions over axes, places of extremes, and running sums and products.

#include <algorithm>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/wide_numbers.h"

namespace saltern {

namespace {

using formula::Function;

// ---- Which axes.

struct Reduced {
  std::vector<bool> marked;
  std::vector<int64_t> extents;  // of the marked ones
  Shape kept, result;            // with extents of 1 in their place; and as the node wants it
};

Reduced reduced_of(const Operand &x, const std::vector<int> &axes, bool keep) {
  Reduced r;
  r.marked.assign(x.shape.size(), false);
  for (int a : axes) r.marked[static_cast<size_t>(a)] = true;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (r.marked[d]) r.extents.push_back(x.shape[d]);
    r.kept.push_back(r.marked[d] ? 1 : x.shape[d]);
    if (keep || !r.marked[d]) r.result.push_back(r.kept.back());
  }
  return r;
}

Reduced reduced_by(const Lowering &n) {
  const Operand &x = n.input(0);
  std::vector<int> axes = axes_in(n, listed(n, "axes", 1, "the axes").value_or(std::vector<int64_t>{}), x.rank());
  if (axes.empty() && n.attributes().integer("noop_with_empty_axes", 0) == 0)
    for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
  return reduced_of(x, axes, n.attributes().integer("keepdims", 1) != 0);
}

// Over the marked axes of x, in the type of `body`, with an extent of 1 for each of them.
Operand reduce_over(Lowering &n, Function f, const Reduced &r, Type type, const std::vector<Operand> &operands,
                    const std::function<Expression(const Reads &, const Axes &from, const Axes &at)> &body,
                    const std::function<Expression(const Expression &)> &finish) {
  return n.formula(type, r.kept, operands, [&](const Reads &reads, const Axes &at) {
    if (r.extents.empty()) return finish(body(reads, at, at));
    return finish(reduce(f, r.extents, [&](const Axes &s) {
      Axes from = at;
      for (size_t d = 0, step = 0; d < from.size(); ++d)
        if (r.marked[d]) from[d] = s[step++];
      return body(reads, from, at);
    }));
  });
}

// ---- What is reduced, and what becomes of it.

Type own(Type t) { return t == Type::boolean ? Type::u8 : is_real(t) && facts(t).bits == 16 ? Type::f32 : t; }
Type wide(Type t) { return is_real(t) ? own(t) : t == Type::u64 ? t : Type::i64; }  // of a sum that is divided
Type real(Type t) { return is_real(t) ? own(t) : Type::f64; }                       // of roots and logarithms

Expression itself(const Expression &x) { return x; }
Expression squared(const Expression &x) { return x * x; }
Expression size_of(const Expression &x) { return facts(x.type()).kind == TypeFacts::Kind::natural ? x : abs(x); }

template <Function f, Type (*working)(Type), Expression (*before)(const Expression &),
          Expression (*after)(const Expression &) = itself>
void reduction(Lowering &n) {
  const Operand &x = n.input(0);
  const Reduced r = reduced_by(n);
  const Operand y = reduce_over(
      n, f, r, x.type, {x},
      [&](const Reads &reads, const Axes &from, const Axes &) { return before(cast(working(x.type), reads[0](from))); },
      [&](const Expression &all) { return cast(x.type, after(all)); });
  n.give(0, n.reshaped(y, r.result));
}

// The mean of nothing is 0 / 0.
void mean(Lowering &n) {
  const Operand &x = n.input(0);
  const Reduced r = reduced_by(n);
  const int64_t count = elements(r.extents);
  const Operand y = reduce_over(
      n, Function::sum, r, x.type, {x},
      [&](const Reads &reads, const Axes &from, const Axes &) { return cast(wide(x.type), reads[0](from)); },
      [&](const Expression &all) { return cast(x.type, all / count); });
  n.give(0, n.reshaped(y, r.result));
}

// log(sum(exp(x))), less the greatest x in between so that nothing overflows.
void log_sum_exp(Lowering &n) {
  const Operand &x = n.input(0);
  const Reduced r = reduced_by(n);
  const Type type = real(x.type);
  const Operand greatest = reduce_over(
      n, Function::greatest, r, type, {x},
      [&](const Reads &reads, const Axes &from, const Axes &) { return cast(type, reads[0](from)); },
      // Infinities cannot be taken away from each other.
      [](const Expression &m) { return select(call(Function::is_infinite, m), literal(m, 0), m); });
  const Operand sum = reduce_over(
      n, Function::sum, r, type, {x, greatest},
      [&](const Reads &reads, const Axes &from, const Axes &at) {
        return exp(cast(type, reads[0](from)) - reads[1](at));
      },
      [](const Expression &all) { return log(all); });
  const Operand y = n.formula(x.type, r.kept, {sum, greatest}, [&](const Reads &reads, const Axes &at) {
    return cast(x.type, reads[0](at) + reads[1](at));
  });
  n.give(0, n.reshaped(y, r.result));
}

// ---- Places of extremes.

template <Function first, Function last>
void place(Lowering &n) {
  const Operand &x = n.input(0);
  const int axis = n.axis(n.attributes().integer("axis", 0), x.rank());
  if (x.shape[static_cast<size_t>(axis)] == 0 && elements(x.shape) == 0)
    fail("there is no extreme of no elements: ", to_string(x.shape), " along dimension ", axis);
  const Reduced r = reduced_of(x, {axis}, n.attributes().integer("keepdims", 1) != 0);
  const Operand y = reduce_over(
      n, n.attributes().integer("select_last_index", 0) != 0 ? last : first, r, Type::i64, {x},
      [&](const Reads &reads, const Axes &from, const Axes &) { return cast(own(x.type), reads[0](from)); }, itself);
  n.give(0, n.reshaped(y, r.result));
}

// ---- Running sums and products: as a formula each element looks at all before it; the host carries them along.

struct Running {
  size_t axis;
  bool exclusive, reverse;
};

Running running_of(const Attributes &a, int64_t axis, int rank) {
  return {static_cast<size_t>(axis_within(axis, rank)), a.integer("exclusive", 0) != 0, a.integer("reverse", 0) != 0};
}

template <Function f>
void running(Lowering &n) {
  const Operand &x = n.input(0);
  const Running run = running_of(n.attributes(), n.known_integers(1, "the axis").at(0), x.rank());
  n.give(0, n.formula(x.type, x.shape, {x}, [&](const Reads &r, const Axes &at) {
    const Expression all = reduce(f, {x.shape[run.axis]}, [&](const Axes &s) {
      Axes from = at;
      from[run.axis] = s[0];
      const Expression a = run.reverse ? at[run.axis] : s[0], b = run.reverse ? s[0] : at[run.axis];
      const Expression v = cast(own(x.type), r[0](from));
      return select(run.exclusive ? a < b : a <= b, v, literal(v, f == Function::product ? 1 : 0));
    });
    return cast(x.type, all);
  }));
}

template <Function f>
std::vector<HostValue> running_on_host(const HostCall &c) {
  const Tensor &x = c.tensor(0);
  const Running run = running_of(c.attributes(), c.tensor(1).integers().at(0), x.rank());
  const int64_t extent = x.shape()[run.axis], stride = dense_strides(x.shape(), Layout::row_major)[run.axis];
  return with_widest(x.type(), [&](auto *of) -> std::vector<HostValue> {
    using T = std::remove_pointer_t<decltype(of)>;
    // Integers wrap, as naturals do.
    using Total = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
    const Tensor from = converted(x, widest(x.type())), to = Tensor::empty(x.shape(), from.type());
    for (int64_t line = 0; line < x.size() / std::max<int64_t>(extent, 1); ++line) {
      const int64_t first = line / stride * stride * extent + line % stride;
      Total total = f == Function::product ? 1 : 0;
      for (int64_t i = 0; i < extent; ++i) {
        const int64_t at = first + (run.reverse ? extent - 1 - i : i) * stride;
        const auto v = static_cast<Total>(from.data<T>()[at]), before = total;
        total = f == Function::product ? total * v : total + v;
        to.data<T>()[at] = static_cast<T>(run.exclusive ? before : total);
      }
    }
    return {converted(to, x.type())};
  });
}

Expression root(const Expression &x) { return sqrt(x); }
Expression logarithm(const Expression &x) { return log(x); }

}  // namespace

const OperatorList &reducing_operators() {
  using F = Function;
  static const OperatorList list = {
      {"ArgMax", place<F::first_greatest, F::last_greatest>},
      {"ArgMin", place<F::first_least, F::last_least>},
      {"CumProd", running<F::product>, running_on_host<F::product>, "", true},
      {"CumSum", running<F::sum>, running_on_host<F::sum>, "", true},
      {"ReduceL1", reduction<F::sum, own, size_of>},
      {"ReduceL2", reduction<F::sum, real, squared, root>},
      {"ReduceLogSum", reduction<F::sum, real, itself, logarithm>},
      {"ReduceLogSumExp", log_sum_exp},
      {"ReduceMax", reduction<F::greatest, own, itself>},
      {"ReduceMean", mean},
      {"ReduceMin", reduction<F::least, own, itself>},
      {"ReduceProd", reduction<F::product, own, itself>},
      {"ReduceSum", reduction<F::sum, own, itself>},
      {"ReduceSumSquare", reduction<F::sum, own, squared>},
  };
  return list;
}

}  // namespace saltern
