// Diagonals, windows of a dimension, and products that are no matrix products.

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- Diagonals: of two dimensions the last one.

struct Plane {
  int first, second;
  int64_t offset, length;
};
// Of a diagonal in two dimensions of a tensor.
Plane plane_of(const Arguments &a, const Value &x) {
  Plane p = {dimension(a.integer("dim1"), x.rank(), a.owner()), dimension(a.integer("dim2"), x.rank(), a.owner()),
             a.integer("offset"), 0};
  if (p.first == p.second) a.refuse("dim2", "another one than dim1");
  const int64_t rows = x.extent(p.first)->integer, columns = x.extent(p.second)->integer;
  p.length =
      std::max<int64_t>(p.offset >= 0 ? std::min(rows, columns - p.offset) : std::min(rows + p.offset, columns), 0);
  return p;
}

const nn::Function diagonal("diagonal", "input, offset=0, dim1=0, dim2=1", by_formula([](const Arguments &a) {
                              const Value x = a.value("input");
                              const Plane p = plane_of(a, x);
                              std::vector<Expression> extents;
                              for (int d = 0; d < x.rank(); ++d)
                                if (d != p.first && d != p.second) extents.push_back(x.extent(d));
                              extents.emplace_back(p.length);
                              return inlined(extents, [&](const Axes &at) {
                                Axes from;
                                size_t next = 0;
                                for (int d = 0; d < x.rank(); ++d)
                                  from.push_back(d == p.first    ? at.back() + std::max<int64_t>(-p.offset, 0)
                                                 : d == p.second ? at.back() + std::max<int64_t>(p.offset, 0)
                                                                 : at[next++]);
                                return x.at(from);
                              });
                            }));

// x's last dimension as a diagonal of two new ones.
const nn::Function diag_embed("diag_embed", "input, offset=0, dim1=-2, dim2=-1", by_formula([](const Arguments &a) {
                                const Value x = a.value("input");
                                const int rank = x.rank() + 1;
                                const int64_t offset = a.integer("offset"), size = std::abs(offset);
                                const auto first = static_cast<size_t>(dimension(a.integer("dim1"), rank, a.owner())),
                                           second = static_cast<size_t>(dimension(a.integer("dim2"), rank, a.owner()));
                                if (first == second) a.refuse("dim2", "another one than dim1");
                                std::vector<Expression> extents = x.extents();
                                extents.pop_back();
                                const Expression square = x.extent(-1) + size;
                                extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(std::min(first, second)),
                                               square);
                                extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(std::max(first, second)),
                                               square);
                                return inlined(extents, [&](const Axes &at) {
                                  Axes from;
                                  for (size_t d = 0; d < at.size(); ++d)
                                    if (d != first && d != second) from.push_back(at[d]);
                                  const Expression row = at[first], column = at[second];
                                  from.push_back(offset >= 0 ? row : column);
                                  const Expression on = column == row + offset;
                                  return formula::select(on, x.at(from), constant(x.type(), 0));
                                });
                              }));
const nn::Function diag("diag", "input, diagonal=0", [](const Arguments &a) {
  const size_t rank = a.variable("input").shape().size();
  if (rank != 1 && rank != 2) a.refuse("input", "a vector or a matrix");
  return call(rank == 1 ? "diag_embed" : "diagonal", {a["input"], a["diagonal"]});
});
const nn::Function diagflat("diagflat", "input, offset=0", [](const Arguments &a) {
  return call("diag_embed", {reshape(a.variable("input"), {-1}), a["offset"]});
});
const nn::Function trace("trace", "input", [](const Arguments &a) {
  if (a.variable("input").shape().size() != 2) a.refuse("input", "a matrix");
  return call("sum", {call("diagonal", {a["input"]})});
});

// ---- Parts written over: input with src in the place of a part, which has src's shape.

// A tensor that is true where the part is, and src spread over it, come from the part's own way back.
const nn::Function diagonal_scatter("diagonal_scatter", "input, src, offset=0, dim1=0, dim2=1", [](const Arguments &a) {
  const Variable x = a.variable("input"), part = composed("diagonal", {x, a["offset"], a["dim1"], a["dim2"]});
  if (a.variable("src").shape() != part.shape()) a.refuse("src", "a tensor of " + to_string(part.shape()));
  int64_t count = x.size();
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) numbers[static_cast<size_t>(i)] = i;
  const Variable places =
      composed("diagonal", {Tensor::of<int64_t>(x.shape(), numbers), a["offset"], a["dim1"], a["dim2"]});
  return call("put", {x, reshape(places, {-1}), reshape(a.variable("src"), {-1})});
});

const nn::Function slice_written("slice_written", "input, src, dim, start, step", by_formula([](const Arguments &a) {
                                   const Value x = a.value("input"), src = a.value("src");
                                   const auto d = static_cast<size_t>(a.integer("dim"));
                                   const int64_t start = a.integer("start"), step = a.integer("step");
                                   return inlined(x.extents(), [&](const Axes &at) {
                                     Axes from = at;
                                     from[d] = quotient(at[d] - start, step);
                                     const Expression there = at[d] >= start && modulo(at[d] - start, step) == 0 &&
                                                              from[d] < src.extent(static_cast<int>(d));
                                     return formula::select(there, src.at(from), x.at(at));
                                   });
                                 }));
const nn::Function slice_scatter(
    "slice_scatter", "input, src, dim=0, start=None, end=None, step=1", [](const Arguments &a) {
      const Variable x = a.variable("input"), src = a.variable("src");
      const auto d = static_cast<size_t>(dimension(a.integer("dim"), x.rank(), a.owner()));
      const int64_t extent = x.shape()[d], step = a.integer("step");
      if (step < 1) a.refuse("step", "1 or more");
      const auto place = [&](const char *name, int64_t otherwise) {
        const int64_t p = a.has(name) ? a.integer(name) : otherwise;
        return std::min(std::max<int64_t>(p < 0 ? p + extent : p, 0), extent);
      };
      const int64_t start = place("start", 0), end = place("end", extent);
      Shape shape = x.shape();
      shape[d] = std::max<int64_t>((end - start + step - 1) / step, 0);
      if (src.shape() != shape) a.refuse("src", "a tensor of " + to_string(shape));
      return shape[d] == 0 ? x : composed("slice_written", {x, src, static_cast<int64_t>(d), start, step});
    });
const nn::Function select_scatter("select_scatter", "input, src, dim, index", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const int64_t d = dimension(a.integer("dim"), x.rank(), a.owner());
  const int64_t extent = x.shape()[static_cast<size_t>(d)], index = a.integer("index");
  if (index < -extent || index >= extent) a.refuse("index", "one below the extent, " + std::to_string(extent));
  const int64_t start = index < 0 ? index + extent : index;
  return call("slice_scatter", {x, call("unsqueeze", {a["src"], d}), d, start, start + 1});
});

// ---- Windows of one dimension, which become the last one: Tensor.unfold.

const nn::Function windows_along("windows_along", "input, dimension, size, step", by_formula([](const Arguments &a) {
                                   const Value x = a.value("input");
                                   const int64_t size = a.integer("size"), step = a.integer("step");
                                   if (x.rank() == 0) return inlined({size}, [&](const Axes &) { return x.at({}); });
                                   const int axis = dimension(a.integer("dimension"), x.rank(), a.owner());
                                   const auto d = static_cast<size_t>(axis);
                                   if (size < 0 || size > x.extent(axis)->integer)
                                     a.refuse("size", "at most the extent");
                                   if (step < 1) a.refuse("step", "1 or more");
                                   std::vector<Expression> extents = x.extents();
                                   extents[d] = quotient(x.extent(axis) - size, step) + 1;
                                   extents.emplace_back(size);
                                   return inlined(extents, [&](Axes at) {
                                     at[d] = at[d] * step + at.back();
                                     at.pop_back();
                                     return x.at(at);
                                   });
                                 }));

// ---- Products.

// (a0 b0, a1 b1, ...): each element of one by all of the other.
const nn::Function kron("kron", "input, other", [](const Arguments &a) {
  const Operands o = promoted(a);
  Shape left = o.a.shape(), right = o.b.shape(), shape;
  while (left.size() < right.size()) left.insert(left.begin(), 1);
  while (right.size() < left.size()) right.insert(right.begin(), 1);
  Shape apart_left, apart_right;
  for (size_t d = 0; d < left.size(); ++d) {
    apart_left.insert(apart_left.end(), {left[d], 1});
    apart_right.insert(apart_right.end(), {1, right[d]});
    shape.push_back(left[d] * right[d]);
  }
  return reshape(reshape(o.a, apart_left) * reshape(o.b, apart_right), shape);
});

// Over the last of one and the first of the other, or over pairs of dimensions.
const nn::Function tensordot("tensordot", "a, b, dims=2", [](const Arguments &g) {
  const Variable a = g.variable("a"), b = g.variable("b");
  std::vector<int64_t> left, right;
  if (const auto *count = g["dims"].as<int64_t>()) {
    const auto rank = static_cast<int64_t>(a.shape().size());
    if (*count < 0 || *count > rank || *count > static_cast<int64_t>(b.shape().size()))
      g.refuse("dims", "as many as both have");
    for (int64_t i = 0; i < *count; ++i) {
      left.push_back(rank - *count + i);
      right.push_back(i);
    }
  } else {
    const auto *lists = g["dims"].as<Argument::List>();
    if (!lists || lists->size() != 2) g.refuse("dims", "a number, or two lists of dimensions");
    for (size_t i = 0; i < 2; ++i) {
      const auto *list = lists->at(i).as<Argument::List>();
      if (!list) g.refuse("dims", "two lists of dimensions");
      for (const Argument &e : *list) {
        if (!e.as<int64_t>()) g.refuse("dims", "two lists of dimensions");
        (i == 0 ? left : right).push_back(dimension(*e.as<int64_t>(), (i == 0 ? a : b).rank(), g.owner()));
      }
    }
    if (left.size() != right.size()) g.refuse("dims", "two lists of one length");
  }
  std::string of_a, of_b, result;
  char next = 'a';
  for (size_t d = 0; d < a.shape().size(); ++d) of_a += next++;
  for (size_t d = 0; d < b.shape().size(); ++d) {
    const auto found = std::find(right.begin(), right.end(), static_cast<int64_t>(d));
    of_b += found == right.end() ? next++ : of_a[static_cast<size_t>(left[static_cast<size_t>(found - right.begin())])];
  }
  for (const char c : of_a)
    if (of_b.find(c) == std::string::npos) result += c;
  for (const char c : of_b)
    if (of_a.find(c) == std::string::npos) result += c;
  return call("einsum", {of_a + "," + of_b + "->" + result, std::vector<Variable>{a, b}});
});
const nn::Function inner("inner", "input, other", [](const Arguments &a) {
  const Variable x = a.variable("input"), y = a.variable("other");
  if (x.shape().empty() || y.shape().empty()) return x * y;
  return composed("tensordot", {x, y, {Argument::List{-1}, Argument::List{-1}}});
});
const nn::Function cross("cross", "input, other, dim=None", [](const Arguments &a) {
  const Variable x = a.variable("input"), y = a.variable("other");
  int64_t d = -1;
  for (size_t i = 0; i < x.shape().size() && !a.has("dim") && d < 0; ++i)
    if (x.shape()[i] == 3) d = static_cast<int64_t>(i);
  if (a.has("dim")) d = dimension(a.integer("dim"), x.rank(), a.owner());
  if (d < 0 || x.shape()[static_cast<size_t>(d)] != 3) a.refuse("dim", "a dimension of three");
  const auto turned = [&](const Variable &v, int64_t by) { return composed("roll", {v, by, d}); };
  return turned(x, -1) * turned(y, 1) - turned(x, 1) * turned(y, -1);
});
const nn::Function addr("addr", "input, vec1, vec2, *, beta=1, alpha=1", [](const Arguments &a) {
  const Argument product = call("mul", {call("outer", {a["vec1"], a["vec2"]}), a["alpha"]});
  if (a.real("beta") == 0) return product;
  return call("add", {product, call("mul", {a["input"], a["beta"]})});
});
const nn::Function addbmm("addbmm", "input, batch1, batch2, *, beta=1, alpha=1", [](const Arguments &a) {
  const Argument product = call("mul", {call("sum", {call("bmm", {a["batch1"], a["batch2"]}), 0}), a["alpha"]});
  if (a.real("beta") == 0) return product;
  return call("add", {product, call("mul", {a["input"], a["beta"]})});
});
const nn::Function dist("dist", "input, other, p=2.0", [](const Arguments &a) {
  const Operands o = promoted(a);
  return call("norm", {o.a - o.b, a["p"]});
});

}  // namespace

const void *diagonals() { return &diagonal; }

}  // namespace saltern::nn
