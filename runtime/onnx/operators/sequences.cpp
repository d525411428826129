// Sequences and optionals. Which values they hold is known before a model runs; so each operator is written once, for
// values of the host and for operands of a graph that is lowered, of which nothing is left to do at run time but moving
// elements.

#include <algorithm>

#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

// ---- What operators ask of values: of the host, and of a graph under construction.

// A node as a Lowering has it, on the host.
struct OnHost {
  const HostCall &call;

  const Attributes &attributes() const { return call.attributes(); }
  size_t input_count() const { return call.inputs.size(); }
  bool has(size_t i) const { return call.has(i); }
  const HostValue &any_input(size_t i) const {
    if (!has(i)) fail("input ", i, " is missing");
    return call.inputs[i];
  }
  const HostValue &input(size_t i) const { return call.tensor(i), call.inputs[i]; }
  const Tensor &known(size_t i, const char *) const { return call.tensor(i); }
  HostValue constant(const Tensor &t) const { return t; }
};

std::vector<Tensor> tensors_of(const std::vector<HostValue> &parts) {
  std::vector<Tensor> all;
  for (const HostValue &v : parts) all.push_back(v.tensor());
  return all;
}

HostValue sliced(OnHost &, const HostValue &x, int axis, int64_t begin, int64_t size) {
  return x.tensor().slice(axis, begin, size).clone();
}
HostValue taken(OnHost &, const HostValue &x, int axis, int64_t i) { return taken(x.tensor(), axis, i); }
HostValue concatenated(OnHost &, const std::vector<HostValue> &parts, int axis) {
  return joined(tensors_of(parts), axis);
}
HostValue stacked(OnHost &, const std::vector<HostValue> &parts, int64_t axis) {
  return stacked(tensors_of(parts), axis);
}
HostValue sequence_of(std::vector<HostValue> elements, Type type) { return HostValue(std::move(elements), type); }

Type type_of(const HostValue &v) { return v.element_type(); }
Type type_of(const Operand &v) { return v.type; }
const Shape &shape_of(const HostValue &v) { return v.tensor().shape(); }
const Shape &shape_of(const Operand &v) { return v.tensor().shape; }
const std::vector<HostValue> &elements_of(const HostValue &v) { return v.sequence(); }
const std::vector<Operand> &elements_of(const Operand &v) { return v.elements(); }

void expect_length(OnHost &, int64_t) {}
void expect_length(Lowering &, int64_t given) {
  constexpr int64_t most = 4096;
  if (given > most) unsupported("makes a sequence of ", given, " elements; in a compiled model, ", most, " at most");
}

template <typename Call>
using Value = std::conditional_t<std::is_same_v<Call, OnHost>, HostValue, Operand>;
template <typename Call>
using Values = std::vector<Value<Call>>;

// A place among `count`, given with negative numbers counting from the end.
int64_t place_of(const Tensor &given, size_t count, const char *what) {
  const int64_t i = given.integers().at(0), n = static_cast<int64_t>(count);
  if (i < -n || i >= n) fail(what, " ", i, " of a sequence of ", n);
  return i < 0 ? i + n : i;
}

template <typename Call>
Value<Call> construct(Call &c) {
  Values<Call> all;
  for (size_t i = 0; i < c.input_count(); ++i) {
    all.push_back(c.input(i));
    if (type_of(all[i]) != type_of(all[0])) fail("elements of different types");
  }
  if (all.empty()) fail("has no input");
  const Type type = type_of(all[0]);
  return sequence_of(std::move(all), type);
}

template <typename Call>
Value<Call> empty(Call &c) {
  return sequence_of(Values<Call>(), type_attribute(c.attributes(), "dtype", Type::f32));
}

template <typename Call>
Value<Call> length(Call &c) {
  return c.constant(Tensor::of<int64_t>({}, {static_cast<int64_t>(elements_of(c.any_input(0)).size())}));
}

template <typename Call>
Value<Call> at(Call &c) {
  const Values<Call> &s = elements_of(c.any_input(0));
  return s[static_cast<size_t>(place_of(c.known(1, "the place"), s.size(), "element"))];
}

template <typename Call>
Value<Call> insert(Call &c) {
  Values<Call> s = elements_of(c.any_input(0));
  // One place more than there are elements: behind the last.
  int64_t at = static_cast<int64_t>(s.size());
  if (c.has(2)) {
    const Tensor &given = c.known(2, "the place");
    if (given.integers().at(0) != at) at = place_of(given, s.size(), "place");
  }
  s.insert(s.begin() + at, c.input(1));
  return sequence_of(std::move(s), type_of(c.input(1)));
}

template <typename Call>
Value<Call> erase(Call &c) {
  Values<Call> s = elements_of(c.any_input(0));
  if (s.empty()) fail("the sequence is empty");
  const auto last = static_cast<int64_t>(s.size()) - 1;
  s.erase(s.begin() + (c.has(1) ? place_of(c.known(1, "the place"), s.size(), "element") : last));
  return sequence_of(std::move(s), type_of(c.any_input(0)));
}

template <typename Call>
Value<Call> concat(Call &c) {
  const Values<Call> &parts = elements_of(c.any_input(0));
  const int64_t axis = c.attributes().integer("axis");
  if (c.attributes().integer("new_axis", 0) != 0) return stacked(c, parts, axis);
  if (parts.empty()) fail("the sequence is empty");
  return concatenated(c, parts, axis_within(axis, static_cast<int>(shape_of(parts[0]).size())));
}

template <typename Call>
Value<Call> split(Call &c) {
  const Value<Call> &x = c.input(0);
  const int axis = axis_within(c.attributes().integer("axis", 0), static_cast<int>(shape_of(x).size()));
  const int64_t extent = shape_of(x)[static_cast<size_t>(axis)];
  Values<Call> parts;
  if (!c.has(1) && c.attributes().integer("keepdims", 1) == 0) {
    expect_length(c, extent);
    for (int64_t i = 0; i < extent; ++i) parts.push_back(taken(c, x, axis, i));
    return sequence_of(std::move(parts), type_of(x));
  }
  std::vector<int64_t> sizes = {1};
  if (c.has(1)) sizes = c.known(1, "the split").integers();
  if (!c.has(1) || c.known(1, "the split").rank() == 0) {
    const int64_t each = sizes.at(0);
    if (each < 1) fail("splits into parts of ", each);
    expect_length(c, extent / each);
    sizes.clear();
    for (int64_t left = extent; left > 0; left -= sizes.back()) sizes.push_back(std::min(each, left));
  }
  int64_t begin = 0;
  for (int64_t s : sizes) {
    if (s < 0 || s > extent - begin) break;
    parts.push_back(sliced(c, x, axis, begin, s));
    begin += s;
  }
  if (parts.size() != sizes.size() || begin != extent) fail("splits ", extent, " elements into ", to_string(sizes));
  return sequence_of(std::move(parts), type_of(x));
}

// ---- An optional is its value, or nothing.

template <typename Call>
Value<Call> same(Call &c) {
  return c.has(0) ? c.any_input(0) : Value<Call>();
}

template <typename Call>
Value<Call> has_element(Call &c) {
  return c.constant(Tensor::of<bool>({}, {c.has(0)}));
}

template <typename Call>
Value<Call> get_element(Call &c) {
  if (!c.has(0)) fail("the optional is empty");
  return c.any_input(0);
}

template <HostValue (*host)(OnHost &), Operand (*graph)(Lowering &)>
Operator row(const char *name) {
  const auto on_host = [](const HostCall &c) {
    OnHost call = {c};
    return std::vector<HostValue>{host(call)};
  };
  return {name, [](Lowering &n) { n.give(0, graph(n)); }, on_host, "", true};
}

}  // namespace

const OperatorList sequence_operators = {
    row<concat, concat>("ConcatFromSequence"),
    row<same, same>("Identity"),
    row<same, same>("Optional"),
    row<get_element, get_element>("OptionalGetElement"),
    row<has_element, has_element>("OptionalHasElement"),
    row<at, at>("SequenceAt"),
    row<construct, construct>("SequenceConstruct"),
    row<empty, empty>("SequenceEmpty"),
    row<erase, erase>("SequenceErase"),
    row<insert, insert>("SequenceInsert"),
    row<length, length>("SequenceLength"),
    row<split, split>("SplitToSequence"),
};

}  // namespace saltern
