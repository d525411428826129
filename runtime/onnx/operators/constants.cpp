// Operators that make tensors out of shapes and numbers: constants, ranges, diagonals, one-hot codes.

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

// As a tensor has it: reals are f32.
struct ConstantValue {
  Tensor operator()(const Tensor &t) const { return t; }
  Tensor operator()(int64_t v) const { return Tensor::of<int64_t>({}, {v}); }
  Tensor operator()(double v) const { return Tensor::full({}, v); }
  Tensor operator()(const std::string &v) const { return Tensor::of<std::string>({}, {v}); }
  Tensor operator()(const std::vector<double> &v) const { return list_of(std::vector<float>(v.begin(), v.end())); }
  template <typename T>
  Tensor operator()(const std::vector<T> &v) const {
    return list_of(v);
  }
  template <typename T>
  Tensor operator()(const T &) const {
    fail("its value is no tensor, number or text");
  }
};

void constant(Lowering &n) {
  if (n.attributes().empty())
    fail("has no value; expected one of the attributes value, sparse_value, value_int and so on");
  n.give(0, n.constant(std::visit(ConstantValue(), n.attributes().begin()->second)));
}

void constant_of_shape(Lowering &n) {
  const Tensor value = n.attributes().has("value") ? n.attributes().tensor("value") : Tensor::zeros({1});
  if (value.size() != 1) fail("its value has the shape ", to_string(value.shape()), "; expected one element");
  n.give(0,
         n.broadcasted(n.constant(value.in_layout(Layout::row_major).reshaped({})), n.known_integers(0, "the shape")));
}

void shape(Lowering &n) {
  const Shape &all = n.input(0).shape;
  const auto [start, end] = dimensions_of(n.attributes(), all.size());
  n.give(0, n.constant(list_of(Shape(all.begin() + start, all.begin() + end))));
}

void size(Lowering &n) { n.give(0, n.constant(Tensor::of<int64_t>({}, {elements(n.input(0).shape)}))); }

void range(Lowering &n) {
  const Type type = n.input(0).type;
  std::vector<Operand> ends;
  for (size_t i = 0; i < 3; ++i) {
    expect_same_type(n.input(0), n.input(i));
    ends.push_back(n.reshaped(n.input(i), {}));
  }
  const Tensor &start = n.known(0, "the start"), &limit = n.known(1, "the limit"), &delta = n.known(2, "the step");
  int64_t count = 0;
  if (is_real(type)) {
    const double steps = std::ceil((limit.item() - start.item()) / delta.item());
    if (!(std::fabs(steps) < 1e15)) fail("from ", start.item(), " to ", limit.item(), " by ", delta.item());
    count = static_cast<int64_t>(steps);
  } else {
    const int64_t by = delta.integers()[0], from = start.integers()[0], to = limit.integers()[0];
    int64_t way = 0;
    if (by == 0) fail("its step is 0");
    if (__builtin_sub_overflow(to, from, &way) || way == std::numeric_limits<int64_t>::min())
      fail("from ", from, " to ", to, " by ", by);
    count = way / by + (way % by != 0 && (way < 0) == (by < 0) ? 1 : 0);
  }
  // Numbers of 16 bits do not count far: the sum is rounded, not its parts.
  const Type wide = facts(type).bits == 16 && is_real(type) ? Type::f32 : type;
  const Value steps =
      formula::inlined({std::max<int64_t>(count, 0)}, [&](const Axes &at) { return cast(wide, at[0]); });
  n.give(0, formula::cast(type, formula::cast(wide, ends[0]) + steps * formula::cast(wide, ends[2])));
}

void eye_like(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.rank() != 2) fail("its input has the shape ", to_string(x.shape), "; expected a matrix");
  const Type type = type_attribute(n.attributes(), "dtype", x.type);
  const int64_t k = n.attributes().integer("k", 0);
  n.give(0, formula::inlined(extents(x.shape), [&](const Axes &at) { return cast(type, at[1] == at[0] + k); }));
}

void one_hot(Lowering &n) {
  const Operand &indices = n.input(0), &values = n.input(2);
  const int64_t depth = n.known_integers(1, "the depth").at(0);
  if (depth < 0) fail("its depth is ", depth);
  if (elements(values.shape) != 2) fail("its values are ", to_string(values.shape), "; expected [off, on]");
  const int axis = n.axis(n.attributes().integer("axis", -1), indices.rank() + 1);
  Shape shape = indices.shape;
  shape.insert(shape.begin() + axis, depth);
  const Value which = indices, either = values;
  n.give(0, formula::inlined(extents(shape), [&](const Axes &at) {
           Axes others = at;
           others.erase(others.begin() + axis);
           Expression hot = cast(Type::i64, which.at(others));
           if (n.opset() >= 11) hot = select(hot < 0, hot + depth, hot);
           return either(select(hot == at[static_cast<size_t>(axis)], index(1), index(0)));
         }));
}

}  // namespace

const OperatorList constant_operators = {
    {"Constant", constant},
    {"ConstantOfShape", constant_of_shape},
    {"EyeLike", eye_like},
    {"OneHot", one_hot, move_texts},
    {"Range", range},
    {"Shape", shape, look_at_texts},
    {"Size", size, look_at_texts},
};

}  // namespace saltern
