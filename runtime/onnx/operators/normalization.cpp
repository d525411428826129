// Normalizations: elements less their mean, over their deviation, then scaled and shifted.
//   BatchNormalization by channel over the batch (or with statistics that are given), InstanceNormalization by image
//   and channel, GroupNormalization by image and group of channels, LayerNormalization and RMSNormalization over the
//   last dimensions, MeanVarianceNormalization over any; LpNormalization by a norm, LRN by neighbouring channels.

#include <algorithm>

#include "algorithms/normalisation.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> axes;
  for (int d = first; d < rank; ++d) axes.push_back(d);
  return axes;
}

double epsilon(const Lowering &n) { return n.attributes().real("epsilon", 1e-5); }

// What was normalised is rounded to a type, in which it is scaled and shifted.
Value affine(const Value &y, const Value &scale, const Value &shift, Type type) {
  const Type second = working_type(type);
  const Value scaled = cast(second, cast(type, y)) * cast(second, scale);
  return cast(type, shift.defined() ? scaled + cast(second, shift) : scaled);
}

// ---- By batch.

void batch_normalization(Lowering &n) {
  const Operand &given = n.input(0);
  if (given.rank() < 1) fail("x is a scalar; expected (N, C, D1, ..., Dn)");
  const bool spatial = n.opset() >= 9 || n.attributes().integer("spatial", 1) != 0;
  // Without channels there is one; where each feature has statistics of its own, each is a channel.
  const Operand x = given.rank() == 1 ? n.reshaped(given, {given.shape[0], 1})
                    : spatial
                        ? given
                        : n.reshaped(given, {given.shape[0], elements({given.shape.begin() + 1, given.shape.end()})});
  const int64_t channels = x.shape[1];
  for (size_t i = 1; i < 5; ++i)
    if (elements(n.input(i).shape) != channels)
      fail("input ", i, " is ", to_string(n.input(i).shape), " for x ", to_string(given.shape));
  const bool training =
      n.opset() >= 14 ? n.attributes().integer("training_mode", 0) != 0 : n.wants(1) || n.wants(2) || n.wants(3);
  // The library's kernel takes f32, and constant statistics where a model is compiled.
  bool all_f32 = true, any_f64 = false;
  for (size_t i = 0; i < 5; ++i) {
    all_f32 &= n.input(i).type == Type::f32 && (i == 0 || n.input(i).value.defined() || trains(n));
    any_f64 |= n.input(i).type == Type::f64;
  }
  if (all_f32 && !training && elements(x.shape) > 0) {
    std::vector<Operand> all = {x};
    for (size_t i : {3, 4, 1, 2}) all.push_back(n.reshaped(n.input(i), {channels}));
    Attributes attributes = {{"epsilon", epsilon(n)}};
    if (trains(n)) attributes.set("momentum", n.attributes().real("momentum", 0.9));
    n.give(0, n.reshaped(n.operation("batch_norm", all, attributes, x.shape), given.shape));
    return;
  }
  const Type type = any_f64 ? Type::f64 : Type::f32;
  const Value wide = cast(type, x);
  const auto channel = [&](size_t i) { return cast(type, n.reshaped(n.input(i), {channels})); };
  const algorithms::Statistics kept = {channel(3), channel(4)}, of = training ? algorithms::statistics(wide) : kept;
  Values all = {cast(x.type, algorithms::batch_norm(wide, of, channel(1), channel(2), epsilon(n)))};
  if (training) {  // the statistics that run along, and before opset 14 also those of this batch
    const double momentum = n.attributes().real("momentum", 0.9);
    all.push_back(cast(n.input(3).type, kept.mean * momentum + of.mean * (1 - momentum)));
    all.push_back(cast(n.input(4).type, kept.variance * momentum + of.variance * (1 - momentum)));
    all.push_back(cast(n.input(3).type, of.mean));
    all.push_back(cast(n.input(4).type, of.variance));
  }
  while (all.size() > 1 && !n.wants(all.size() - 1)) all.pop_back();
  const std::vector<Operand> made = n.computed(all);
  n.give(0, n.reshaped(made[0], given.shape));
  for (size_t i = 1; i < made.size(); ++i) n.give(i, n.reshaped(made[i], n.input(3).shape));
}

// ---- By image.

// The type in which the first stage is computed.
Type stash_type(const Lowering &n) {
  const Type type = type_attribute(n.attributes(), "stash_type", Type::f32);
  if (!is_real(type) || facts(type).is_small_real()) fail("stash_type is ", facts(type).name, "; expected a real type");
  return type;
}

void expect_image(const Operand &x) {
  if (x.rank() < 2) fail("x is ", to_string(x.shape), "; expected (N, C, D1, ..., Dn)");
}

void instance_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  expect_image(x);
  expect_shape(n.input(1), {x.shape[1]}, "scale");
  expect_shape(n.input(2), {x.shape[1]}, "B");
  const Value wide = cast(working_type(x.type), x);
  n.give(0, affine(algorithms::normalised(wide, axes_from(2, x.rank()), epsilon(n)),
                   algorithms::by_channel(n.input(1), wide), algorithms::by_channel(n.input(2), wide), x.type));
}

// Before opset 21, scale and bias are those of groups.
void group_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  expect_image(x);
  const int64_t channels = x.shape[1], groups = n.attributes().integer("num_groups");
  if (groups < 1 || channels % groups != 0) fail(channels, " channels do not divide into ", groups, " groups");
  const bool each_channel = n.opset() >= 21;
  const Shape split = {x.shape[0], groups, channels / groups, elements({x.shape.begin() + 2, x.shape.end()})};
  const Operand y = n.reshaped(x, split);
  const auto parameter = [&](size_t i, const char *what) {
    expect_shape(n.input(i), {each_channel ? channels : groups}, what);
    return n.reshaped(n.input(i), {1, groups, each_channel ? channels / groups : 1, 1});
  };
  const Type type = each_channel && stash_type(n) == Type::f64 ? Type::f64 : working_type(x.type);
  const Value normal = algorithms::normalised(cast(type, y), {2, 3}, epsilon(n));
  n.give(0, n.reshaped(n.computed(affine(normal, parameter(1, "scale"), parameter(2, "bias"), x.type)), x.shape));
}

// ---- Over the last dimensions.

// Whether the library's kernels take it: all f32, rows of some elements, and parameters for each of these.
bool has_row_kernel(const Operand &x, int axis, const std::vector<Operand> &parameters, Type type) {
  const Shape row(x.shape.begin() + axis, x.shape.end());
  return x.type == Type::f32 && type == Type::f32 && elements(x.shape) > 0 &&
         std::all_of(parameters.begin(), parameters.end(),
                     [&](const Operand &p) { return p.type == Type::f32 && p.shape == row; });
}

Attributes row_norm_attributes(const Lowering &n, int axis) {
  return {{"axis", int64_t{axis}}, {"epsilon", epsilon(n)}};
}

void layer_normalization(Lowering &n) {
  const Operand &x = n.input(0), &scale = n.input(1);
  const Operand &shift = n.optional(2);
  const int axis = n.axis(n.attributes().integer("axis", -1), x.rank());
  const Type stash = stash_type(n), type = working_type(stash);
  if (!n.wants(1) && !n.wants(2) &&
      has_row_kernel(x, axis, n.has(2) ? std::vector{scale, shift} : std::vector{scale}, type)) {
    const Operand none = n.has(2) ? shift : n.constant(Tensor::zeros(scale.shape));
    return n.give(0, n.operation("layer_norm", {x, scale, none}, row_norm_attributes(n, axis), x.shape));
  }
  const algorithms::Moments m = algorithms::moments(cast(type, x), axes_from(axis, x.rank()), epsilon(n));
  n.give({affine(m.of(cast(type, x)), scale, shift, x.type), cast(stash, m.mean), cast(stash, m.factor)});
}

void rms_normalization(Lowering &n) {
  const Operand &x = n.input(0), &scale = n.input(1);
  const int axis = n.axis(n.attributes().integer("axis", -1), x.rank());
  const Type type = working_type(stash_type(n));
  if (has_row_kernel(x, axis, {scale}, type))
    return n.give(0, n.operation("rms_norm", {x, scale}, row_norm_attributes(n, axis), x.shape));
  const Value normal = algorithms::rms_normalised(cast(type, x), axes_from(axis, x.rank()), epsilon(n));
  n.give(0, affine(cast(x.type, normal), scale, {}, scale.type));
}

// ---- Others.

void mean_variance_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  const std::vector<int> axes = axes_in(n.attributes().integers("axes", {0, 2, 3}), x.rank());
  n.give(0, cast(x.type, algorithms::mean_variance_norm(cast(working_type(x.type), x), axes)));
}

void lp_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  const int axis = n.axis(n.attributes().integer("axis", -1), x.rank());
  const int64_t p = n.attributes().integer("p", 2);
  if (p != 1 && p != 2) fail("p is ", p, "; expected 1 or 2");
  n.give(0, cast(x.type, algorithms::lp_normalised(cast(working_type(x.type), x), axis, static_cast<int>(p))));
}

void local_response_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  expect_image(x);
  const int64_t size = n.attributes().integer("size");
  if (size < 1) fail("size is ", size, "; expected at least 1");
  const auto number = [&](const char *name, double otherwise) { return n.attributes().real(name, otherwise); };
  n.give(0, cast(x.type, algorithms::local_response_norm(cast(working_type(x.type), x), size, number("alpha", 1e-4),
                                                         number("beta", 0.75), number("bias", 1))));
}

}  // namespace

const OperatorList normalization_operators = {
    {"BatchNormalization", batch_normalization}, {"BatchNormalization", batch_normalization, nullptr, training_domain},
    {"GroupNormalization", group_normalization}, {"InstanceNormalization", instance_normalization},
    {"LRN", local_response_normalization},       {"LayerNormalization", layer_normalization},
    {"LpNormalization", lp_normalization},       {"MeanVarianceNormalization", mean_variance_normalization},
    {"RMSNormalization", rms_normalization},
};

}  // namespace saltern
