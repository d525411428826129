// Operators that give elements another shape or order, or repeat them.

#include <algorithm>

#include "algorithms/movement.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

void reshape(Lowering &n) {
  const Operand &x = n.input(0);
  Shape shape = listed(n, "shape", 1, "the shape").value_or(Shape{});
  const bool zero_is_zero = n.attributes().integer("allowzero", 0) != 0;
  Shape given;
  int rest = -1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !zero_is_zero) {
      if (d >= x.shape.size()) fail("its shape keeps dimension ", d, " of ", to_string(x.shape));
      shape[d] = x.shape[d];
    }
    if (shape[d] < -1 || (shape[d] == -1 && rest >= 0)) fail("its shape is ", to_string(shape));
    if (shape[d] == -1)
      rest = static_cast<int>(d);
    else
      given.push_back(shape[d]);
  }
  if (const int64_t others = elements(given); rest >= 0) {
    const int64_t size = elements(x.shape);
    if (others == 0 || size % others != 0)  // of no elements, the rest could be any
      fail("cannot reshape ", to_string(x.shape), " to ", to_string(shape));
    shape[static_cast<size_t>(rest)] = size / others;
  }
  n.give(0, n.reshaped(x, shape));
}

void flatten(Lowering &n) {
  const Operand &x = n.input(0);
  int64_t axis = n.attributes().integer("axis", 1);
  if (axis < -x.rank() || axis > x.rank()) fail("axis ", axis, " of a tensor of rank ", x.rank());
  if (axis < 0) axis += x.rank();
  const auto middle = x.shape.begin() + axis;
  n.give(0, n.reshaped(x, {elements(Shape(x.shape.begin(), middle)), elements(Shape(middle, x.shape.end()))}));
}

void squeeze(Lowering &n) {
  const Operand &x = n.input(0);
  const auto given = listed(n, "axes", 1, "the axes");
  std::vector<bool> dropped(x.shape.size(), false);
  if (given)
    for (int a : axes_in(*given, x.rank())) dropped[static_cast<size_t>(a)] = true;
  Shape shape;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (dropped[d] && x.shape[d] != 1) fail("cannot drop dimension ", d, " of ", to_string(x.shape));
    if (given ? !dropped[d] : x.shape[d] != 1) shape.push_back(x.shape[d]);
  }
  n.give(0, n.reshaped(x, shape));
}

void unsqueeze(Lowering &n) {
  const Operand &x = n.input(0);
  const auto given = listed(n, "axes", 1, "the axes");
  if (!given) fail("has no axes");
  const size_t rank = x.shape.size() + given->size();
  std::vector<bool> added(rank, false);
  for (int a : axes_in(*given, static_cast<int>(rank))) added[static_cast<size_t>(a)] = true;
  Shape shape;
  auto next = x.shape.begin();
  for (size_t d = 0; d < rank; ++d) shape.push_back(added[d] ? 1 : *next++);
  n.give(0, n.reshaped(x, shape));
}

void transpose(Lowering &n) {
  const Operand &x = n.input(0);
  std::vector<int> order;
  if (n.attributes().has("perm"))
    order = axes_in(n.attributes().integers("perm"), x.rank());
  else
    for (int d = x.rank() - 1; d >= 0; --d) order.push_back(d);
  if (static_cast<int>(order.size()) != x.rank()) fail("orders ", order.size(), " dimensions of ", to_string(x.shape));
  n.give(0, n.transposed(x, order));
}

void expand(Lowering &n) {
  const Operand &x = n.input(0);
  n.give(0, n.broadcasted(x, broadcast_shape(x.shape, n.known_integers(1, "the shape"), "Expand")));
}

void tile(Lowering &n) {
  const Operand &x = n.input(0);
  const std::vector<int64_t> repeats = n.known_integers(1, "the repeats");
  if (repeats.size() != x.shape.size()) fail(repeats.size(), " repeats of ", to_string(x.shape));
  Shape shape;
  for (size_t d = 0; d < repeats.size(); ++d) shape.push_back(elements({x.shape[d], repeats[d]}));
  if (elements(shape) == 0) return n.give(0, n.constant(Tensor::empty(shape, x.type)));
  n.give(0, algorithms::tiled(x, extents(shape)));
}

// ---- Blocks of pixels that become channels, and back: images are N, C, H, W.

constexpr int64_t most_block = 1 << 15;

int64_t block_size(const Lowering &n) {
  const int64_t b = n.attributes().integer("blocksize");
  if (b < 1 || b > most_block) fail("its blocksize is ", b, "; expected 1 to ", most_block);
  if (n.input(0).rank() != 4)
    fail("its input has the shape ", to_string(n.input(0).shape), "; expected four dimensions");
  return b;
}

void depth_to_space(Lowering &n) {
  const Operand &x = n.input(0);
  const int64_t b = block_size(n);
  if (x.shape[1] % (b * b) != 0) fail(x.shape[1], " channels are not blocks of ", b, " x ", b);
  const bool apart = one_of({"DCR", "CRD"}, "mode", n.attributes().word("mode", "DCR")) == "DCR";
  n.give(0, algorithms::pixel_shuffle(x, b, apart));
}

void space_to_depth(Lowering &n) {
  const Operand &x = n.input(0);
  const int64_t b = block_size(n);
  if (x.shape[2] % b != 0 || x.shape[3] % b != 0) fail(to_string(x.shape), " is not made of blocks of ", b, " x ", b);
  const Shape shape = {x.shape[0], x.shape[1] * b * b, x.shape[2] / b, x.shape[3] / b};
  if (elements(shape) == 0) return n.give(0, n.constant(Tensor::empty(shape, x.type)));
  n.give(0, algorithms::pixel_unshuffle(x, b));
}

}  // namespace

const OperatorList shape_operators = {
    {"DepthToSpace", depth_to_space, move_texts},
    {"Expand", expand, move_texts},
    {"Flatten", flatten, move_texts},
    {"Reshape", reshape, move_texts},
    {"SpaceToDepth", space_to_depth, move_texts},
    {"Squeeze", squeeze, move_texts},
    {"Tile", tile, move_texts},
    {"Transpose", transpose, move_texts},
    {"Unsqueeze", unsqueeze, move_texts},
};

}  // namespace saltern
