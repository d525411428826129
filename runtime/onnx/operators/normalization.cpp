// Normalizations: elements less their mean, over their deviation, then scaled and shifted.
//   BatchNormalization by channel over the batch (or with statistics that are given), InstanceNormalization by image
//   and channel, GroupNormalization by image and group of channels, LayerNormalization and RMSNormalization over the
//   last dimensions, MeanVarianceNormalization over any; LpNormalization by a norm, LRN by neighbouring channels.

#include <algorithm>
#include <cmath>

#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

using formula::Function;

namespace {

// ---- Means over some dimensions, which keep an extent of 1.

using Marked = std::vector<bool>;

Marked from(int rank, int first) {
  Marked marked(static_cast<size_t>(rank), false);
  for (int d = first; d < rank; ++d) marked[static_cast<size_t>(d)] = true;
  return marked;
}

Operand mean_of(Lowering &n, const std::vector<Operand> &operands, const Marked &marked, Type type,
                const Element &element) {
  Shape shape = operands[0].shape, steps;
  for (size_t d = 0; d < shape.size(); ++d)
    if (marked[d]) {
      steps.push_back(shape[d]);
      shape[d] = 1;
    }
  const auto count = static_cast<double>(elements(steps));
  return n.formula(type, shape, operands, [&](const Reads &r, const Axes &at) {
    const Expression sum = reduce(Function::sum, steps, [&](const std::vector<Expression> &s) {
      Axes here = at;
      size_t next = 0;
      for (size_t d = 0; d < here.size(); ++d)
        if (marked[d]) here[d] = s[next++];
      return element(r, here);
    });
    return sum / count;
  });
}

// The element of a mean that belongs to the one at these indices.
Expression of_mean(const Read &mean, Axes at) {
  for (size_t d = 0; d < at.size(); ++d)
    if (mean.shape()[d] == 1) at[d] = formula::constant_integer(Type::i64, 0);
  return mean(at);
}

struct Moments {
  Operand mean, variance;
};

Moments moments(Lowering &n, const Operand &x, const Marked &marked, Type type) {
  Moments m;
  m.mean = mean_of(n, {x}, marked, type, [&](const Reads &r, const Axes &at) { return cast(type, r[0](at)); });
  m.variance = mean_of(n, {x, m.mean}, marked, type, [&](const Reads &r, const Axes &at) {
    const Expression d = cast(type, r[0](at)) - of_mean(r[1], at);
    return d * d;
  });
  return m;
}

double epsilon(const Lowering &n) { return n.attributes().real("epsilon", 1e-5); }

// Along dimension 1, for a tensor of that rank.
Operand by_channel(Lowering &n, const Operand &p, int rank) {
  Shape shape(static_cast<size_t>(rank), 1);
  shape[1] = elements(p.shape);
  return n.reshaped(p, shape);
}

// scale * (x - mean) / sqrt(variance + epsilon) + shift, each of them broadcast to x. The first stage is computed in
// `type` and rounded to x's, in which the second is.
Operand normalized(Lowering &n, const Operand &x, const Moments &m, const Operand &scale, const Operand &shift,
                   Type type) {
  std::vector<Operand> all = {x, m.mean, m.variance, scale};
  if (shift.present()) all.push_back(shift);
  const Type second = working_type(x.type);
  return n.formula(x.type, x.shape, all, [&](const Reads &r, const Axes &) {
    const Expression deviation = sqrt(cast(type, r[2].here()) + epsilon(n));
    const Expression difference = cast(type, r[0].here()) - cast(type, r[1].here());
    // Where nothing is rounded between, the factor is one for all elements that share statistics.
    Expression y = type == x.type && type == second
                       ? difference * (r[3].here() / deviation)
                       : cast(second, cast(x.type, difference / deviation)) * cast(second, r[3].here());
    if (shift.present()) y = y + cast(second, r[4].here());
    return cast(x.type, y);
  });
}

// ---- By batch.

// What a node gives besides y: the statistics that run along, and before opset 14 also those of this batch.
void give_statistics(Lowering &n, const Moments &batch, const Shape &shape) {
  const double momentum = n.attributes().real("momentum", 0.9);
  const Operand now[] = {batch.mean, batch.variance};
  for (size_t i = 0; i < 2; ++i) {
    const Operand &kept = n.input(3 + i);
    const Operand flat = n.reshaped(now[i], shape);
    if (n.wants(1 + i))
      n.give(1 + i, n.formula(kept.type, shape, {n.reshaped(kept, shape), flat}, [&](const Reads &r, const Axes &) {
        return cast(kept.type, cast(flat.type, r[0].here()) * momentum + r[1].here() * (1 - momentum));
      }));
    if (n.wants(3 + i)) n.give(3 + i, n.casted(flat, kept.type));
  }
}

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
    all_f32 &= n.input(i).type == Type::f32 && (i == 0 || n.input(i).value.defined());
    any_f64 |= n.input(i).type == Type::f64;
  }
  if (all_f32 && !training && elements(x.shape) > 0) {
    std::vector<Operand> all = {x};
    for (size_t i : {3, 4, 1, 2}) all.push_back(n.reshaped(n.input(i), {channels}));
    n.give(0, n.reshaped(n.operation("batch_norm", all, {{"epsilon", epsilon(n)}}, x.shape), given.shape));
    return;
  }
  const Type type = any_f64 ? Type::f64 : Type::f32;
  const auto channel = [&](size_t i) { return by_channel(n, n.input(i), x.rank()); };
  Moments m = {channel(3), channel(4)};
  if (training) {
    Marked others(x.shape.size(), true);
    others[1] = false;
    m = moments(n, x, others, type);
    give_statistics(n, m, n.input(3).shape);
  }
  n.give(0, n.reshaped(normalized(n, x, m, channel(1), channel(2), type), given.shape));
}

// ---- By image.

// ONNX's numbers of the types in which the first stage may be computed.
Type stash_type(const Lowering &n) {
  const int64_t number = n.attributes().integer("stash_type", 1);
  for (const auto &[known, type] :
       {std::pair<int64_t, Type>{1, Type::f32}, {10, Type::f16}, {11, Type::f64}, {16, Type::bf16}})
    if (number == known) return type;
  fail("stash_type is ", number, "; expected the number of a real type");
}

void expect_channels(const Operand &p, int64_t count, const char *what) {
  if (p.shape != Shape{count}) fail(what, " is ", to_string(p.shape), "; expected [", count, "]");
}

void expect_image(const Operand &x) {
  if (x.rank() < 2) fail("x is ", to_string(x.shape), "; expected (N, C, D1, ..., Dn)");
}

void instance_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  expect_image(x);
  expect_channels(n.input(1), x.shape[1], "scale");
  expect_channels(n.input(2), x.shape[1], "B");
  const Type type = working_type(x.type);
  n.give(0, normalized(n, x, moments(n, x, from(x.rank(), 2), type), by_channel(n, n.input(1), x.rank()),
                       by_channel(n, n.input(2), x.rank()), type));
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
    expect_channels(n.input(i), each_channel ? channels : groups, what);
    return n.reshaped(n.input(i), {1, groups, each_channel ? channels / groups : 1, 1});
  };
  const Type type = each_channel && stash_type(n) == Type::f64 ? Type::f64 : working_type(x.type);
  n.give(0, n.reshaped(
                normalized(n, y, moments(n, y, from(4, 2), type), parameter(1, "scale"), parameter(2, "bias"), type),
                x.shape));
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
  const Operand shift = n.has(2) ? n.input(2) : Operand();
  const int axis = n.axis(n.attributes().integer("axis", -1), x.rank());
  const Marked last = from(x.rank(), axis);
  const Type stash = stash_type(n), type = working_type(stash);
  if (!n.wants(1) && !n.wants(2) &&
      has_row_kernel(x, axis, n.has(2) ? std::vector{scale, shift} : std::vector{scale}, type)) {
    const Operand none = n.has(2) ? shift : n.constant(Tensor::zeros(scale.shape));
    return n.give(0, n.operation("layer_norm", {x, scale, none}, row_norm_attributes(n, axis), x.shape));
  }
  const Moments m = moments(n, x, last, type);
  n.give(0, normalized(n, x, m, scale, shift, type));
  if (n.wants(1)) n.give(1, n.casted(m.mean, stash));
  if (n.wants(2))
    n.give(2, n.formula(stash, m.variance.shape, {m.variance}, [&](const Reads &r, const Axes &) {
      return cast(stash, 1.0 / sqrt(r[0].here() + epsilon(n)));
    }));
}

void rms_normalization(Lowering &n) {
  const Operand &x = n.input(0), &scale = n.input(1);
  const int axis = n.axis(n.attributes().integer("axis", -1), x.rank());
  const Marked last = from(x.rank(), axis);
  const Type type = working_type(stash_type(n));
  if (has_row_kernel(x, axis, {scale}, type))
    return n.give(0, n.operation("rms_norm", {x, scale}, row_norm_attributes(n, axis), x.shape));
  const Operand square = mean_of(n, {x}, last, type, [&](const Reads &r, const Axes &at) {
    const Expression v = cast(type, r[0](at));
    return v * v;
  });
  const Type second = working_type(scale.type);
  n.give(0, n.formula(scale.type, x.shape, {x, square, scale}, [&](const Reads &r, const Axes &) {
    const Expression first = cast(x.type, cast(type, r[0].here()) / sqrt(r[1].here() + epsilon(n)));
    return cast(scale.type, cast(second, first) * cast(second, r[2].here()));
  }));
}

// ---- Others.

void mean_variance_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  Marked marked(x.shape.size(), false);
  for (int64_t a : n.attributes().integers("axes", {0, 2, 3})) marked[static_cast<size_t>(n.axis(a, x.rank()))] = true;
  const Type type = working_type(x.type);
  const Moments m = moments(n, x, marked, type);
  n.give(0, n.formula(x.type, x.shape, {x, m.mean, m.variance}, [&](const Reads &r, const Axes &) {
    return cast(x.type, (cast(type, r[0].here()) - r[1].here()) / (sqrt(r[2].here()) + 1e-9));
  }));
}

// x / |x| along an axis, and 0 where the norm is 0.
void lp_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  const int axis = n.axis(n.attributes().integer("axis", -1), x.rank());
  const int64_t p = n.attributes().integer("p", 2);
  if (p != 1 && p != 2) fail("p is ", p, "; expected 1 or 2");
  const Type type = working_type(x.type);
  Shape shape = x.shape;
  shape[static_cast<size_t>(axis)] = 1;
  const Operand norm = n.formula(type, shape, {x}, [&](const Reads &r, const Axes &at) {
    const Expression sum =
        reduce(Function::sum, {x.shape[static_cast<size_t>(axis)]}, [&](const std::vector<Expression> &s) {
          Axes here = at;
          here[static_cast<size_t>(axis)] = s[0];
          const Expression v = cast(type, r[0](here));
          return p == 1 ? abs(v) : v * v;
        });
    return p == 1 ? sum : sqrt(sum);
  });
  n.give(0, n.formula(x.type, x.shape, {x, norm}, [&](const Reads &r, const Axes &) {
    const Expression v = r[1].here();
    return cast(x.type, select(v == 0, literal(v, 0), cast(type, r[0].here()) / v));
  }));
}

// x / (bias + alpha / size * (sum of squares of `size` channels around))^beta
void local_response_normalization(Lowering &n) {
  const Operand &x = n.input(0);
  expect_image(x);
  const int64_t size = n.attributes().integer("size"), channels = x.shape[1];
  if (size < 1) fail("size is ", size, "; expected at least 1");
  const double alpha = n.attributes().real("alpha", 1e-4) / static_cast<double>(size),
               beta = n.attributes().real("beta", 0.75), bias = n.attributes().real("bias", 1);
  const Type type = working_type(x.type);
  n.give(0, n.formula(x.type, x.shape, {x}, [&](const Reads &r, const Axes &at) {
    const Expression sum = reduce(Function::sum, {size}, [&](const std::vector<Expression> &s) {
      Axes here = at;
      here[1] = at[1] + s[0] - (size - 1) / 2;
      const Expression v = cast(type, r[0](here));
      return select(here[1] >= 0 && here[1] < channels, v * v, literal(v, 0));
    });
    return cast(x.type, cast(type, r[0].here()) / power(sum * alpha + bias, beta));
  }));
}

}  // namespace

const OperatorList &normalization_operators() {
  static const OperatorList list = {
      {"BatchNormalization", batch_normalization},
      {"GroupNormalization", group_normalization},
      {"InstanceNormalization", instance_normalization},
      {"LRN", local_response_normalization},
      {"LayerNormalization", layer_normalization},
      {"LpNormalization", lp_normalization},
      {"MeanVarianceNormalization", mean_variance_normalization},
      {"RMSNormalization", rms_normalization},
  };
  return list;
}

}  // namespace saltern
