// Operators that choose elements. How many depends on values, so they are the host's; but a Compress is lowered where
// its condition is known.

#include <algorithm>
#include <functional>
#include <numeric>

#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/text_numbers.h"
#include "runtime/onnx/operators/wide_numbers.h"
#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

Tensor flat(const Tensor &x) { return x.in_layout(Layout::row_major).reshaped({x.size()}); }

std::vector<HostValue> non_zero(const HostCall &c) {
  const Tensor &x = c.tensor(0);
  std::vector<int64_t> places;
  const Tensor marks = converted(TextNumbers().of(x), Type::boolean);  // of an empty text it is 0
  for (int64_t i = 0; i < x.size(); ++i)
    if (marks.data<bool>()[i]) places.push_back(i);
  const auto count = static_cast<int64_t>(places.size());
  const Tensor y = Tensor::empty({x.rank(), count}, Type::i64);
  const Shape strides = dense_strides(x.shape(), Layout::row_major);
  for (int d = 0; d < x.rank(); ++d)
    for (int64_t i = 0; i < count; ++i)
      y.at<int64_t>({d, i}) = places[static_cast<size_t>(i)] / strides[static_cast<size_t>(d)] % x.extent(d);
  return {y};
}

void compress(Lowering &n) {
  const bool whole = !n.attributes().has("axis");
  const Operand x = whole ? n.reshaped(n.input(0), {elements(n.input(0).shape)}) : n.input(0);
  const auto axis = static_cast<size_t>(whole ? 0 : n.axis(n.attributes().integer("axis"), x.rank()));
  const std::vector<int64_t> marks = n.known_integers(1, "the condition");
  if (static_cast<int64_t>(marks.size()) > x.shape[axis])
    fail(marks.size(), " conditions for ", x.shape[axis], " elements");
  std::vector<int64_t> which;
  for (size_t i = 0; i < marks.size(); ++i)
    if (marks[i] != 0) which.push_back(static_cast<int64_t>(i));
  Shape shape = x.shape;
  shape[axis] = static_cast<int64_t>(which.size());
  const Value places = n.constant(list_of(which));
  n.give(0, formula::inlined(extents(shape), [&](Axes at) {
           at[axis] = places(at[axis]);
           return Value(x).at(at);
         }));
}

// ---- Unique: slices along an axis, sorted by their elements in order.

struct Distinct {
  std::vector<int64_t> firsts, inverse, counts;
};

// `before` orders the numbers of `count` slices; equal ones are in neither order.
Distinct distinct(int64_t count, bool sorted, const std::function<bool(int64_t, int64_t)> &before) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<std::vector<int64_t>> groups;
  for (int64_t i : order) {
    if (groups.empty() || before(groups.back()[0], i)) groups.emplace_back();
    groups.back().push_back(i);
  }
  if (!sorted) std::sort(groups.begin(), groups.end(), [](const auto &a, const auto &b) { return a[0] < b[0]; });
  Distinct d;
  d.inverse.resize(order.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    d.firsts.push_back(groups[g][0]);
    d.counts.push_back(static_cast<int64_t>(groups[g].size()));
    for (int64_t i : groups[g]) d.inverse[static_cast<size_t>(i)] = static_cast<int64_t>(g);
  }
  return d;
}

template <typename T>
bool comes_before(const T &a, const T &b) {
  if constexpr (std::is_arithmetic_v<T>)
    return ascends(a, b);
  else
    return a < b;
}

template <typename T>
Distinct distinct_slices(const Tensor &keys, int axis, bool sorted) {
  // Slice i as a row.
  Shape shape = {keys.extent(axis)}, strides = {keys.strides()[static_cast<size_t>(axis)]};
  for (int d = 0; d < keys.rank(); ++d)
    if (d != axis) {
      shape.push_back(keys.extent(d));
      strides.push_back(keys.strides()[static_cast<size_t>(d)]);
    }
  const Tensor rows = keys.viewed(shape, strides).in_layout(Layout::row_major);
  const int64_t length = shape[0] == 0 ? 0 : rows.size() / shape[0];
  const T *all = rows.data<T>();
  return distinct(shape[0], sorted, [&](int64_t a, int64_t b) {
    return std::lexicographical_compare(all + a * length, all + (a + 1) * length, all + b * length,
                                        all + (b + 1) * length, comes_before<T>);
  });
}

std::vector<HostValue> unique(const HostCall &c) {
  const bool whole = !c.attributes().has("axis"), sorted = c.attributes().integer("sorted", 1) != 0;
  const Tensor x = whole ? flat(c.tensor(0)) : c.tensor(0);
  const int axis = whole ? 0 : axis_within(c.attributes().integer("axis"), x.rank());
  const Distinct d =
      x.type() == Type::text ? distinct_slices<std::string>(x, axis, sorted) : with_widest(x.type(), [&](auto *of) {
        return distinct_slices<std::remove_pointer_t<decltype(of)>>(converted(x, widest(x.type())), axis, sorted);
      });
  return {picked(x, axis, d.firsts), list_of(d.firsts), list_of(d.inverse), list_of(d.counts)};
}

// ---- NonMaxSuppression: boxes by falling score, without those that overlap a chosen one too much.

struct Box {
  double low_y, low_x, high_y, high_x;
  double area() const { return (high_y - low_y) * (high_x - low_x); }
};

Box box_of(const float *b, bool centered) {
  const double p = b[0], q = b[1], r = b[2], s = b[3];
  if (centered) return {q - s / 2, p - r / 2, q + s / 2, p + r / 2};  // x, y, width, height
  return {std::min(p, r), std::min(q, s), std::max(p, r), std::max(q, s)};
}

double overlap(const Box &a, const Box &b) {
  const double height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y),
               width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

std::vector<HostValue> non_max_suppression(const HostCall &c) {
  const Tensor boxes = c.tensor(0).in_layout(Layout::row_major), scores = c.tensor(1).in_layout(Layout::row_major);
  if (boxes.rank() != 3 || boxes.extent(2) != 4 || scores.rank() != 3 || scores.extent(0) != boxes.extent(0) ||
      scores.extent(2) != boxes.extent(1))
    fail("boxes of ", to_string(boxes.shape()), " and scores of ", to_string(scores.shape()),
         "; expected [batch, boxes, 4] and [batch, classes, boxes]");
  const auto number = [&](size_t i, double otherwise) { return c.has(i) ? c.tensor(i).reals().at(0) : otherwise; };
  const double most = number(2, 0), threshold = number(3, 0), least_score = number(4, 0);
  const bool centered = c.attributes().integer("center_point_box", 0) != 0;
  const int64_t count = boxes.extent(1), classes = scores.extent(1);
  std::vector<int64_t> chosen;
  for (int64_t pair = 0; pair < boxes.extent(0) * classes; ++pair) {
    const int64_t batch = pair / classes;
    const float *score = scores.data<float>() + pair * count, *box = boxes.data<float>() + batch * count * 4;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i)
      if (!c.has(4) || score[i] > least_score) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return score[a] > score[b]; });
    std::vector<Box> kept;
    for (int64_t i : order) {
      if (static_cast<double>(kept.size()) >= most) break;
      const Box b = box_of(box + i * 4, centered);
      if (std::any_of(kept.begin(), kept.end(), [&](const Box &k) { return overlap(b, k) > threshold; })) continue;
      kept.push_back(b);
      chosen.insert(chosen.end(), {batch, pair % classes, i});
    }
  }
  return {Tensor::of<int64_t>({static_cast<int64_t>(chosen.size()) / 3, 3}, chosen)};
}

}  // namespace

const OperatorList selecting_operators = {
    {"Compress", compress, move_texts},
    {"NonMaxSuppression", nullptr, non_max_suppression},
    {"NonZero", nullptr, non_zero},
    {"Unique", nullptr, unique},
};

}  // namespace saltern
