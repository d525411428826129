// Resize and Upsample: tables (resize_table.h) applied one axis after another.

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/resize_table.h"
#include "runtime/onnx/operators/small_casts.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

using namespace formula;

struct Plan {
  ResizeRule rule;
  std::vector<ResizeAxis> axes;  // one for each dimension
  double extrapolation = 0;
};

bool is_identity(const ResizeAxis &a) {
  return a.from == a.to && std::abs(a.scale - 1) < 1e-9 && a.begin == 0 && a.end == 1;
}

// ---- What the node says.

std::vector<double> expect_count(std::vector<double> values, size_t count, const char *what) {
  if (values.size() != count) fail(values.size(), " ", what, "; expected ", count);
  return values;
}

// Each dimension as it is.
std::vector<ResizeAxis> unchanged(const Shape &shape) {
  std::vector<ResizeAxis> axes;
  for (int64_t e : shape) axes.push_back({e, e, 1});
  return axes;
}

void set_scale(ResizeAxis &a, double scale) {
  if (!(scale > 0)) fail("a scale of ", scale, "; expected a positive one");
  a.scale = scale;
  a.to = integer_of(std::floor(static_cast<double>(a.from) * scale));
}

// The sizes that were asked for, or those with the image's own aspect ratio that fit inside or around them.
void set_sizes(const Lowering &n, Plan &plan, const std::vector<int> &which, const std::vector<int64_t> &sizes) {
  const char *name = "keep_aspect_ratio_policy";
  const std::string policy =
      one_of({"stretch", "not_larger", "not_smaller"}, name, n.attributes().word(name, "stretch"));
  if (sizes.size() != which.size()) fail(sizes.size(), " sizes; expected ", which.size());
  std::optional<double> common;
  for (size_t i = 0; i < which.size(); ++i) {
    ResizeAxis &a = plan.axes[static_cast<size_t>(which[i])];
    if (sizes[i] < 0 || (a.from == 0 && sizes[i] > 0)) fail("a size of ", sizes[i], " for an extent of ", a.from);
    a.to = sizes[i];
    a.scale = a.from == 0 ? 1 : static_cast<double>(a.to) / static_cast<double>(a.from);
    common = !common ? a.scale : policy == "not_larger" ? std::min(*common, a.scale) : std::max(*common, a.scale);
  }
  if (policy == "stretch") return;
  for (int d : which) {
    ResizeAxis &a = plan.axes[static_cast<size_t>(d)];
    a.scale = *common;
    a.to = integer_of(std::floor(a.scale * static_cast<double>(a.from) + 0.5));
  }
}

Plan resize_plan(const Lowering &n, const Operand &x) {
  const Attributes &a = n.attributes();
  Plan plan;
  plan.rule.mode = a.word("mode", "nearest");
  plan.rule.coordinates = a.word("coordinate_transformation_mode", "half_pixel");
  plan.rule.rounding = a.word("nearest_mode", "round_prefer_floor");
  plan.rule.cubic = a.real("cubic_coeff_a", -0.75);
  plan.rule.antialias = a.integer("antialias", 0) != 0;
  plan.rule.exclude_outside = a.integer("exclude_outside", 0) != 0;
  plan.extrapolation = a.real("extrapolation_value", 0);
  plan.axes = unchanged(x.shape);

  const std::vector<int> which = axes_in(a.integers("axes", numbers_below(x.shape.size())), x.rank());
  const auto given = [&](size_t i) { return n.has(i) && elements(n.input(i).shape) > 0; };
  if (given(2) == given(3) && !which.empty()) fail("expected either scales or sizes");
  if (plan.rule.coordinates == "tf_crop_and_resize") {
    if (!given(1)) fail("tf_crop_and_resize needs a roi");
    const auto roi = expect_count(n.known(1, "the region of interest").reals(), 2 * which.size(), "numbers in roi");
    for (size_t i = 0; i < which.size(); ++i) {
      plan.axes[static_cast<size_t>(which[i])].begin = roi[i];
      plan.axes[static_cast<size_t>(which[i])].end = roi[i + which.size()];
    }
  }
  if (given(3)) {
    set_sizes(n, plan, which, n.known_integers(3, "the sizes"));
  } else if (given(2)) {
    const auto scales = expect_count(n.known(2, "the scales").reals(), which.size(), "scales");
    for (size_t i = 0; i < which.size(); ++i) set_scale(plan.axes[static_cast<size_t>(which[i])], scales[i]);
  }
  return plan;
}

// Upsample, and Resize as it was in opset 10: a scale for each dimension, and corners that stay where they are.
Plan upsample_plan(const Lowering &n, const Operand &x) {
  const bool attribute = n.opset() < 9;
  const auto scales = expect_count(attribute ? n.attributes().reals("scales") : n.known(1, "the scales").reals(),
                                   x.shape.size(), "scales");
  Plan plan;
  plan.rule.mode = n.attributes().word("mode", "nearest");
  if (plan.rule.mode == "bilinear") plan.rule.mode = "linear";
  plan.rule.coordinates = "asymmetric";
  plan.rule.rounding = "by_scale";
  plan.axes = unchanged(x.shape);
  for (size_t d = 0; d < plan.axes.size(); ++d) set_scale(plan.axes[d], scales[d]);
  return plan;
}

// ---- What becomes of it.

Shape resized_shape(const Plan &plan) {
  Shape shape;
  for (const ResizeAxis &a : plan.axes) shape.push_back(a.to);
  return shape;
}

// o / k and o * k, where a table is no more than that: a compiler sees through them.
int64_t integer_factor(const ResizeTable &t, int64_t a, int64_t b, bool multiply) {
  if (a == 0 || b % a != 0) return 0;
  const int64_t k = b / a;
  for (size_t o = 0; o < t.elements.size(); ++o) {
    const auto place = static_cast<int64_t>(o);
    if (t.elements[o] != (multiply ? place * k : place / k)) return 0;
  }
  return k;
}

// Whether the places of a table are outside; undefined where none is.
Value outside_of(Lowering &n, const ResizeTable &t) {
  if (t.outside.empty()) return {};
  const auto count = static_cast<int64_t>(t.outside.size());
  return n.constant(Tensor::of<uint8_t>({count}, std::vector<uint8_t>(t.outside.begin(), t.outside.end())));
}

// Of any type: elements are taken, not computed with.
Operand nearest(Lowering &n, const Operand &x, const Plan &plan) {
  Value y = x;
  for (size_t d = 0; d < plan.axes.size(); ++d) {
    const ResizeAxis &a = plan.axes[d];
    if (is_identity(a)) continue;
    const ResizeTable table = resize_table(plan.rule, a);
    const int64_t larger = integer_factor(table, a.from, a.to, false),
                  smaller = integer_factor(table, a.to, a.from, true);
    const Value places = larger || smaller ? Value() : Value(n.constant(Tensor::of<int64_t>({a.to}, table.elements)));
    const Value outside = outside_of(n, table);
    std::vector<Expression> extents = y.extents();
    extents[d] = a.to;
    y = inlined(extents, [&](Axes at) {
      const Expression o = at[d];
      at[d] = larger ? quotient(o, larger) : smaller ? o * smaller : places(o);
      const Expression e = y.at(at);
      return outside.defined() ? select(outside(o) > 0, constant(x.type, plan.extrapolation), e) : e;
    });
  }
  return n.computed(y);
}

constexpr int64_t most_extent = int64_t{1} << 22;
constexpr int64_t most_unrolled = 4;  // taps: those of a cubic filter that is not stretched

Operand filtered(Lowering &n, const Operand &x, int axis, const Plan &plan) {
  const auto d = static_cast<size_t>(axis);
  const ResizeTable table = resize_table(plan.rule, plan.axes[d]);
  Shape shape = x.shape;
  shape[d] = plan.axes[d].to;
  const Shape rows = {plan.axes[d].to, table.taps};
  const Value from = x, places = n.constant(Tensor::of<int64_t>(rows, table.elements)),
              weights = n.casted(n.constant(Tensor::of<double>(rows, table.weights)), x.type),
              outside = outside_of(n, table);
  return n.computed(compute("filtered", extents(shape), [&](const Axes &at) {
    const auto term = [&](const Expression &tap) {
      Axes place = at;
      place[d] = places(at[d], tap);
      return from.at(place) * weights(at[d], tap);
    };
    Expression all = term(0);
    if (table.taps <= most_unrolled)
      for (int64_t t = 1; t < table.taps; ++t) all = all + term(t);
    else
      all = sum({Expression(table.taps)}, [&](const Axes &k) { return term(k[0]); });
    return outside.defined() ? select(outside(at[d]) > 0, literal(all, plan.extrapolation), all) : all;
  }));
}

Operand resized(Lowering &n, const Operand &x, const Plan &plan) {
  expect_room(x.type, resized_shape(plan));
  for (const ResizeAxis &a : plan.axes)
    if (!is_identity(a) && std::max(a.from, a.to) > most_extent)
      unsupported("an extent of ", std::max(a.from, a.to), "; there are tables for ", most_extent, " at most");
  if (elements(resized_shape(plan)) == 0) return n.constant(Tensor::empty(resized_shape(plan), x.type));
  if (plan.rule.mode == "nearest") return nearest(n, x, plan);
  // Integers of more than 16 bits do not fit f32.
  const bool wide = x.type == Type::f64 || (!is_real(x.type) && facts(x.type).bits > 16);
  Operand y = n.casted(x, wide ? Type::f64 : Type::f32);
  for (int d = 0; d < x.rank(); ++d)
    if (!is_identity(plan.axes[static_cast<size_t>(d)])) y = filtered(n, y, d, plan);
  if (y.type == x.type) return y;
  return n.computed(inlined(extents(y.shape), [&](const Axes &at) { return rounded_within(x.type, Value(y).at(at)); }));
}

void upsample(Lowering &n) { n.give(0, resized(n, n.input(0), upsample_plan(n, n.input(0)))); }

void resize(Lowering &n) {
  if (n.opset() < 11) return upsample(n);
  n.give(0, resized(n, n.input(0), resize_plan(n, n.input(0))));
}

std::vector<HostValue> resize_texts(const HostCall &c) {
  if (c.attributes().word("mode", "nearest") != "nearest" ||
      c.attributes().word("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    unsupported("texts are resized by taking the nearest one only");
  return move_texts(c);
}

}  // namespace

const OperatorList resize_operators = {{"Resize", resize, resize_texts}, {"Upsample", upsample, resize_texts}};

}  // namespace saltern
