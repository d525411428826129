// Operators that give elements another shape: it is told by extents of the operand that is moved, and by elements of
// others, of which each is a number, a quantity that depends on sizes, or not known. Each rule says what its lowering
// (runtime/onnx/operators) does, for all sizes at once; where that differs from size to size, it says nothing.

#include <algorithm>
#include <map>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/symbolic.h"

namespace saltern {

namespace {

std::vector<size_t> places(const std::vector<int64_t> &axes, size_t rank) {
  const std::vector<int> within = axes_in(axes, static_cast<int>(rank));
  return {within.begin(), within.end()};
}

bool contains(const std::vector<size_t> &all, size_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// ---- The same elements in the same order.

// Whether e is 0 only where x is.
bool is_zero_only_with(const Quantity &e, const Quantity &x) {
  return e == x || (e.quotient(x).is_constant() && !e.quotient(x).is(0));
}

// A 0 that is no 0 keeps an extent of x, so what may be 0 is told only where that extent is 0 then, too. A -1 is found
// by dividing, which fails where the others are 0.
Symbolics reshape(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const std::optional<Quantities> to = c.listed("shape", 1);
  if (!to) fail("has no shape");
  const bool zero_is_zero = c.attributes().integer("allowzero", 0) != 0;
  Quantities extents = *to;
  std::vector<size_t> open;  // to be found
  bool sure = true;
  for (size_t d = 0; d < to->size(); ++d) {
    Quantity &e = extents[d];
    const bool has_twin = d < x.extents.size();
    if (e.is(0) && !zero_is_zero) {
      if (!has_twin) fail("it keeps dimension ", d, " of ", x.extents.size());
      e = x.extents[d];
    } else if (!e.is_at_least(zero_is_zero ? 0 : 1) &&
               !(e.is_at_least(0) && has_twin && is_zero_only_with(e, x.extents[d]))) {
      open.push_back(d);
      sure &= e.is(-1);
      e = Quantity();
    }
  }
  const Quantity all = product_of(x.extents);
  if (open.empty()) return {c.result(x.type, extents, sure && product_of(extents) == all)};
  if (open.size() == 1) {
    extents[open[0]] = 1;
    const Quantity others = product_of(extents);
    const bool fits = others.is_at_least(1);
    extents[open[0]] = fits || (*to)[open[0]].is(-1) ? all.quotient(others) : Quantity();
    sure &= fits && extents[open[0]].is_known();
  }
  return {c.result(x.type, extents, sure && open.size() == 1)};
}

Symbolics flatten(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const auto rank = static_cast<int64_t>(x.extents.size());
  int64_t axis = c.attributes().integer("axis", 1);
  if (axis < -rank || axis > rank) fail("axis ", axis, " of a tensor of rank ", rank);
  const auto middle = x.extents.begin() + (axis < 0 ? axis + rank : axis);
  const Quantity outer = product_of({x.extents.begin(), middle}), inner = product_of({middle, x.extents.end()});
  return {c.result(x.type, {outer, inner}, true)};
}

// Without axes the rank depends on which extents are 1.
Symbolics squeeze(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const auto given = c.fixed_list("axes", 1);
  if (!given && x.is_open()) fail("which extents are 1?");
  const std::vector<size_t> axes = places(given.value_or(Shape()), x.extents.size());
  Quantities extents;
  bool sure = true;
  for (size_t d = 0; d < x.extents.size(); ++d) {
    const bool is_dropped = given ? contains(axes, d) : x.extents[d].is(1);
    if (is_dropped)
      sure &= x.extents[d].is(1);
    else
      extents.push_back(x.extents[d]);
  }
  return {c.result(x.type, extents, sure)};
}

Symbolics unsqueeze(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const std::vector<int64_t> given = c.fixed_list("axes", 1).value_or(std::vector<int64_t>());
  const std::vector<size_t> axes = places(given, x.extents.size() + given.size());
  Quantities extents;
  auto next = x.extents.begin();
  for (size_t d = 0; d < x.extents.size() + axes.size(); ++d)
    extents.push_back(contains(axes, d) ? Quantity(1) : *next++);
  return {c.result(x.type, extents, true)};
}

Symbolics transpose(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  Quantities extents(x.extents.rbegin(), x.extents.rend());
  if (c.attributes().has("perm")) {
    const std::vector<size_t> order = places(c.attributes().integers("perm"), x.extents.size());
    if (order.size() != x.extents.size()) fail("orders ", order.size(), " dimensions of ", x.extents.size());
    for (size_t d = 0; d < order.size(); ++d) extents[d] = x.extents[order[d]];
  }
  return {c.result(x.type, extents, true)};
}

// ---- Elements again and again.

Symbolics expand(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  Quantities extents = c.listed("shape", 1).value_or(Quantities());
  if (extents.size() < x.extents.size()) extents.insert(extents.begin(), x.extents.size() - extents.size(), 1);
  bool sure = true;
  for (const Quantity &e : extents) sure &= e.is_at_least(0);
  for (size_t d = 0, first = extents.size() - x.extents.size(); d < x.extents.size(); ++d)
    extents[first + d] = broadcast_extent(x.extents[d], extents[first + d], sure);
  return {c.result(x.type, extents, sure)};
}

Symbolics tile(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const Quantities times = c.listed("repeats", 1).value_or(Quantities());
  if (times.size() != x.extents.size()) fail(times.size(), " repeats of ", x.extents.size(), " dimensions");
  Quantities extents;
  bool sure = true;
  for (size_t d = 0; d < times.size(); ++d) {
    extents.push_back(x.extents[d] * times[d]);
    sure &= times[d].is_at_least(0);
  }
  return {c.result(x.type, extents, sure)};
}

Symbolics constant_of_shape(SymbolicCall &c) {
  const Type type = c.attributes().has("value") ? c.attributes().tensor("value").type() : Type::f32;
  return {c.result(type, elements_of(c.input(0)))};
}

Symbolics range(SymbolicCall &c) {
  const Type type = c.input(0).type;
  const auto number = [&](size_t i) {
    const Quantities all = elements_of(c.input(i));
    return all.size() == 1 ? all[0] : Quantity();
  };
  Quantity way = number(1) - number(0), by = number(2), count;
  if (by.is_constant() && !by.is(0)) {
    if (by.constant() < 0) way = way * -1, by = by * -1;
    if (way.is_at_least(0))
      count = (way + (by - 1)).divided(by.constant());
    else if (way.is_at_most(0))
      count = 0;
  }
  return {c.result(type, {count})};
}

// ---- Parts.

// Where a start or end of a slice lies in an extent, of which it counts from the end where it is negative.
Quantity place_in(const Quantity &extent, Quantity given) {
  if (given.is_at_most(-1))
    given = given + extent;
  else if (!given.is_at_least(0))
    return {};
  if (given.is_at_most(0)) return 0;
  if ((given - extent).is_at_least(0)) return extent;
  return given.is_at_least(0) && (extent - given).is_at_least(0) ? given : Quantity();
}

Symbolics slice(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const auto starts = c.listed("starts", 1), ends = c.listed("ends", 2), steps = c.listed("steps", 4);
  if (!starts || !ends || starts->size() != ends->size() || (steps && steps->size() != starts->size()))
    fail("expected as many starts, ends and steps");
  const std::vector<size_t> axes =
      places(c.fixed_list("axes", 3).value_or(numbers_below(starts->size())), x.extents.size());
  if (axes.size() != starts->size()) fail("expected as many axes as starts");
  Quantities extents = x.extents;
  for (size_t i = 0; i < axes.size(); ++i) {
    Quantity &e = extents.at(axes[i]);
    const Quantity &start = (*starts)[i], &end = (*ends)[i], step = steps ? (*steps)[i] : Quantity(1);
    // Backwards, only all of it is told.
    const bool is_from_last = start.is(-1) || (start.is_at_least(0) && (start - e).is_at_least(-1));
    if (step.is(-1) && is_from_last && (end + e).is_at_most(-1)) continue;
    const Quantity way = place_in(e, end) - place_in(e, start);
    const bool is_forward = step.is_constant() && step.constant() > 0;
    e = !is_forward           ? Quantity()
        : way.is_at_most(0)   ? Quantity(0)
        : !way.is_at_least(0) ? Quantity()
        : step.is(1)          ? way
                              : (way + (step - 1)).divided(step.constant());
  }
  return {c.result(x.type, extents, true)};
}

Symbolics split(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const size_t axis = c.axis("axis", 0, x.extents.size()), count = c.node.outputs.size();
  Quantities sizes = c.listed("split", 1).value_or(Quantities());
  if (sizes.empty()) sizes.assign(count, x.extents[axis].quotient(static_cast<int64_t>(count)));
  if (sizes.size() != count) fail(sizes.size(), " parts for ", count, " outputs");
  Symbolics results;
  for (const Quantity &s : sizes) {
    Quantities extents = x.extents;
    extents[axis] = s;
    results.push_back(c.result(x.type, extents));
  }
  return results;
}

Symbolics gather(SymbolicCall &c) {
  const Symbolic &x = c.input(0), &indices = c.input(1);
  const auto axis = static_cast<std::ptrdiff_t>(c.axis("axis", 0, x.extents.size()));
  Quantities extents = x.extents;
  extents.erase(extents.begin() + axis);
  extents.insert(extents.begin() + axis, indices.extents.begin(), indices.extents.end());
  return {c.result(x.type, extents)};
}

Symbolics top_k(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const size_t axis = c.axis("axis", -1, x.extents.size());
  Quantities extents = x.extents;
  extents[axis] = c.attributes().has("k") ? Quantity(c.attributes().integer("k")) : elements_of(c.input(1)).at(0);
  const Symbolic values = c.result(x.type, extents);
  return {values, c.result(Type::i64, values.extents)};
}

// ---- Joined, and with edges around.

// Operands fit each other in all dimensions but one, so a number for one of them is a number for all.
Symbolics concat(SymbolicCall &c) {
  Quantities extents = c.input(0).extents;
  const size_t axis = c.axis("axis", 0, extents.size());
  if (!c.attributes().has("axis")) fail("has no axis");
  Quantity end = 0;
  for (const Symbolic &v : c.inputs) {
    if (v.extents.size() != extents.size()) fail("joins tensors of another rank");
    end = end + v.extents[axis];
    for (size_t d = 0; d < extents.size(); ++d)
      if (v.extents[d].is_constant()) extents[d] = v.extents[d];
  }
  extents[axis] = end;
  return {c.result(c.input(0).type, extents)};
}

Symbolics pad(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  const auto pads = c.listed("pads", 1);
  const std::vector<size_t> axes =
      places(c.fixed_list("axes", 3).value_or(numbers_below(x.extents.size())), x.extents.size());
  if (!pads || pads->size() != 2 * axes.size()) fail("pads for ", axes.size(), " axes");
  Quantities extents = x.extents;
  for (size_t i = 0; i < axes.size(); ++i) extents[axes[i]] = extents[axes[i]] + (*pads)[i] + (*pads)[i + axes.size()];
  return {c.result(x.type, extents)};
}

// To sizes; by scales it is one of those that operands alone tell.
Symbolics resize(SymbolicCall &c) {
  const Symbolic &x = c.input(0);
  if (c.opset < 11 || !c.has(3) || elements_of(c.input(3)).empty()) return {};
  if (c.attributes().word("keep_aspect_ratio_policy", "stretch") != "stretch") return {};
  const Quantities sizes = elements_of(c.input(3));
  const std::vector<size_t> axes =
      places(c.attributes().integers("axes", numbers_below(x.extents.size())), x.extents.size());
  if (sizes.size() != axes.size()) fail(sizes.size(), " sizes for ", axes.size(), " axes");
  Quantities extents = x.extents;
  for (size_t i = 0; i < axes.size(); ++i) extents[axes[i]] = sizes[i];
  return {c.result(x.type, extents)};
}

// ---- What is told by a shape alone.

Symbolics shape(SymbolicCall &c) {
  const Quantities &all = c.input(0).extents;
  const auto [start, end] = dimensions_of(c.attributes(), all.size());
  Symbolic r = c.result(Type::i64, {end - start}, true);
  set_elements(r, {all.begin() + start, all.begin() + end});
  return {r};
}

Symbolics size(SymbolicCall &c) {
  Symbolic r = c.result(Type::i64, {}, true);
  set_elements(r, {product_of(c.input(0).extents)});
  return {r};
}

}  // namespace

Symbolics extents_by_elements(SymbolicCall &c) {
  static const std::map<std::string, Symbolics (*)(SymbolicCall &)> rules = {
      {"Concat", concat},       {"ConstantOfShape", constant_of_shape},
      {"Expand", expand},       {"Flatten", flatten},
      {"Gather", gather},       {"Pad", pad},
      {"Range", range},         {"Reshape", reshape},
      {"Resize", resize},       {"Shape", shape},
      {"Size", size},           {"Slice", slice},
      {"Split", split},         {"Squeeze", squeeze},
      {"Tile", tile},           {"TopK", top_k},
      {"Transpose", transpose}, {"Unsqueeze", unsqueeze},
  };
  const auto rule = rules.find(c.node.operation);
  return c.node.domain.empty() && rule != rules.end() ? rule->second(c) : Symbolics();
}

}  // namespace saltern
