#include "runtime/nn/packed_sequences.h"

#include <algorithm>
#include <numeric>

#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"

namespace saltern::nn {

namespace {

using Indices = std::vector<int64_t>;

Tensor tensor_of(const Indices &all, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(all.size())};
  return Tensor::of<int64_t>(shape, all);
}

// x(i, j, ...) at pairs of a step and a sequence.
Variable at_pairs(const Variable &x, const Tensor &steps, const Tensor &sequences) {
  return variable_of(call("index", {x, {0, 1}, {steps, sequences}}));
}

// data(places(t, n), ...), and a number where a place is -1.
Variable spread(const Variable &data, Indices places, const Shape &shape, double padding) {
  std::vector<uint8_t> there;
  for (int64_t &p : places) {
    there.push_back(p >= 0);
    p = std::max<int64_t>(p, 0);
  }
  const Variable x = variable_of(call("index", {data, Argument::List{0}, Argument::List{tensor_of(places, shape)}}));
  if (std::find(there.begin(), there.end(), 0) == there.end()) return x;
  Shape mask = shape;
  mask.resize(x.shape().size(), 1);
  const Variable is_there = variable_of(call("ne", {Tensor::of<uint8_t>(mask, there), 0}));
  return variable_of(call("where", {is_there, x, padding}));
}

// ---- Arguments.

// As many as there are sequences; integers, or a tensor of them.
Indices lengths_in(const Arguments &a, int64_t count, int64_t most) {
  const Indices all = a["lengths"].as<Variable>() ? a.variable("lengths").value().integers() : a.integers("lengths");
  if (static_cast<int64_t>(all.size()) != count)
    a.refuse("lengths", "one for each of " + std::to_string(count) + " sequences");
  for (int64_t l : all)
    if (l < 1 || l > most) a.refuse("lengths", "from 1 to " + std::to_string(most) + ", the steps that there are");
  return all;
}

Variable steps_first(const Arguments &a, const char *name) {
  const Variable x = a.variable(name);
  if (x.shape().size() < 2) a.refuse(name, "sequences (t, n, ...)");
  return a.flag("batch_first") ? variable_of(call("transpose", {x, 0, 1})) : x;
}
Variable as_asked(const Arguments &a, const Variable &x) {
  return a.flag("batch_first") ? variable_of(call("transpose", {x, 0, 1})) : x;
}

Argument packed_in_order(const Arguments &a, const Variable &x, Indices lengths, const char *name) {
  Variable sorted, unsorted;
  if (a.flag("enforce_sorted")) {
    if (!std::is_sorted(lengths.rbegin(), lengths.rend())) a.refuse(name, "the longest first, or enforce_sorted=False");
    return packed(x, lengths).as_list();
  }
  Indices order(lengths.size()), back(lengths.size()), in_order;
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](int64_t i) { return lengths[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return length(i) > length(j); });
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    in_order.push_back(length(order[i]));
  }
  PackedSequences p = packed(reordered(x, tensor_of(order)), in_order);
  p.sorted = tensor_of(order);
  p.unsorted = tensor_of(back);
  return p.as_list();
}

// ---- Functions.

const Function pack_padded_sequence("pack_padded_sequence", "input, lengths, batch_first=False, enforce_sorted=True",
                                    [](const Arguments &a) {
                                      const Variable x = steps_first(a, "input");
                                      return packed_in_order(a, x, lengths_in(a, x.shape()[1], x.shape()[0]),
                                                             "lengths");
                                    });

const Function pad_packed_sequence(
    "pad_packed_sequence", "sequence, batch_first=False, padding_value=0.0, total_length=None",
    [](const Arguments &a) -> Argument {
      PackedSequences p = PackedSequences::of(a, "sequence");
      const Tensor lengths = tensor_of(p.lengths());
      if (a.has("total_length")) {
        if (a.integer("total_length") < p.steps())
          a.refuse("total_length", "at least " + std::to_string(p.steps()) + ", the longest sequence");
        p.batch_sizes.resize(static_cast<size_t>(a.integer("total_length")), 0);
      }
      const Variable x = reordered(padded(p, a.real("padding_value")), p.unsorted);
      const Argument in_order = p.unsorted.defined() ? call("index_select", {lengths, 0, p.unsorted}) : lengths;
      return Argument::List{as_asked(a, x), in_order};
    });

// Sequences (l, ...) of several lengths side by side.
Variable side_by_side(const Arguments &a, double padding, bool behind, Indices &lengths) {
  const std::vector<Variable> all = a.variables("sequences");
  if (all.empty()) a.refuse("sequences", "at least one");
  int64_t most = 0;
  for (const Variable &x : all) {
    if (x.shape().empty() ||
        Shape(x.shape().begin() + 1, x.shape().end()) != Shape(all[0].shape().begin() + 1, all[0].shape().end()))
      a.refuse("sequences", "tensors (l, ...) that are equal but for their first dimension");
    lengths.push_back(x.shape()[0]);
    most = std::max(most, x.shape()[0]);
  }
  const auto count = static_cast<int64_t>(all.size());
  Indices places;
  for (int64_t t = 0; t < most; ++t) {
    int64_t begin = 0;
    for (int64_t n = 0; n < count; ++n) {
      const int64_t length = lengths[static_cast<size_t>(n)], step = behind ? t : t - (most - length);
      places.push_back(step >= 0 && step < length ? begin + step : -1);
      begin += length;
    }
  }
  return spread(concat(all, 0), places, {most, count}, padding);
}

const Function pad_sequence("pad_sequence", "sequences, batch_first=False, padding_value=0.0, padding_side='right'",
                            [](const Arguments &a) {
                              Indices lengths;
                              const bool behind = a.word("padding_side", {"left", "right"}) == "right";
                              return as_asked(a, side_by_side(a, a.real("padding_value"), behind, lengths));
                            });
const Function pack_sequence("pack_sequence", "sequences, enforce_sorted=True", [](const Arguments &a) {
  Indices lengths;
  const Variable x = side_by_side(a, 0, true, lengths);
  if (std::find(lengths.begin(), lengths.end(), 0) != lengths.end())
    a.refuse("sequences", "sequences of 1 or more steps");
  return packed_in_order(a, x, lengths, "sequences");
});
const Function unpad_sequence(
    "unpad_sequence", "padded_sequences, lengths, batch_first=False", [](const Arguments &a) -> Argument {
      const Variable x = steps_first(a, "padded_sequences");
      const Indices lengths = lengths_in(a, x.shape()[1], x.shape()[0]);
      std::vector<Variable> all;
      for (size_t n = 0; n < lengths.size(); ++n)
        all.push_back(slice(variable_of(call("select", {x, 1, static_cast<int64_t>(n)})), 0, 0, lengths[n]));
      return all;
    });

}  // namespace

PackedSequences PackedSequences::of(const Arguments &a, std::string_view name) {
  const auto *list = a[name].as<Argument::List>();
  const char *expected = "packed sequences: data, batch sizes, and two orders or None";
  if (!list || list->size() < 2 || list->size() > 4) a.refuse(name, expected);
  const auto variable = [&](size_t i) {
    const auto *v = i < list->size() ? list->at(i).as<Variable>() : nullptr;
    return v ? *v : Variable();
  };
  PackedSequences p = {variable(0), {}, variable(2), variable(3)};
  if (!p.data.defined() || p.data.shape().empty() || !variable(1).defined() || is_real(variable(1).type()))
    a.refuse(name, expected);
  p.batch_sizes = variable(1).value().integers();
  const bool falls = std::is_sorted(p.batch_sizes.rbegin(), p.batch_sizes.rend()) && !p.batch_sizes.empty() &&
                     p.batch_sizes.back() > 0;
  if (!falls || std::accumulate(p.batch_sizes.begin(), p.batch_sizes.end(), int64_t{0}) != p.data.shape()[0])
    a.refuse(name, "batch sizes that do not grow, whose sum is the number of steps in the data");
  return p;
}

Argument PackedSequences::as_list() const { return Argument::List{data, tensor_of(batch_sizes), sorted, unsorted}; }

std::vector<int64_t> PackedSequences::lengths() const {
  Indices all(static_cast<size_t>(count()), 0);
  for (int64_t size : batch_sizes)
    for (int64_t n = 0; n < size; ++n) ++all[static_cast<size_t>(n)];
  return all;
}

PackedSequences packed(const Variable &x, const Indices &lengths) {
  Indices sizes, steps, sequences;
  for (int64_t t = 0; t < (lengths.empty() ? 0 : lengths[0]); ++t) {
    sizes.push_back(std::count_if(lengths.begin(), lengths.end(), [&](int64_t l) { return l > t; }));
    for (int64_t n = 0; n < sizes.back(); ++n) {
      steps.push_back(t);
      sequences.push_back(n);
    }
  }
  return {at_pairs(x, tensor_of(steps), tensor_of(sequences)), sizes, {}, {}};
}

Variable padded(const PackedSequences &p, double padding) {
  Indices places;
  int64_t begin = 0;
  for (int64_t size : p.batch_sizes) {
    for (int64_t n = 0; n < p.count(); ++n) places.push_back(n < size ? begin + n : -1);
    begin += size;
  }
  return spread(p.data, places, {p.steps(), p.count()}, padding);
}

Variable turned_round(const Variable &x, const Indices &lengths) {
  Indices steps, sequences;
  for (int64_t t = 0; t < x.shape()[0]; ++t)
    for (size_t n = 0; n < lengths.size(); ++n) {
      steps.push_back(std::max<int64_t>(lengths[n] - 1 - t, 0));
      sequences.push_back(static_cast<int64_t>(n));
    }
  const Shape shape = {x.shape()[0], x.shape()[1]};
  return at_pairs(x, tensor_of(steps, shape), tensor_of(sequences, shape));
}

Variable last_steps(const Variable &x, const Indices &lengths) {
  Indices steps, sequences(lengths.size());
  for (int64_t l : lengths) steps.push_back(l - 1);
  std::iota(sequences.begin(), sequences.end(), 0);
  return at_pairs(x, tensor_of(steps), tensor_of(sequences));
}

Variable reordered(const Variable &x, const Variable &order) {
  return order.defined() ? variable_of(call("index_select", {x, 1, order})) : x;
}

const void *packed_sequences() { return &pack_padded_sequence; }

}  // namespace saltern::nn
