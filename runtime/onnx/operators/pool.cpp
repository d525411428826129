// Pools: one number for each window of each channel, (N, C, D1, ..., Dn) -> (N, C, P1, ..., Pn).

#include <algorithm>

#include "algorithms/pooling.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/window.h"

namespace saltern {

namespace {

using namespace formula;

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
  const Shape shape = image_of(x.shape[0], x.shape[1], positions_of(axes));
  Shape kernel = kernel_of(axes);
  if (kernel.size() == 1) kernel.insert(kernel.begin(), 1);
  attributes.set("kernel", kernel);
  if (name == "average_pool2d") attributes.set("count_padding", int64_t{count_padding});
  const Operand y = n.operation(name, {n.casted(as_image(n, x), Type::f32)}, attributes, as_image(shape));
  return n.casted(n.reshaped(y, shape), x.type);
}

algorithms::Window window_of(const SlidingAxes &axes) { return extents(kernel_of(axes)); }

// ---- The largest. NaN is passed over, as in ONNX's reference; but where places are asked for, one that begins a
// window stays, as the reference and ONNX Runtime have it.

// Over all taps of a window whose places are asked for.
Value over_beginning_window(Function f, const Value &x, const SlidingAxes &axes) {
  const algorithms::Slides slides = slides_of(axes);
  return compute("pool", algorithms::windows(x, x.extent(1), window_of(axes), slides), [&](const Axes &at) {
    return reduce_open(f, window_of(axes), [&](const Axes &taps) {
      const Axes from = algorithms::tap_of(at, at[1], taps, slides);
      const Expression e = x.or_else(algorithms::lowest(x.type()), from);
      Expression begins = truth(true);
      for (size_t d = 0; d < axes.size(); ++d) begins = begins && (taps[d] == 0 || from[d + 2] < axes[d].dilation);
      return select(begins, e, algorithms::number_or_lowest(e));
    });
  });
}

// Where each window's largest element is: its number in x, rows or columns first.
Value places(const Value &x, const SlidingAxes &axes, bool columns_first) {
  const Value taps = over_beginning_window(Function::first_greatest, x, axes);
  return inlined(taps.extents(), [&](const Axes &at) {
    Expression tap = taps.at(at);
    std::vector<Expression> index(axes.size());
    for (size_t d = axes.size(); d-- > 0;) {
      const SlidingAxis &a = axes[d];
      // Within the image even where all of a window's elements are lowest.
      index[d] = max(min(algorithms::source(at[d + 2], tap % a.kernel, a.slide()), a.extent - 1), 0);
      tap = tap / a.kernel;
    }
    if (columns_first) std::reverse(index.begin(), index.end());
    Expression number = at[0] * x.extent(1) + at[1];
    for (size_t d = 0; d < axes.size(); ++d)
      number = number * axes[columns_first ? axes.size() - 1 - d : d].extent + index[d];
    return number;
  });
}

void max_pool(Lowering &n) {
  const Operand &x = n.input(0);
  const SlidingAxes axes = sliding_axes(n, x.shape);
  if (n.wants(1)) {
    n.give(0, over_beginning_window(Function::greatest, x, axes));
    return n.give(1, places(x, axes, n.attributes().integer("storage_order", 0) != 0));
  }
  const Operand y = library_pool(n, "max_pool2d", x, axes, false);
  if (y.present()) return n.give(0, y);
  n.give(0, algorithms::max_pool(x, window_of(axes), slides_of(axes)));
}

// ---- The mean.

void mean_pool(Lowering &n, const SlidingAxes &axes, bool count_padding) {
  const Operand &x = n.input(0), y = library_pool(n, "average_pool2d", x, axes, count_padding);
  if (y.present()) return n.give(0, y);
  const auto counts = count_padding ? algorithms::Counts::with_padding : algorithms::Counts::inside;
  n.give(0, cast(x.type,
                 algorithms::average_pool(cast(working_type(x.type), x), window_of(axes), slides_of(axes), counts)));
}

void average_pool(Lowering &n) {
  mean_pool(n, sliding_axes(n, n.input(0).shape), n.attributes().integer("count_include_pad", 0) != 0);
}

// ---- The norm: (sum of |x|^p)^(1/p).

void norm_pool(Lowering &n, const SlidingAxes &axes) {
  const Operand &x = n.input(0);
  const int64_t p = n.attributes().integer("p", 2);
  if (p < 1) fail("p is ", p, "; expected at least 1");
  n.give(0, cast(x.type, algorithms::norm_pool(cast(working_type(x.type), x), window_of(axes), slides_of(axes), p)));
}

void lp_pool(Lowering &n) { norm_pool(n, sliding_axes(n, n.input(0).shape)); }

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
  std::vector<int> axes;
  for (size_t d = 0; d < whole(x).size(); ++d) axes.push_back(static_cast<int>(d) + 2);
  n.give(0, greatest(x, axes));
}

void global_average_pool(Lowering &n) { mean_pool(n, whole(n.input(0)), false); }
void global_lp_pool(Lowering &n) { norm_pool(n, whole(n.input(0))); }

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
  const Value all = indices, from_all = values;
  const auto matches = [&](const Axes &at, const Expression &k) {
    Expression here = all(at[0], at[1], k) == row_major_index(at, covered);
    for (size_t d = 2; d < shape.size(); ++d)
      if (shape[d] > covered[d]) here = here && at[d] < covered[d];
    return here;
  };
  const Value place = compute("place", extents(shape), [&](const Axes &at) {
    return reduce(Function::last_greatest, steps, [&](const Axes &k) { return cast(Type::i32, matches(at, k[0])); });
  });
  n.give(0, compute("unpool", extents(shape), [&](const Axes &at) {
           const Expression k = place.at(at);
           return select(matches(at, k), from_all(at[0], at[1], k), constant(x.type, 0));
         }));
}

}  // namespace

const OperatorList pool_operators = {
    {"AveragePool", average_pool},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalLpPool", global_lp_pool},
    {"GlobalMaxPool", global_max_pool},
    {"LpPool", lp_pool},
    {"MaxPool", max_pool},
    {"MaxUnpool", max_unpool},
};

}  // namespace saltern
