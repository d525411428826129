// Images read at places that other tensors give, and other ways to lay them out anew: GridSample, AffineGrid,
// DeformConv, CenterCropPad, Col2Im.

#include <algorithm>
#include <map>

#include "algorithms/convolution.h"
#include "algorithms/deformation.h"
#include "algorithms/normalisation.h"
#include "algorithms/sampling.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/convolution.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;
using algorithms::Interpolation;

// ---- GridSample and AffineGrid.

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
  return {one_of(filters, "mode", n.attributes().word("mode", "linear")),
          one_of(edges, "padding_mode", n.attributes().word("padding_mode", "zeros")), aligned};
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
  const bool wide = x.type == Type::f64 || (!is_real(x.type) && facts(x.type).bits > 16);
  const Type type = how.filter == Interpolation::Filter::nearest ? x.type : wide ? Type::f64 : Type::f32;
  const Value places = cast(working_type(grid.type), grid);
  n.give(0, cast(x.type, algorithms::grid_sample(cast(type, x), places, how, aligned)));
}

std::vector<HostValue> sample_texts(const HostCall &c) {
  if (c.attributes().word("mode", "linear") != "nearest")
    unsupported("texts are sampled by taking the nearest one only");
  return move_texts(c);
}

void affine_grid(Lowering &n) {
  const Operand &theta = n.input(0);
  const Shape size = n.known_integers(1, "the grid's size");
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  if (rank < 1 || theta.shape != Shape{size[0], rank, rank + 1})
    fail("theta is ", to_string(theta.shape), " for a size of ", to_string(size),
         "; expected (N, r, r + 1) and (N, C, D1, ..., Dr)");
  const Value wide = cast(working_type(theta.type), theta);
  const bool aligned = n.attributes().integer("align_corners", 0) != 0;
  n.give(0, cast(theta.type, algorithms::affine_grid(wide, {size.begin() + 2, size.end()}, aligned)));
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
  const Shape positions = positions_of(axes), offsets = image_of(x.shape[0], groups * taps * rank, positions),
              masks = image_of(x.shape[0], groups * taps, positions);
  expect_shape(offset, offsets, "the offset");
  expect_shape(n.optional(4), masks, "the mask");
  const Type type = working_type(x.type);
  return n.computed(cast(
      x.type, algorithms::deformed_columns(cast(type, x), cast(type, offset), masked ? cast(type, n.input(4)) : Value(),
                                           kernel_of(axes), slides_of(axes), groups)));
}

void deform_conv(Lowering &n) {
  const Operand &x = n.input(0), &w = n.input(1);
  expect_same_type(x, w);
  expect_weights(x, w);
  if (x.rank() < 3) fail("an image of ", to_string(x.shape), "; expected (N, C, D1, ...)");
  const SlidingAxes axes = sliding_axes(n, x.shape, {w.shape.begin() + 2, w.shape.end()});
  const int64_t outputs = w.shape[0], groups = groups_of(n, x.shape[1], outputs);
  if (w.shape[1] * groups != x.shape[1])
    fail("weights of ", to_string(w.shape), " in ", groups, " groups do not fit an image of ", to_string(x.shape));
  // Of each group a matrix product: its outputs by what its channels' taps read.
  const int64_t depth = w.shape[1] * elements(kernel_of(axes)), positions = elements(positions_of(axes));
  const Operand columns = n.reshaped(deformed_columns(n, axes), {x.shape[0], groups, depth, positions});
  const Operand weights = n.reshaped(w, {groups, outputs / groups, depth});
  const Operand y = n.reshaped(matrix_product(n, weights, columns), image_of(x.shape[0], outputs, positions_of(axes)));
  if (!n.has(3)) return n.give(0, y);
  expect_shape(n.input(3), {outputs}, "the bias");
  n.give(0, y + algorithms::by_channel(n.input(3), y));
}

// ---- CenterCropPad: the middle of x, or x in the middle of zeros.

void center_crop_pad(Lowering &n) {
  const Operand &x = n.input(0);
  const std::vector<int64_t> wanted = n.known_integers(1, "the shape");
  const std::vector<int> axes = axes_in(n.attributes().integers("axes", numbers_below(x.shape.size())), x.rank());
  if (wanted.size() != axes.size()) fail("a shape of ", wanted.size(), " extents for ", axes.size(), " axes");
  Shape shape = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) shape[static_cast<size_t>(axes[i])] = wanted[i];
  expect_room(x.type, shape);
  n.give(0, compute("center", extents(shape), [&](Axes at) {
           for (size_t d = 0; d < shape.size(); ++d) at[d] = at[d] - (shape[d] - x.shape[d]) / 2;
           return Value(x).or_else(0, at);
         }));
}

// ---- Col2Im: the sum of blocks laid over each other; x is (N, C * taps, positions), y (N, C, D1, ..., Dn).

void col2im(Lowering &n) {
  const Operand &x = n.input(0);
  const Shape image = n.known_integers(1, "the image's shape"), block = n.known_integers(2, "the block's shape");
  if (x.rank() != 3 || image.size() != block.size())
    fail("columns of ", to_string(x.shape), " for an image of ", to_string(image), " and blocks of ", to_string(block));
  const SlidingAxes axes = sliding_axes(n, image_of(x.shape[0], 0, image), block);
  const int64_t taps = elements(block), positions = elements(positions_of(axes));
  if (taps < 1 || x.shape[1] % taps != 0 || x.shape[2] != positions)
    fail("columns of ", to_string(x.shape), "; expected [N, C * ", taps, ", ", positions, "]");
  const int64_t channels = x.shape[1] / taps;
  Shape apart = image_of(x.shape[0], channels, block);
  for (int64_t p : positions_of(axes)) apart.push_back(p);
  n.give(0, algorithms::from_columns(n.reshaped(x, apart), extents(block), slides_of(axes),
                                     extents(image_of(x.shape[0], channels, image))));
}

}  // namespace

const OperatorList sampling_operators = {{"AffineGrid", affine_grid},
                                         {"CenterCropPad", center_crop_pad, move_texts},
                                         {"Col2Im", col2im},
                                         {"DeformConv", deform_conv},
                                         {"GridSample", grid_sample, sample_texts}};

}  // namespace saltern
