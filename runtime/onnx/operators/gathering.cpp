// Operators that read elements at places which other tensors name.

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

void gather(Lowering &n) {
  const Operand &x = n.input(0), &indices = n.input(1);
  const auto axis = static_cast<size_t>(n.axis(n.attributes().integer("axis", 0), x.rank()));
  expect_indices(indices, x.shape[axis]);
  Shape shape = x.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), indices.shape.begin(), indices.shape.end());
  // One index that is known is a place in the formula: what reads it can tell where that is.
  const bool known = indices.value.defined() && indices.value.size() == 1;
  const Value from = x, places = indices;
  n.give(0, formula::inlined(extents(shape), [&](Axes at) {
           const auto first = at.begin() + static_cast<std::ptrdiff_t>(axis), last = first + indices.rank();
           const Expression i = known ? index(indices.value.integers()[0]) : places.at(Axes(first, last));
           at.insert(at.erase(first, last), counted_from_end(i, x.shape[axis]));
           return from.at(at);
         }));
}

void gather_elements(Lowering &n) {
  const Operand &x = n.input(0), &indices = n.input(1);
  const auto axis = static_cast<size_t>(n.axis(n.attributes().integer("axis", 0), x.rank()));
  if (indices.rank() != x.rank()) fail("indices of rank ", indices.rank(), " into a tensor of rank ", x.rank());
  for (size_t d = 0; d < x.shape.size(); ++d)
    if (d != axis && indices.shape[d] > x.shape[d])
      fail("indices of ", to_string(indices.shape), " into ", to_string(x.shape), " along dimension ", axis);
  expect_indices(indices, x.shape[axis]);
  const Value from = x, places = indices;
  n.give(0, formula::inlined(places.extents(), [&](Axes at) {
           at[axis] = counted_from_end(places.at(at), x.shape[axis]);
           return from.at(at);
         }));
}

void gather_nd(Lowering &n) {
  const Operand &x = n.input(0), &indices = n.input(1);
  const int64_t batch = n.attributes().integer("batch_dims", 0);
  if (indices.rank() < 1) fail("its indices are one number; expected rows of them");
  const int64_t depth = indices.shape.back();
  if (batch < 0 || batch >= indices.rank() || batch + depth > x.rank())
    fail("indices of ", to_string(indices.shape), " into ", to_string(x.shape), " after ", batch, " batch dimensions");
  expect_index_rows(indices, Shape(x.shape.begin() + batch, x.shape.end()));
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  const auto named = static_cast<std::ptrdiff_t>(shape.size());
  shape.insert(shape.end(), x.shape.begin() + batch + depth, x.shape.end());
  const Value all = x, places = indices;
  n.give(0, formula::inlined(extents(shape), [&](const Axes &at) {
           Axes from(at.begin(), at.begin() + batch);
           for (int64_t k = 0; k < depth; ++k) {
             Axes row(at.begin(), at.begin() + named);
             row.push_back(index(k));
             from.push_back(counted_from_end(places.at(row), x.shape[static_cast<size_t>(batch + k)]));
           }
           from.insert(from.end(), at.begin() + named, at.end());
           return all.at(from);
         }));
}

void reverse_sequence(Lowering &n) {
  const Operand &x = n.input(0), &lengths = n.input(1);
  const auto batch = static_cast<size_t>(n.axis(n.attributes().integer("batch_axis", 1), x.rank())),
             time = static_cast<size_t>(n.axis(n.attributes().integer("time_axis", 0), x.rank()));
  if (batch == time) fail("its batch and its time are both dimension ", batch);
  expect_shape(lengths, {x.shape[batch]}, "sequence_lens");
  const Value from = x, ends = lengths;
  n.give(0, formula::inlined(extents(x.shape), [&](Axes at) {
           const Expression t = at[time], length = cast(Type::i64, ends(at[batch]));
           at[time] = select(t < length, length - 1 - t, t);
           return from.at(at);
         }));
}

void triangle(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.rank() < 2) fail("its input has the shape ", to_string(x.shape), "; expected matrices");
  const bool upper = n.attributes().integer("upper", 1) != 0;
  const Value from = x, k = n.has(1) ? Value(n.reshaped(n.input(1), {})) : Value();
  n.give(0, formula::inlined(extents(x.shape), [&](const Axes &at) {
           const Expression diagonal = at[at.size() - 1] - at[at.size() - 2], border = k.defined() ? k() : index(0);
           const Expression v = from.at(at);
           return select(upper ? diagonal >= border : diagonal <= border, v, literal(v, 0));
         }));
}

}  // namespace

const OperatorList gathering_operators = {
    {"Gather", gather, move_texts},      {"GatherElements", gather_elements, move_texts},
    {"GatherND", gather_nd, move_texts}, {"ReverseSequence", reverse_sequence, move_texts},
    {"Trilu", triangle, move_texts},
};

}  // namespace saltern
