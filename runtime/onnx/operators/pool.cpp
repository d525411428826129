// Pools: one number for each window of each channel, (N, C, D1, ..., Dn) -> (N, C, P1, ..., Pn).

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/window.h"

namespace saltern {

using formula::Function;

namespace {

Shape pooled_shape(const Operand &x, const SlidingAxes &axes) {
  Shape shape = {x.shape[0], x.shape[1]};
  for (const SlidingAxis &a : axes) shape.push_back(a.positions);
  return shape;
}

// Below every number of the type.
Expression lowest(Type type) {
  if (is_real(type)) return formula::constant(type, -std::numeric_limits<double>::infinity());
  const TypeFacts &f = facts(type);
  return formula::constant_integer(
      type, f.kind == TypeFacts::Kind::integer ? std::numeric_limits<int64_t>::min() >> (64 - f.bits) : 0);
}

// One of the library's pools; undefined where it does not do these windows: other types and ranks, or windows that may
// lie outside the image.
Operand library_pool(Lowering &n, const std::string &name, const Operand &x, const SlidingAxes &axes,
                     bool count_padding) {
  bool fits = working_type(x.type) == Type::f32 && (x.rank() == 3 || x.rank() == 4) && elements(x.shape) > 0;
  for (const SlidingAxis &a : axes) {
    const int64_t reach = (a.positions - 1) * a.stride + a.span() - a.extent - a.before;
    fits &= a.positions > 0 && a.before >= 0 && a.before < a.kernel * a.dilation && reach < a.kernel * a.dilation;
    // Rounding up makes windows reach behind the padding, where nothing counts.
    if (count_padding) fits &= reach <= a.after;
  }
  if (!fits) return {};
  Attributes attributes = window_attributes(axes);
  Shape kernel = kernel_of(axes), shape = pooled_shape(x, axes);
  const Shape wanted = shape;
  if (kernel.size() == 1) {
    kernel.insert(kernel.begin(), 1);
    shape.insert(shape.begin() + 2, 1);
  }
  attributes.set("kernel", kernel);
  if (name == "average_pool2d") attributes.set("count_padding", int64_t{count_padding});
  const Operand y = n.operation(name, {n.casted(as_image(n, x), Type::f32)}, attributes, shape);
  return n.casted(n.reshaped(y, wanted), x.type);
}

// over all taps: f(value), of those inside the image; `outside` for the others.
Expression over_window(Function f, const Read &x, const SlidingAxes &axes, const Axes &at, const Expression &outside,
                       const std::function<Expression(const Expression &)> &value) {
  return reduce(f, kernel_of(axes), [&](const std::vector<Expression> &taps) {
    return value(windowed(x, axes, at[0], at[1], at, taps, outside));
  });
}

// ---- The largest. NaN is passed over, as in ONNX's reference; but where places are asked for, one that begins a
// window stays, as the reference and ONNX Runtime have it.

Expression number_or_lowest(const Expression &e) {
  return is_real(e.type()) ? select(call(Function::is_nan, e), lowest(e.type()), e) : e;
}

// Over all taps of a window whose places are asked for.
Expression over_beginning_window(Function f, const Read &x, const SlidingAxes &axes, const Axes &at, Type type) {
  return reduce(f, kernel_of(axes), [&](const std::vector<Expression> &taps) {
    const Expression e = windowed(x, axes, at[0], at[1], at, taps, lowest(type));
    if (!is_real(type)) return e;
    Expression begins = formula::constant_integer(Type::boolean, 1);
    for (size_t d = 0; d < axes.size(); ++d) {
      const Expression before = axes[d].index(at[d + 2], taps[d] - 1);
      begins = begins && (taps[d] == 0 || before < 0);
    }
    return select(begins, e, number_or_lowest(e));
  });
}

// Where each window's largest element is: its number in x, rows or columns first.
Operand places(Lowering &n, const Operand &x, const SlidingAxes &axes, bool columns_first) {
  return n.formula(Type::i64, pooled_shape(x, axes), {x}, [&](const Reads &r, const Axes &at) {
    Expression tap = over_beginning_window(Function::first_greatest, r[0], axes, at, x.type);
    std::vector<Expression> index(axes.size());
    for (size_t d = axes.size(); d-- > 0;) {
      const SlidingAxis &a = axes[d];
      // Within the image even where all of a window's elements are lowest.
      index[d] = max(min(a.index(at[d + 2], tap % a.kernel), a.extent - 1), 0);
      tap = tap / a.kernel;
    }
    if (columns_first) std::reverse(index.begin(), index.end());
    Expression number = at[0] * x.shape[1] + at[1];
    for (size_t d = 0; d < axes.size(); ++d)
      number = number * axes[columns_first ? axes.size() - 1 - d : d].extent + index[d];
    return number;
  });
}

Operand largest(Lowering &n, const Operand &x, const SlidingAxes &axes) {
  const Operand y = library_pool(n, "max_pool2d", x, axes, false);
  if (y.present()) return y;
  return n.formula(x.type, pooled_shape(x, axes), {x}, [&](const Reads &r, const Axes &at) {
    return over_window(Function::greatest, r[0], axes, at, lowest(x.type), number_or_lowest);
  });
}

void max_pool(Lowering &n) {
  const Operand &x = n.input(0);
  const SlidingAxes axes = sliding_axes(n, x.shape);
  if (!n.wants(1)) return n.give(0, largest(n, x, axes));
  n.give(0, n.formula(x.type, pooled_shape(x, axes), {x}, [&](const Reads &r, const Axes &at) {
    return over_beginning_window(Function::greatest, r[0], axes, at, x.type);
  }));
  n.give(1, places(n, x, axes, n.attributes().integer("storage_order", 0) != 0));
}

// ---- The mean.

// How many taps of the window at a position read elements in [-before, extent + after).
Expression taps_inside(const SlidingAxis &a, const Expression &position, int64_t before, int64_t after) {
  const Expression start = position * a.stride - a.before + before;
  const int64_t extent = a.extent + before + after;
  const Expression first = (max(-start, 0) + (a.dilation - 1)) / a.dilation;
  const Expression end = min(max(extent - 1 + a.dilation - start, 0) / a.dilation, a.kernel);
  return max(end - first, 0);
}

Operand mean_pool(Lowering &n, const Operand &x, const SlidingAxes &axes, bool count_padding) {
  Operand y = library_pool(n, "average_pool2d", x, axes, count_padding);
  if (y.present()) return y;
  return n.formula(x.type, pooled_shape(x, axes), {x}, [&](const Reads &r, const Axes &at) {
    const Type type = working_type(x.type);
    const Expression sum = over_window(Function::sum, r[0], axes, at, formula::constant(x.type, 0),
                                       [&](const Expression &e) { return cast(type, e); });
    Expression count = formula::constant_integer(Type::i64, 1);
    for (size_t d = 0; d < axes.size(); ++d)
      count = count *
              taps_inside(axes[d], at[d + 2], count_padding ? axes[d].before : 0, count_padding ? axes[d].after : 0);
    return cast(x.type, sum / cast(type, max(count, 1)));
  });
}

void average_pool(Lowering &n) {
  const Operand &x = n.input(0);
  n.give(0, mean_pool(n, x, sliding_axes(n, x.shape), n.attributes().integer("count_include_pad", 0) != 0));
}

// ---- The norm: (sum of |x|^p)^(1/p).

Operand norm_pool(Lowering &n, const Operand &x, const SlidingAxes &axes) {
  const int64_t p = n.attributes().integer("p", 2);
  if (p < 1) fail("p is ", p, "; expected at least 1");
  return n.formula(x.type, pooled_shape(x, axes), {x}, [&](const Reads &r, const Axes &at) {
    const Type type = working_type(x.type);
    const Expression sum =
        over_window(Function::sum, r[0], axes, at, formula::constant(x.type, 0), [&](const Expression &e) {
          const Expression v = abs(cast(type, e));
          return p == 1 ? v : p == 2 ? v * v : power(v, static_cast<double>(p));
        });
    return cast(x.type, p == 1 ? sum : p == 2 ? sqrt(sum) : power(sum, 1.0 / static_cast<double>(p)));
  });
}

void lp_pool(Lowering &n) {
  const Operand &x = n.input(0);
  n.give(0, norm_pool(n, x, sliding_axes(n, x.shape)));
}

// ---- Of whole images.

// One window that is the image.
SlidingAxes whole(const Operand &x) {
  if (x.rank() < 2) fail("an image of ", to_string(x.shape), "; expected (N, C, D1, ..., Dn)");
  SlidingAxes axes;
  for (size_t d = 2; d < x.shape.size(); ++d) axes.push_back({x.shape[d], x.shape[d], 1, 1, 0, 0, 1});
  return axes;
}

// Other than a MaxPool, ONNX's reference gives NaN where a channel has one.
void global_max_pool(Lowering &n) {
  const Operand &x = n.input(0);
  const SlidingAxes axes = whole(x);
  n.give(0, n.formula(x.type, pooled_shape(x, axes), {x}, [&](const Reads &r, const Axes &at) {
    return over_window(Function::greatest, r[0], axes, at, lowest(x.type), [](const Expression &e) { return e; });
  }));
}

void global_average_pool(Lowering &n) { n.give(0, mean_pool(n, n.input(0), whole(n.input(0)), false)); }
void global_lp_pool(Lowering &n) { n.give(0, norm_pool(n, n.input(0), whole(n.input(0)))); }

// ---- Back from the largest: zeros but for the elements whose places are known.

void max_unpool(Lowering &n) {
  const Operand &x = n.input(0), &from = n.input(1);
  if (x.rank() < 3 || from.shape != x.shape || from.type != Type::i64)
    fail("values of ", to_string(x.shape), " and ", facts(from.type).name, " indices of ", to_string(from.shape),
         "; expected (N, C, D1, ...) and i64 indices of the same shape");
  const size_t count = x.shape.size() - 2;
  const auto kernel = per_axis(n, "kernel_shape", count, 1, 1), strides = per_axis(n, "strides", count, 1, 1),
             pads = per_axis(n, "pads", 2 * count, 0, 0);
  // Indices count the elements of the image that these windows cover, which stands in the corner of a larger one.
  Shape covered = {x.shape[0], x.shape[1]};
  for (size_t d = 0; d < count; ++d)
    covered.push_back((x.shape[d + 2] - 1) * strides[d] - pads[d] - pads[d + count] + kernel[d]);
  const Shape shape = n.has(2) ? n.known_integers(2, "the output's shape") : covered;
  if (shape.size() != covered.size()) fail("an output of ", to_string(shape), " for values of ", to_string(x.shape));
  const Shape steps = {elements(x.shape) / std::max<int64_t>(1, x.shape[0] * x.shape[1])};
  const Operand values = n.reshaped(x, {x.shape[0], x.shape[1], steps[0]}), indices = n.reshaped(from, values.shape);
  // An index is looked for in its own channel, where a pool puts it; the last one of several counts.
  const auto number = [&](const Axes &at) {
    Expression e = formula::constant_integer(Type::i64, 0);
    for (size_t d = 0; d < shape.size(); ++d) e = d == 0 ? at[0] : e * covered[d] + at[d];
    return e;
  };
  const auto matches = [&](const Read &all, const Axes &at, const Expression &k) {
    Expression here = all({at[0], at[1], k}) == number(at);
    for (size_t d = 2; d < shape.size(); ++d)
      if (shape[d] > covered[d]) here = here && at[d] < covered[d];
    return here;
  };
  const Operand place = n.formula(Type::i64, shape, {indices}, [&](const Reads &r, const Axes &at) {
    return reduce(Function::last_greatest, steps,
                  [&](const std::vector<Expression> &s) { return cast(Type::i32, matches(r[0], at, s[0])); });
  });
  n.give(0, n.formula(x.type, shape, {values, indices, place}, [&](const Reads &r, const Axes &at) {
    const Expression k = r[2].here();
    return select(matches(r[1], at, k), r[0]({at[0], at[1], k}), formula::constant(x.type, 0));
  }));
}

}  // namespace

const OperatorList &pool_operators() {
  static const OperatorList list = {
      {"AveragePool", average_pool},
      {"GlobalAveragePool", global_average_pool},
      {"GlobalLpPool", global_lp_pool},
      {"GlobalMaxPool", global_max_pool},
      {"LpPool", lp_pool},
      {"MaxPool", max_pool},
      {"MaxUnpool", max_unpool},
  };
  return list;
}

}  // namespace saltern
