// Operators that put tensors together, cut parts out of them and put edges around them.

#include <algorithm>
#include <limits>

#include "algorithms/movement.h"
#include "algorithms/padding.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

void concat(Lowering &n) {
  std::vector<Operand> all;
  for (size_t i = 0; i < n.input_count(); ++i) all.push_back(n.input(i));
  if (all.empty()) fail("has no input");
  n.give(0, concatenated(n, all, n.axis(n.attributes().integer("axis"), all[0].rank())));
}

void split(Lowering &n) {
  const Operand &x = n.input(0);
  const auto axis = static_cast<size_t>(n.axis(n.attributes().integer("axis", 0), x.rank()));
  const int64_t extent = x.shape[axis];
  const auto outputs = static_cast<int64_t>(n.node().outputs.size());
  std::vector<int64_t> sizes = listed(n, "split", 1, "the sizes").value_or(Shape());
  if (sizes.empty()) {
    const int64_t count = n.attributes().integer("num_outputs", outputs);
    if (count < 1 || count != outputs) fail("splits into ", count, " parts for ", outputs, " outputs");
    const int64_t most = (extent + count - 1) / count;
    if (n.opset() < 18 && extent % count != 0) fail(extent, " elements do not split into ", count, " equal parts");
    for (int64_t i = 0; i < count; ++i) sizes.push_back(std::clamp<int64_t>(extent - i * most, 0, most));
  }
  int64_t all = 0;
  for (int64_t s : sizes) {
    if (s < 0 || s > extent) fail("splits ", extent, " elements into ", to_string(sizes));
    all += s;
  }
  if (static_cast<int64_t>(sizes.size()) != outputs || all != extent)
    fail("splits ", extent, " elements into ", to_string(sizes), " for ", outputs, " outputs");
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); begin += sizes[i++])
    if (n.wants(i)) n.give(i, sliced(n, x, static_cast<int>(axis), begin, sizes[i]));
}

void slice(Lowering &n) {
  const Operand &x = n.input(0);
  const auto starts = listed(n, "starts", 1, "the starts"), ends = listed(n, "ends", 2, "the ends");
  if (!starts || !ends || starts->size() != ends->size()) fail("expected as many starts as ends");
  const std::vector<int64_t> axes = listed(n, "axes", 3, "the axes").value_or(numbers_below(starts->size())),
                             by = listed(n, "steps", 4, "the steps").value_or(Shape(starts->size(), 1));
  if (axes.size() != starts->size() || by.size() != starts->size()) fail("expected as many axes and steps as starts");
  Shape shape = x.shape, begins(x.shape.size(), 0), steps(x.shape.size(), 1);
  const std::vector<int> places = axes_in(axes, x.rank());
  for (size_t i = 0; i < places.size(); ++i) {
    const auto d = static_cast<size_t>(places[i]);
    const int64_t extent = x.shape[d], step = by[i];
    if (step == 0) fail("a step is 0");
    // Backwards, it ends before the first element at the furthest, but never begins there: ONNX's text, not NumPy's.
    const int64_t most = step > 0 ? extent : extent - 1;
    const auto place = [&](int64_t given, int64_t least) {
      return std::max(std::min(given < 0 ? given + extent : given, most), std::min(least, most));
    };
    const int64_t begin = place((*starts)[i], 0), end = place((*ends)[i], step > 0 ? 0 : -1);
    const int64_t way = step > 0 ? end - begin : begin - end;
    // A step may be as long as integers go; longer than the way it is one step.
    const int64_t stride = step > 0 ? std::min(step, extent + 1) : -std::max(step, -extent - 1);
    shape[d] = way <= 0 ? 0 : (way + stride - 1) / stride;
    begins[d] = begin;
    steps[d] = step > 0 ? stride : -stride;
  }
  n.give(0, algorithms::strided(x, begins, steps, extents(shape)));
}

// ---- Pad: negative pads cut off first; what is left has edges added.

constexpr int64_t most_pad = int64_t{1} << 40;

struct Edge {
  int64_t first, count, before, after;  // the elements kept, and how many come before and after them
};

std::vector<Edge> edges_of(const Lowering &n, const Operand &x) {
  const auto pads = listed(n, "pads", 1, "the pads");
  if (!pads) fail("has no pads");
  const std::vector<int> axes =
      axes_in(n.has(3) ? n.known_integers(3, "the axes") : numbers_below(x.shape.size()), x.rank());
  if (pads->size() != 2 * axes.size()) fail(pads->size(), " pads for ", axes.size(), " axes");
  std::vector<Edge> edges;
  for (int64_t e : x.shape) edges.push_back({0, e, 0, 0});
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t begin = (*pads)[i], end = (*pads)[i + axes.size()];
    if (std::min(begin, end) < -most_pad || std::max(begin, end) > most_pad)
      fail("pads of ", begin, " and ", end, "; expected ", most_pad, " at most");
    Edge &e = edges[static_cast<size_t>(axes[i])];
    e = {std::max<int64_t>(-begin, 0), e.count + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0),
         std::max<int64_t>(begin, 0), std::max<int64_t>(end, 0)};
    if (e.count < 0) fail("cuts off more than there is of ", to_string(x.shape));
  }
  return edges;
}

// ONNX's names of them.
const std::map<std::string, std::string> pad_modes = {
    {"constant", "constant"}, {"reflect", "reflect"}, {"edge", "replicate"}, {"wrap", "circular"}};

void pad(Lowering &n) {
  const Operand &x = n.input(0);
  const algorithms::EdgeSource source =
      algorithms::edge_sources().at(one_of(pad_modes, "mode", n.attributes().word("mode", "constant")));
  const std::vector<Edge> edges = edges_of(n, x);
  Shape shape;
  for (const Edge &e : edges) {
    shape.push_back(e.before + e.count + e.after);
    if (source && e.count == 0 && shape.back() != 0) fail("repeats elements of ", to_string(x.shape));
  }
  const Value from = x, around = n.has(2) ? Value(n.reshaped(n.input(2), {})) : Value();
  n.give(0, formula::inlined(extents(shape), [&](Axes at) {
           Expression inside = formula::truth(true);
           for (size_t d = 0; d < at.size(); ++d) {
             const Edge &e = edges[d];
             Expression i = at[d] - e.before;
             if (!source)
               inside = inside && i >= 0 && i < e.count;
             else if (e.count > 0 && (e.before > 0 || e.after > 0))
               i = source(i, e.count, std::max(e.before, e.after) >= e.count);
             at[d] = i + e.first;
           }
           const Expression v = from.at(at);
           return select(inside, v, around.defined() ? around() : literal(v, n.attributes().real("value", 0)));
         }));
}

}  // namespace

const OperatorList joining_operators = {
    {"Concat", concat, move_texts},
    {"Pad", pad, move_texts},
    {"Slice", slice, move_texts},
    {"Split", split, move_texts},
};

}  // namespace saltern
