// Tensors beside and upon each other, and apart again; and the same elements by other names of shapes.

#include <numeric>

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/reduction.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/tensor/strided.h"

namespace saltern::nn {

namespace {

// ---- Shapes of others.

const Function broadcast_to("broadcast_to", "input, size", [](const Arguments &a) {
  return call("expand", {a["input"], a["size"]});
});
const Function expand_as("expand_as", "input, other",
                         [](const Arguments &a) { return expand(a.variable("input"), a.variable("other").shape()); });
const Function reshape_as("reshape_as", "input, other",
                          [](const Arguments &a) { return reshape(a.variable("input"), a.variable("other").shape()); });
const Function view_as("view_as", "input, other",
                       [](const Arguments &a) { return reshape(a.variable("input"), a.variable("other").shape()); });
const Function ravel("ravel", "input", [](const Arguments &a) { return reshape(a.variable("input"), {-1}); });
const Function sum_to_size("sum_to_size", "input, size",
                           [](const Arguments &a) { return sum_to(a.variable("input"), a.integers("size")); });
const Function broadcast_tensors("broadcast_tensors", "tensors", [](const Arguments &a) {
  std::vector<Variable> all = a.variables("tensors");
  Shape shape;
  for (const Variable &x : all) shape = broadcast_shape(shape, x.shape(), a.owner());
  for (Variable &x : all) x = expand(x, shape);
  return all;
});

// At least so many dimensions, those that are new where NumPy puts them.
Variable at_least(const Variable &x, size_t rank) {
  Shape s = x.shape();
  if (s.empty()) s = {1};
  if (rank >= 2 && s.size() == 1) s.insert(s.begin(), 1);
  if (rank >= 3 && s.size() == 2) s.push_back(1);
  return s == x.shape() ? x : reshape(x, s);
}
struct AtLeast {
  explicit AtLeast(size_t rank)
      : function("atleast_" + std::to_string(rank) + "d", "input", [rank](const Arguments &a) -> Argument {
          if (!a["input"].as<Argument::List>()) return at_least(a.variable("input"), rank);
          std::vector<Variable> all;
          for (const Variable &x : a.variables("input")) all.push_back(at_least(x, rank));
          return all;
        }) {}
  Function function;
};
const AtLeast at_least_of[] = {AtLeast(1), AtLeast(2), AtLeast(3)};

// ---- Dimensions elsewhere.

const Function movedim("movedim", "input, source, destination", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const int rank = x.rank();
  const std::vector<int64_t> from = a.integers("source"), to = a.integers("destination");
  if (from.size() != to.size()) a.refuse("destination", "as many as 'source' has");
  std::vector<int64_t> order(static_cast<size_t>(rank), -1), rest;
  std::vector<bool> taken(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < from.size(); ++i) {
    const int source = dimension(from[i], rank, a.owner()), place = dimension(to[i], rank, a.owner());
    if (taken[static_cast<size_t>(source)] || order[static_cast<size_t>(place)] >= 0)
      a.refuse("source", "each dimension once");
    taken[static_cast<size_t>(source)] = true;
    order[static_cast<size_t>(place)] = source;
  }
  for (int64_t d = 0, next = 0; d < rank; ++d) {
    if (order[static_cast<size_t>(d)] >= 0) continue;
    while (taken[static_cast<size_t>(next)]) ++next;
    order[static_cast<size_t>(d)] = next++;
  }
  return transpose(x, order);
});
const Function rot90("rot90", "input, k=1, dims=(0, 1)", [](const Arguments &a) {
  Variable x = a.variable("input");
  const std::vector<int64_t> dims = a.integers("dims", 2);
  for (int64_t k = ((a.integer("k") % 4) + 4) % 4; k > 0; --k)
    x = composed("flip", {composed("transpose", {x, dims[0], dims[1]}), Argument::List{dims[0]}});
  return x;
});
const Function fliplr("fliplr", "input", [](const Arguments &a) {
  return call("flip", {a["input"], Argument::List{1}});
});
const Function flipud("flipud", "input", [](const Arguments &a) {
  return call("flip", {a["input"], Argument::List{0}});
});

// ---- Beside each other.

std::vector<Variable> all_at_least(const Arguments &a, size_t rank) {
  std::vector<Variable> all;
  for (const Variable &x : a.variables("tensors")) all.push_back(at_least(x, rank));
  if (all.empty()) a.refuse("tensors", "at least one");
  return all;
}
const Function hstack("hstack", "tensors", [](const Arguments &a) {
  const std::vector<Variable> all = all_at_least(a, 1);
  return concat(all, all[0].shape().size() == 1 ? 0 : 1);
});
const Function vstack("vstack", "tensors", [](const Arguments &a) { return concat(all_at_least(a, 2), 0); });
const Function dstack("dstack", "tensors", [](const Arguments &a) { return concat(all_at_least(a, 3), 2); });
const Function column_stack("column_stack", "tensors", [](const Arguments &a) {
  std::vector<Variable> all;
  for (const Variable &x : a.variables("tensors")) all.push_back(x.shape().size() < 2 ? reshape(x, {-1, 1}) : x);
  if (all.empty()) a.refuse("tensors", "at least one");
  return concat(all, 1);
});
const Function tile("tile", "input, dims", [](const Arguments &a) {
  const Variable x = a.variable("input");
  std::vector<int64_t> times = a.integers("dims");
  while (times.size() < x.shape().size()) times.insert(times.begin(), 1);
  return call("repeat", {x, times});
});
const Function block_diag("block_diag", "tensors", [](const Arguments &a) {
  std::vector<Variable> all;
  int64_t columns = 0, before = 0;
  for (const Variable &x : a.variables("tensors")) {
    if (x.shape().size() > 2) a.refuse("tensors", "tensors of two dimensions at most");
    all.push_back(at_least(x, 2));
    columns += all.back().shape()[1];
  }
  for (Variable &x : all) {
    const int64_t width = x.shape()[1];
    x = composed("pad", {x, {before, columns - before - width}});
    before += width;
  }
  return concat(all, 0);
});

// ---- Grids.

const Function meshgrid("meshgrid", "tensors, *, indexing='ij'", [](const Arguments &a) {
  std::vector<Variable> all = a.variables("tensors");
  const bool swaps = a.word("indexing", {"ij", "xy"}) == "xy" && all.size() > 1;
  if (swaps) std::swap(all[0], all[1]);
  Shape shape;
  for (const Variable &x : all) shape.push_back(x.size());
  for (size_t i = 0; i < all.size(); ++i) {
    Shape one(shape.size(), 1);
    one[i] = shape[i];
    all[i] = expand(reshape(all[i], one), shape);
  }
  if (swaps) std::swap(all[0], all[1]);
  return all;
});
const Function cartesian_prod("cartesian_prod", "tensors", [](const Arguments &a) {
  const std::vector<Variable> given = a.variables("tensors");
  if (given.size() == 1) return given[0];
  const Argument grids = meshgrid.call({given});
  std::vector<Variable> columns;
  for (const Argument &g : *grids.as<Argument::List>()) columns.push_back(reshape(variable_of(g), {-1, 1}));
  return concat(columns, 1);
});

// ---- Apart.

// At these places, or into so many parts, of which the first ones have one more.
Argument split_at(const Arguments &a, const Variable &x, int64_t dim, const char *name) {
  const int64_t extent = x.shape()[static_cast<size_t>(dim)];
  std::vector<int64_t> sizes;
  const bool is_number = a[name].as<Variable>() && a.variable(name).shape().empty();
  const int64_t sections = is_number ? a.variable(name).value().integers()[0] : 0;
  if (const auto *count = is_number ? &sections : a[name].as<int64_t>()) {
    if (*count < 1) a.refuse(name, "1 or more");
    for (int64_t i = 0; i < *count; ++i) sizes.push_back(extent / *count + (i < extent % *count ? 1 : 0));
    return call("split", {x, sizes, dim});
  }
  std::vector<Variable> parts;
  int64_t begin = 0;
  std::vector<int64_t> ends = a[name].as<Variable>() ? a.variable(name).value().integers() : a.integers(name);
  ends.push_back(extent);
  for (int64_t end : ends) {
    end = std::min(std::max<int64_t>(end < 0 ? end + extent : end, 0), extent);
    parts.push_back(slice(x, dim, std::min(begin, extent), std::max<int64_t>(end - begin, 0)));
    begin = end;
  }
  return parts;
}
const Function tensor_split("tensor_split", "input, indices_or_sections, dim=0", [](const Arguments &a) {
  const Variable x = a.variable("input");
  return split_at(a, x, dimension(a.integer("dim"), x.rank(), a.owner()), "indices_or_sections");
});
struct SplitAlong {
  SplitAlong(const char *name, size_t least, int64_t dim)
      : function(name, "input, indices_or_sections", [=](const Arguments &a) {
          const Variable x = a.variable("input");
          if (x.shape().size() < least) a.refuse("input", "at least " + std::to_string(least) + " dimensions");
          const int64_t along = x.shape().size() == 1 ? 0 : dim;
          const auto *count = a["indices_or_sections"].as<int64_t>();
          if (count && *count > 0 && x.shape()[static_cast<size_t>(along)] % *count != 0)
            a.refuse("indices_or_sections", "a divisor of the extent");
          return split_at(a, x, along, "indices_or_sections");
        }) {}
  Function function;
};
const SplitAlong splits[] = {{"hsplit", 1, 1}, {"vsplit", 2, 0}, {"dsplit", 3, 2}};
const Function split_with_sizes("split_with_sizes", "input, split_sizes, dim=0", [](const Arguments &a) {
  return call("split", {a["input"], a["split_sizes"], a["dim"]});
});

// Each element so often, or as often as `repeats` says for it.
const Function repeat_interleave(
    "repeat_interleave", "input, repeats, dim=None, *, output_size=None", [](const Arguments &a) {
      Variable x = a.variable("input");
      int64_t d = 0;
      if (a.has("dim"))
        d = dimension(a.integer("dim"), x.rank(), a.owner());
      else
        x = reshape(x, {-1});
      const int64_t extent = x.shape()[static_cast<size_t>(d)];
      std::vector<int64_t> times =
          a["repeats"].as<Variable>() ? a.variable("repeats").value().integers() : a.integers("repeats");
      if (times.size() == 1) times.resize(static_cast<size_t>(extent), times[0]);
      if (static_cast<int64_t>(times.size()) != extent) a.refuse("repeats", "a number, or one for each element");
      std::vector<int64_t> from;
      for (size_t i = 0; i < times.size(); ++i) {
        if (times[i] < 0) a.refuse("repeats", "at least 0");
        from.insert(from.end(), static_cast<size_t>(times[i]), static_cast<int64_t>(i));
      }
      return call("index_select", {x, d, Tensor::of<int64_t>({static_cast<int64_t>(from.size())}, from)});
    });

}  // namespace

const void *stacking() { return &broadcast_to; }

}  // namespace saltern::nn
