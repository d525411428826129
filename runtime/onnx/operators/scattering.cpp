// Operators that write elements to places which other tensors name.
//
// As formulas, each element of the result looks through all updates that could hit it: right everywhere, and as many
// times more work as there are such updates. The host writes each update where it belongs, once.

#include <algorithm>
#include <optional>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/wide_numbers.h"

namespace saltern {

namespace {

using namespace formula;

struct Merge {
  Function pairwise, all;
};

// Null: updates replace.
const Merge *merge_of(const Attributes &a) {
  static const std::map<std::string, std::optional<Merge>> merges = {
      {"none", std::nullopt},
      {"add", Merge{Function::add, Function::sum}},
      {"mul", Merge{Function::multiply, Function::product}},
      {"max", Merge{Function::maximum, Function::greatest}},
      {"min", Merge{Function::minimum, Function::least}},
  };
  const std::optional<Merge> &found = one_of(merges, "reduction", a.word("reduction", "none"));
  return found ? &*found : nullptr;
}

// What an element becomes: `hits` says whether the update of a step lands on it, `update` reads that update.
Expression merged(const Merge *merge, const Expression &old, const std::vector<int64_t> &extents,
                  const std::function<Expression(const Axes &)> &hits,
                  const std::function<Expression(const Axes &)> &update) {
  if (!merge) {
    // The last update that hits.
    const Expression last = reduce(Function::greatest, extents, [&](const Axes &s) {
      return select(hits(s), row_major_index(s, extents), index(-1));
    });
    Axes step(extents.size());
    Expression rest = last;
    for (size_t i = extents.size(); i-- > 0; rest = rest / std::max<int64_t>(extents[i], 1))
      step[i] = i == 0 ? rest : rest % std::max<int64_t>(extents[i], 1);
    return select(last >= 0, update(step), old);
  }
  // Numbers of 16 bits are summed in 32.
  const Type type = old.type(), wide = is_real(type) && facts(type).bits == 16 ? Type::f32 : type;
  const Expression was = cast(wide, old);
  const Expression neutral = merge->all == Function::sum       ? literal(was, 0)
                             : merge->all == Function::product ? literal(was, 1)
                                                               : was;
  const Expression all =
      reduce(merge->all, extents, [&](const Axes &s) { return select(hits(s), cast(wide, update(s)), neutral); });
  return cast(type, call(merge->pairwise, was, all));
}

void expect_merge(const Merge *merge, Type type) {
  if (merge && !facts(type).is_arithmetic()) unsupported("a reduction of ", facts(type).name);
}

// ---- ScatterElements.

size_t elements_axis(int64_t given, const Shape &data, const Shape &indices, const Shape &updates) {
  const auto axis = static_cast<size_t>(axis_within(given, static_cast<int64_t>(data.size())));
  bool fits = indices == updates && indices.size() == data.size();
  for (size_t d = 0; fits && d < data.size(); ++d) fits = d == axis || indices[d] <= data[d];
  if (!fits) fail("indices of ", to_string(indices), " and updates of ", to_string(updates), " for ", to_string(data));
  return axis;
}

void scatter_elements(Lowering &n) {
  const Operand &data = n.input(0), &indices = n.input(1), &updates = n.input(2);
  expect_same_type(data, updates);
  const size_t axis = elements_axis(n.attributes().integer("axis", 0), data.shape, indices.shape, updates.shape);
  const Merge *merge = merge_of(n.attributes());
  expect_merge(merge, data.type);
  expect_indices(indices, data.shape[axis]);
  const Value old = data, places = indices, given = updates;
  n.give(0, compute("scatter", old.extents(), [&](const Axes &at) {
           Expression covered;
           for (size_t d = 0; d < at.size(); ++d)
             if (d != axis && indices.shape[d] < data.shape[d])
               covered = covered.defined() ? covered && at[d] < indices.shape[d] : at[d] < indices.shape[d];
           const auto place = [&](const Expression &s) {
             Axes from = at;
             from[axis] = s;
             return from;
           };
           return merged(
               merge, old.at(at), {indices.shape[axis]},
               [&](const Axes &s) {
                 const Expression hit = counted_from_end(places.at(place(s[0])), data.shape[axis]) == at[axis];
                 return covered.defined() ? hit && covered : hit;
               },
               [&](const Axes &s) { return given.at(place(s[0])); });
         }));
}

// ---- ScatterND.

// How many dimensions one row of indices names.
size_t row_depth(const Shape &data, const Shape &indices, const Shape &updates) {
  if (indices.empty()) fail("its indices are one number; expected rows of them");
  Shape wanted(indices.begin(), indices.end() - 1);
  const int64_t depth = indices.back();
  if (depth > static_cast<int64_t>(data.size())) fail("rows of ", depth, " indices into ", to_string(data));
  wanted.insert(wanted.end(), data.begin() + depth, data.end());
  if (updates != wanted) fail("updates of ", to_string(updates), "; expected ", to_string(wanted));
  return static_cast<size_t>(depth);
}

void scatter_nd(Lowering &n) {
  const Operand &data = n.input(0), &indices = n.input(1), &updates = n.input(2);
  expect_same_type(data, updates);
  const size_t depth = row_depth(data.shape, indices.shape, updates.shape);
  const Merge *merge = merge_of(n.attributes());
  expect_merge(merge, data.type);
  expect_index_rows(indices, data.shape);
  const std::vector<int64_t> rows(indices.shape.begin(), indices.shape.end() - 1);
  const Value old = data, places = indices, given = updates;
  n.give(0, compute("scatter", old.extents(), [&](const Axes &at) {
           return merged(
               merge, old.at(at), rows,
               [&](const Axes &s) {
                 Expression hit;
                 for (size_t k = 0; k < depth; ++k) {
                   Axes row = s;
                   row.push_back(index(static_cast<int64_t>(k)));
                   const Expression same = counted_from_end(places.at(row), data.shape[k]) == at[k];
                   hit = hit.defined() ? hit && same : same;
                 }
                 return hit.defined() ? hit : formula::constant(Type::boolean, 1);
               },
               [&](const Axes &s) {
                 Axes from = s;
                 from.insert(from.end(), at.begin() + static_cast<std::ptrdiff_t>(depth), at.end());
                 return given.at(from);
               });
         }));
}

// ---- The host: update i goes to places[i] of the data, in order.

template <typename T>
T merged_pair(Function f, T a, T b) {
  // Sums and products of integers wrap without undefined behaviour.
  if constexpr (std::is_same_v<T, int64_t>)
    if (f == Function::add || f == Function::multiply)
      return static_cast<T>(merged_pair(f, static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  switch (f) {
    case Function::add:
      return a + b;
    case Function::multiply:
      return a * b;
    case Function::maximum:
      return a > b || a != a ? a : b;
    default:
      return a < b || a != a ? a : b;
  }
}

template <typename Word>
Tensor replaced_at(const Tensor &data, const std::vector<int64_t> &places, const Tensor &updates) {
  const Tensor y = Tensor::empty(data.shape(), data.type());
  y.copy_from(data);
  auto *to = static_cast<Word *>(y.raw());
  const auto *from = static_cast<const Word *>(updates.raw());
  for (size_t i = 0; i < places.size(); ++i) to[places[i]] = from[i];
  return y;
}

Tensor written(const Merge *merge, const Tensor &data, const std::vector<int64_t> &places, const Tensor &given) {
  if (data.type() != given.type())
    fail("inputs of ", facts(data.type()).name, " and ", facts(given.type()).name, "; expected one type");
  if (merge) {
    expect_merge(merge, data.type());
    return with_widest(data.type(), [&](auto *of) {
      using T = std::remove_pointer_t<decltype(of)>;
      const Tensor y = converted(data, widest(data.type())).clone(), u = converted(given, widest(data.type()));
      T *to = y.data<T>();
      const T *from = u.data<T>();
      for (size_t i = 0; i < places.size(); ++i) to[places[i]] = merged_pair(merge->pairwise, to[places[i]], from[i]);
      return converted(y, data.type());
    });
  }
  const Tensor updates = given.in_layout(Layout::row_major);
  if (data.type() == Type::text) return replaced_at<std::string>(data, places, updates);
  switch (facts(data.type()).bytes()) {
    case 1:
      return replaced_at<uint8_t>(data, places, updates);
    case 2:
      return replaced_at<uint16_t>(data, places, updates);
    case 4:
      return replaced_at<uint32_t>(data, places, updates);
    default:
      return replaced_at<uint64_t>(data, places, updates);
  }
}

std::vector<HostValue> scatter_elements_on_host(const HostCall &c) {
  const Tensor &data = c.tensor(0), &updates = c.tensor(2);
  const Shape &shape = c.tensor(1).shape();
  const size_t axis = elements_axis(c.attributes().integer("axis", 0), data.shape(), shape, updates.shape());
  const Shape strides = dense_strides(data.shape(), Layout::row_major),
              of_updates = dense_strides(shape, Layout::row_major);
  std::vector<int64_t> places = c.tensor(1).integers();
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t extent = data.shape()[axis];
    expect_index(places[i], extent);
    int64_t at = (places[i] < 0 ? places[i] + extent : places[i]) * strides[axis];
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != axis) at += static_cast<int64_t>(i) / of_updates[d] % shape[d] * strides[d];
    places[i] = at;
  }
  return {written(merge_of(c.attributes()), data, places, updates)};
}

std::vector<HostValue> scatter_nd_on_host(const HostCall &c) {
  const Tensor &data = c.tensor(0), &indices = c.tensor(1), &updates = c.tensor(2);
  const size_t depth = row_depth(data.shape(), indices.shape(), updates.shape());
  const Shape strides = dense_strides(data.shape(), Layout::row_major);
  const int64_t each = elements(Shape(data.shape().begin() + static_cast<std::ptrdiff_t>(depth), data.shape().end()));
  const std::vector<int64_t> all = indices.integers();
  const int64_t rows = elements(Shape(indices.shape().begin(), indices.shape().end() - 1));
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(rows * each));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t first = 0;
    for (size_t k = 0; k < depth; ++k) {
      const int64_t i = all[static_cast<size_t>(row) * depth + k], extent = data.shape()[k];
      expect_index(i, extent);
      first += (i < 0 ? i + extent : i) * strides[k];
    }
    for (int64_t i = 0; i < each; ++i) places.push_back(first + i);
  }
  return {written(merge_of(c.attributes()), data, places, updates)};
}

// ---- TensorScatter: a run of updates into a cache, at a place of its own for each sample.

void tensor_scatter(Lowering &n) {
  const Operand &cache = n.input(0), &update = n.input(1);
  expect_same_type(cache, update);
  const auto axis = static_cast<size_t>(n.axis(n.attributes().integer("axis", -2), cache.rank()));
  const std::string mode = one_of({"linear", "circular"}, "mode", n.attributes().word("mode", "linear"));
  if (axis == 0) fail("its axis is that of the batch");
  const int64_t length = cache.shape[axis];
  Shape wanted = update.shape;
  if (update.rank() == cache.rank()) wanted[axis] = length;
  if (wanted != cache.shape || update.shape[axis] > length)
    fail("updates of ", to_string(update.shape), " for a cache of ", to_string(cache.shape));
  if (n.has(2) && n.input(2).value.defined() && mode == "linear")
    for (int64_t w : n.input(2).value.integers())
      if (w < 0 || w + update.shape[axis] > length) fail("writes at ", w, " of a cache of ", length);
  const Value old = cache, given = update, begin = n.has(2) ? Value(n.input(2)) : Value();
  n.give(0, inlined(old.extents(), [&](const Axes &at) {
           Expression step = begin.defined() ? at[axis] - cast(Type::i64, begin(at[0])) : at[axis];
           if (mode == "circular") step = step % std::max<int64_t>(length, 1);
           Axes from = at;
           from[axis] = step;
           return select(step >= 0 && step < update.shape[axis], given.at(from), old.at(at));
         }));
}

}  // namespace

const OperatorList scattering_operators = {
    {"Scatter", scatter_elements, scatter_elements_on_host, "", true},
    {"ScatterElements", scatter_elements, scatter_elements_on_host, "", true},
    {"ScatterND", scatter_nd, scatter_nd_on_host, "", true},
    {"TensorScatter", tensor_scatter},
};

}  // namespace saltern
