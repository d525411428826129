// Sequences and optionals: values of the host that are no tensors.

#include <algorithm>

#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

using Values = std::vector<HostValue>;

// A place among `count`, given with negative numbers counting from the end.
int64_t place_of(const Tensor &given, size_t count, const char *what) {
  const int64_t i = given.integers().at(0), n = static_cast<int64_t>(count);
  if (i < -n || i >= n) fail(what, " ", i, " of a sequence of ", n);
  return i < 0 ? i + n : i;
}

Values construct(const HostCall &c) {
  HostValue::Sequence all;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    all.emplace_back(c.tensor(i));
    if (all[i].tensor().type() != all[0].tensor().type()) fail("elements of different types");
  }
  if (all.empty()) fail("has no input");
  const Type type = all[0].tensor().type();
  return {HostValue(std::move(all), type)};
}

Values empty(const HostCall &c) {
  return {HostValue(HostValue::Sequence{}, type_attribute(c.attributes(), "dtype", Type::f32))};
}

Values length(const HostCall &c) { return {Tensor::of<int64_t>({}, {static_cast<int64_t>(c.sequence(0).size())})}; }

Values at(const HostCall &c) {
  const HostValue::Sequence &s = c.sequence(0);
  return {s[static_cast<size_t>(place_of(c.tensor(1), s.size(), "element"))]};
}

Values insert(const HostCall &c) {
  HostValue::Sequence s = c.sequence(0);
  // One place more than there are elements: behind the last.
  int64_t at = static_cast<int64_t>(s.size());
  if (c.has(2) && c.tensor(2).integers().at(0) != at) at = place_of(c.tensor(2), s.size(), "place");
  s.insert(s.begin() + at, c.inputs.at(1));
  return {HostValue(std::move(s), c.tensor(1).type())};
}

Values erase(const HostCall &c) {
  HostValue::Sequence s = c.sequence(0);
  if (s.empty()) fail("the sequence is empty");
  s.erase(s.begin() + (c.has(1) ? place_of(c.tensor(1), s.size(), "element") : static_cast<int64_t>(s.size()) - 1));
  return {HostValue(std::move(s), c.inputs[0].element_type())};
}

Values concat(const HostCall &c) {
  std::vector<Tensor> parts;
  for (const HostValue &v : c.sequence(0)) parts.push_back(v.tensor());
  const int64_t axis = c.attributes().integer("axis");
  if (c.attributes().integer("new_axis", 0) != 0) return {stacked(parts, axis)};
  if (parts.empty()) fail("the sequence is empty");
  return {joined(parts, axis_within(axis, parts[0].rank()))};
}

Values split(const HostCall &c) {
  const Tensor &x = c.tensor(0);
  const int axis = axis_within(c.attributes().integer("axis", 0), x.rank());
  const int64_t extent = x.extent(axis);
  HostValue::Sequence parts;
  if (!c.has(1) && c.attributes().integer("keepdims", 1) == 0) {
    for (int64_t i = 0; i < extent; ++i) parts.emplace_back(taken(x, axis, i));
    return {HostValue(std::move(parts), x.type())};
  }
  std::vector<int64_t> sizes;
  if (c.has(1) && c.tensor(1).rank() > 0) {
    sizes = c.tensor(1).integers();
  } else {
    const int64_t each = c.has(1) ? c.tensor(1).integers().at(0) : 1;
    if (each < 1) fail("splits into parts of ", each);
    for (int64_t left = extent; left > 0; left -= sizes.back()) sizes.push_back(std::min(each, left));
  }
  int64_t begin = 0;
  for (int64_t s : sizes) {
    if (s < 0 || s > extent - begin) break;
    parts.emplace_back(x.slice(axis, begin, s).clone());
    begin += s;
  }
  if (parts.size() != sizes.size() || begin != extent) fail("splits ", extent, " elements into ", to_string(sizes));
  return {HostValue(std::move(parts), x.type())};
}

// ---- An optional is its value, or nothing.

Values optional(const HostCall &c) { return {c.inputs.empty() ? HostValue() : c.inputs[0]}; }

Values has_element(const HostCall &c) { return {Tensor::of<bool>({}, {c.has(0)})}; }

Values get_element(const HostCall &c) {
  if (!c.has(0)) fail("the optional is empty");
  return {c.inputs[0]};
}

}  // namespace

const OperatorList &sequence_operators() {
  static const OperatorList list = {
      {"ConcatFromSequence", nullptr, concat},
      {"Optional", nullptr, optional},
      {"OptionalGetElement", nullptr, get_element},
      {"OptionalHasElement", nullptr, has_element},
      {"SequenceAt", nullptr, at},
      {"SequenceConstruct", nullptr, construct},
      {"SequenceEmpty", nullptr, empty},
      {"SequenceErase", nullptr, erase},
      {"SequenceInsert", nullptr, insert},
      {"SequenceLength", nullptr, length},
      {"SplitToSequence", nullptr, split},
  };
  return list;
}

}  // namespace saltern
