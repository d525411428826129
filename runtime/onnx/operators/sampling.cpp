// Images read at places that other tensors give, and other ways to lay them out anew: GridSample, AffineGrid,
// DeformConv, CenterCropPad, Col2Im.

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/convolution.h"
#include "runtime/onnx/operators/interpolation.h"
#include "runtime/onnx/operators/move_texts.h"

namespace saltern {

using formula::Function;

namespace {

// ---- GridSample: y(n, c, o...) = x(n, c) at grid(n, o...), whose coordinates are in [-1, 1], the last dimension
// first.

Interpolation grid_interpolation(const Lowering &n, bool aligned) {
  using Filter = Interpolation::Filter;
  using Outside = Interpolation::Outside;
  static const std::map<std::string, Filter> filters = {{"nearest", Filter::nearest},
                                                        {"bilinear", Filter::linear},
                                                        {"linear", Filter::linear},
                                                        {"bicubic", Filter::cubic},
                                                        {"cubic", Filter::cubic}};
  static const std::map<std::string, Outside> edges = {
      {"zeros", Outside::zeros}, {"border", Outside::border}, {"reflection", Outside::reflection}};
  const std::string mode = n.attributes().word("mode", "linear"), edge = n.attributes().word("padding_mode", "zeros");
  if (!filters.count(mode)) fail("mode is '", mode, "'; expected nearest, linear or cubic");
  if (!edges.count(edge)) fail("padding_mode is '", edge, "'; expected zeros, border or reflection");
  return {filters.at(mode), edges.at(edge), aligned};
}

void grid_sample(Lowering &n) {
  const Operand &x = n.input(0), &grid = n.input(1);
  const auto rank = static_cast<size_t>(std::max(x.rank() - 2, 0));
  if (rank < 1 || grid.rank() != x.rank() || grid.shape.back() != static_cast<int64_t>(rank) ||
      grid.shape[0] != x.shape[0])
    fail("an image of ", to_string(x.shape), " and a grid of ", to_string(grid.shape),
         "; expected (N, C, D1, ..., Dr) and (N, O1, ..., Or, r)");
  const bool aligned = n.attributes().integer("align_corners", 0) != 0;
  const Interpolation how = grid_interpolation(n, aligned);
  Shape shape = {x.shape[0], x.shape[1]};
  shape.insert(shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  const Type where = working_type(grid.type);
  const bool wide = x.type == Type::f64 || (!is_real(x.type) && facts(x.type).bits > 16);
  const Type type = how.filter == Interpolation::Filter::nearest ? x.type : wide ? Type::f64 : Type::f32;
  n.give(0, n.formula(x.type, shape, {x, grid}, [&](const Reads &r, const Axes &at) {
    std::vector<Expression> place;
    for (size_t d = 0; d < rank; ++d) {
      std::vector<Expression> from = {at[0]};
      from.insert(from.end(), at.begin() + 2, at.end());
      from.push_back(formula::constant_integer(Type::i64, static_cast<int64_t>(rank - 1 - d)));
      const Expression v = cast(where, r[1](from)) + 1.0;
      const auto extent = static_cast<double>(x.shape[d + 2]);
      place.push_back(aligned ? v * 0.5 * (extent - 1) : (v * extent - 1.0) * 0.5);
    }
    return cast(x.type, interpolated(how, r[0], at[0], at[1], place, type));
  }));
}

std::vector<HostValue> sample_texts(const HostCall &c) {
  if (c.attributes().word("mode", "linear") != "nearest")
    unsupported("texts are sampled by taking the nearest one only");
  return move_texts(c);
}

// ---- AffineGrid: the places of GridSample for an affine map; y(n, o..., j) = sum over k of theta(n, j, k) p(o, k).

void affine_grid(Lowering &n) {
  const Operand &theta = n.input(0);
  const Shape size = n.known_integers(1, "the grid's size");
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  if (rank < 1 || theta.shape != Shape{size[0], rank, rank + 1})
    fail("theta is ", to_string(theta.shape), " for a size of ", to_string(size),
         "; expected (N, r, r + 1) and (N, C, D1, ..., Dr)");
  const bool aligned = n.attributes().integer("align_corners", 0) != 0;
  const Type type = working_type(theta.type);
  Shape shape = {size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(rank);
  n.give(0, n.formula(theta.type, shape, {theta}, [&](const Reads &r, const Axes &at) {
    const auto matrix = [&](int64_t k) {
      return cast(type, r[0]({at[0], at.back(), formula::constant_integer(Type::i64, k)}));
    };
    Expression sum = matrix(rank);
    for (int64_t k = 0; k < rank; ++k) {
      const auto d = static_cast<size_t>(rank - k);  // the last dimension comes first
      const auto extent = static_cast<double>(shape[d]);
      const Expression o = cast(type, at[d]);
      const Expression place = !aligned       ? (o * 2.0 + 1.0) / extent - 1.0
                               : shape[d] > 1 ? o * 2.0 / (extent - 1) - 1.0
                                              : o * 0.0;
      sum = sum + matrix(k) * place;
    }
    return cast(theta.type, sum);
  }));
}

// ---- DeformConv: a convolution whose every tap reads beside its place, by an offset, and counts by a mask.

// What the taps read: (N, C, taps, P1, ..., Pn).
Operand deformed_columns(Lowering &n, const SlidingAxes &axes) {
  const Operand &x = n.input(0), &offset = n.input(2);
  const bool masked = n.has(4);
  const int64_t taps = elements(kernel_of(axes)), groups = n.attributes().integer("offset_group", 1);
  const auto rank = static_cast<int64_t>(axes.size());
  if (groups < 1 || x.shape[1] % groups != 0)
    fail(x.shape[1], " channels do not divide into ", groups, " groups of offsets");
  Shape shape = {x.shape[0], x.shape[1], taps}, offsets = {x.shape[0], groups * taps * rank},
        masks = {x.shape[0], groups * taps};
  for (const SlidingAxis &a : axes)
    for (Shape *s : {&shape, &offsets, &masks}) s->push_back(a.positions);
  if (offset.shape != offsets) fail("offsets of ", to_string(offset.shape), "; expected ", to_string(offsets));
  if (masked && n.input(4).shape != masks)
    fail("a mask of ", to_string(n.input(4).shape), "; expected ", to_string(masks));
  std::vector<Operand> all = {x, offset};
  if (masked) all.push_back(n.input(4));
  const Type type = working_type(x.type);
  return n.formula(x.type, shape, all, [&](const Reads &r, const Axes &at) {
    const Expression number = at[1] / std::max<int64_t>(x.shape[1] / groups, 1) * taps + at[2];
    const auto position = [&](const Expression &channel) {
      std::vector<Expression> indices = {at[0], channel};
      indices.insert(indices.end(), at.begin() + 3, at.end());
      return indices;
    };
    std::vector<Expression> place(axes.size());
    Expression tap = at[2];
    for (size_t d = axes.size(); d-- > 0;) {
      const Expression still = axes[d].index(at[d + 3], tap % axes[d].kernel);
      tap = tap / axes[d].kernel;
      place[d] = cast(type, still) + cast(type, r[1](position(number * rank + static_cast<int64_t>(d))));
    }
    const Expression value = interpolated({}, r[0], at[0], at[1], place, type);
    return cast(x.type, masked ? value * cast(type, r[2](position(number))) : value);
  });
}

void deform_conv(Lowering &n) {
  const Operand &x = n.input(0), &w = n.input(1);
  expect_same_type(n, x, w);
  if (x.rank() < 3 || w.rank() != x.rank())
    fail("an image of ", to_string(x.shape), " and weights of ", to_string(w.shape),
         "; expected (N, C, D1, ...) and as many dimensions");
  const SlidingAxes axes = sliding_axes(n, x.shape, {w.shape.begin() + 2, w.shape.end()});
  const int64_t outputs = w.shape[0], groups = groups_of(n, x.shape[1], outputs);
  if (w.shape[1] * groups != x.shape[1])
    fail("weights of ", to_string(w.shape), " in ", groups, " groups do not fit an image of ", to_string(x.shape));
  // Of each group a matrix product: its outputs by what its channels' taps read.
  const int64_t depth = w.shape[1] * elements(kernel_of(axes)), positions = elements(positions_of(axes));
  const Operand columns = n.reshaped(deformed_columns(n, axes), {x.shape[0], groups, depth, positions});
  const Operand weights = n.reshaped(w, {groups, outputs / groups, depth});
  Shape shape = {x.shape[0], outputs};
  for (const SlidingAxis &a : axes) shape.push_back(a.positions);
  const Operand y = n.reshaped(matrix_product(n, weights, columns), shape);
  if (!n.has(3)) {
    n.give(0, y);
    return;
  }
  expect_bias(n.input(3), outputs);
  n.give(0, n.formula(x.type, shape, {y, n.input(3)},
                      [](const Reads &r, const Axes &at) { return r[0].here() + r[1]({at[1]}); }));
}

// ---- CenterCropPad: the middle of x, or x in the middle of zeros.

void center_crop_pad(Lowering &n) {
  const Operand &x = n.input(0);
  const std::vector<int64_t> wanted = n.known_integers(1, "the shape");
  std::vector<int64_t> all(x.shape.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<int64_t> axes = n.attributes().integers("axes", all);
  if (wanted.size() != axes.size()) fail("a shape of ", wanted.size(), " extents for ", axes.size(), " axes");
  Shape shape = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) shape[static_cast<size_t>(n.axis(axes[i], x.rank()))] = wanted[i];
  expect_room(x.type, shape);
  n.give(0, n.formula(x.type, shape, {x}, [&](const Reads &r, const Axes &at) {
    std::vector<Expression> from = at;
    Expression inside;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t more = shape[d] - x.shape[d];
      if (more <= 0) {
        from[d] = at[d] + (-more) / 2;
        continue;
      }
      from[d] = at[d] - more / 2;
      const Expression here = from[d] >= 0 && from[d] < x.shape[d];
      inside = inside.defined() ? inside && here : here;
    }
    const Expression value = r[0](from);
    return inside.defined() ? select(inside, value, formula::constant(x.type, 0)) : value;
  }));
}

// ---- Col2Im: the sum of blocks laid over each other; x is (N, C * taps, positions), y (N, C, D1, ..., Dn).

void col2im(Lowering &n) {
  const Operand &x = n.input(0);
  const Shape image = n.known_integers(1, "the image's shape"), block = n.known_integers(2, "the block's shape");
  if (x.rank() != 3 || image.size() != block.size())
    fail("columns of ", to_string(x.shape), " for an image of ", to_string(image), " and blocks of ", to_string(block));
  Shape shape = {x.shape[0], 0};
  shape.insert(shape.end(), image.begin(), image.end());
  const SlidingAxes axes = sliding_axes(n, shape, block);
  const int64_t taps = elements(block), positions = elements(positions_of(axes));
  if (taps < 1 || x.shape[1] % taps != 0 || x.shape[2] != positions)
    fail("columns of ", to_string(x.shape), "; expected [N, C * ", taps, ", ", positions, "]");
  shape[1] = x.shape[1] / taps;
  n.give(0, n.formula(x.type, shape, {x}, [&](const Reads &r, const Axes &at) {
    return reduce(Function::sum, block, [&](const std::vector<Expression> &s) {
      Expression tap = at[1], position = formula::constant_integer(Type::i64, 0), exists;
      for (size_t d = 0; d < axes.size(); ++d) {
        const Origin o = origin(axes[d], at[d + 2], s[d]);
        tap = tap * block[d] + s[d];
        position = position * axes[d].positions + o.position;
        exists = exists.defined() ? exists && o.exists : o.exists;
      }
      const Expression value = r[0]({at[0], tap, position});
      return exists.defined() ? select(exists, value, literal(value, 0)) : value;
    });
  }));
}

}  // namespace

const OperatorList &sampling_operators() {
  static const OperatorList list = {{"AffineGrid", affine_grid},
                                    {"CenterCropPad", center_crop_pad, move_texts},
                                    {"Col2Im", col2im},
                                    {"DeformConv", deform_conv},
                                    {"GridSample", grid_sample, sample_texts}};
  return list;
}

}  // namespace saltern
