// Elements of tensors, elsewhere: other shapes, parts, and what indices name.

#include "algorithms/movement.h"
#include "algorithms/ranking.h"
#include "dsl/derivative.h"
#include "runtime/layers/indexing.h"
#include "runtime/layers/reduction.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using namespace formula;

size_t axis_of(const Arguments &a, const char *name, const Variable &x, int more = 0) {
  return static_cast<size_t>(dimension(a.integer(name), x.rank() + more, a.owner()));
}

// ---- Shapes.

const nn::Function reshape_of("reshape", "input, shape",
                              [](const Arguments &a) { return reshape(a.variable("input"), a.integers("shape")); });
const nn::Function view("view", "input, shape",
                        [](const Arguments &a) { return reshape(a.variable("input"), a.integers("shape")); });
const nn::Function unsqueeze("unsqueeze", "input, dim", [](const Arguments &a) {
  const Variable x = a.variable("input");
  Shape shape = x.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis_of(a, "dim", x, 1)), 1);
  return reshape(x, shape);
});
const nn::Function squeeze("squeeze", "input, dim=None", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const std::vector<int64_t> axes = axes_of(a, x.rank());
  Shape shape;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (x.shape()[static_cast<size_t>(d)] != 1 || !std::binary_search(axes.begin(), axes.end(), d))
      shape.push_back(x.shape()[static_cast<size_t>(d)]);
  return reshape(x, shape);
});
const nn::Function permute("permute", "input, dims", [](const Arguments &a) {
  const Variable x = a.variable("input");
  std::vector<int64_t> order;
  for (int64_t d : a.integers("dims")) order.push_back(dimension(d, x.rank(), a.owner()));
  return transpose(x, order);
});
const nn::Function transpose_of("transpose", "input, dim0, dim1", [](const Arguments &a) {
  const Variable x = a.variable("input");
  std::vector<int64_t> order = all_dimensions(x);
  if (!order.empty()) std::swap(order[axis_of(a, "dim0", x)], order[axis_of(a, "dim1", x)]);
  return transpose(x, order);
});
const nn::Function t("t", "input", [](const Arguments &a) {
  const Variable x = a.variable("input");
  if (x.shape().size() > 2) a.refuse("input", "a matrix");
  return x.shape().size() < 2 ? x : transposed(x);
});
// -1 keeps an extent.
const nn::Function expand_of("expand", "input, size", [](const Arguments &a) {
  const Variable x = a.variable("input");
  Shape shape = a.integers("size");
  if (shape.size() < x.shape().size()) a.refuse("size", "as many extents as the tensor has, or more");
  const size_t more = shape.size() - x.shape().size();
  for (size_t d = more; d < shape.size(); ++d)
    if (shape[d] == -1) shape[d] = x.shape()[d - more];
  return expand(x, shape);
});
const nn::Function repeat("repeat", "input, repeats", by_formula([](const Arguments &a) {
                            const Value x = a.value("input");
                            const std::vector<int64_t> times = a.integers("repeats");
                            if (times.size() < static_cast<size_t>(x.rank()))
                              a.refuse("repeats", "a number for each dimension");
                            const size_t more = times.size() - static_cast<size_t>(x.rank());
                            std::vector<Expression> extents;
                            for (size_t d = 0; d < times.size(); ++d)
                              extents.push_back(d < more ? Expression(times[d])
                                                         : x.extent(static_cast<int>(d - more)) * times[d]);
                            return inlined(extents, [&](const Axes &at) {
                              Axes from;
                              for (int d = 0; d < x.rank(); ++d)
                                from.push_back(modulo(at[more + static_cast<size_t>(d)], x.extent(d)));
                              return x.at(from);
                            });
                          }));

// ---- Parts.

// A tensor of shape (0) fits all others.
const nn::Function cat("cat", "tensors, dim=0", [](const Arguments &a) {
  const std::vector<Variable> all = a.variables("tensors");
  std::vector<Variable> parts;
  for (const Variable &x : all)
    if (x.shape() != Shape{0}) parts.push_back(x);
  return parts.empty() && !all.empty() ? all[0] : concat(parts, a.integer("dim"));
});
const nn::Function stack("stack", "tensors, dim=0", [](const Arguments &a) {
  std::vector<Variable> parts;
  for (const Variable &x : a.variables("tensors")) parts.push_back(variable_of(unsqueeze.call({x, a["dim"]})));
  return concat(parts, a.integer("dim"));
});
std::vector<Variable> parts_of(const Variable &x, size_t d, const std::vector<int64_t> &sizes) {
  std::vector<Variable> parts;
  int64_t begin = 0;
  for (int64_t size : sizes) {
    parts.push_back(slice(x, static_cast<int64_t>(d), begin, size));
    begin += size;
  }
  return parts;
}
std::vector<int64_t> cut(int64_t extent, int64_t size) {
  std::vector<int64_t> sizes;
  for (int64_t begin = 0; begin < extent; begin += size) sizes.push_back(std::min(size, extent - begin));
  return sizes;
}
const nn::Function split("split", "tensor, split_size_or_sections, dim=0", [](const Arguments &a) {
  const Variable x = a.variable("tensor");
  const size_t d = axis_of(a, "dim", x);
  const char *sizes = "split_size_or_sections";
  if (a[sizes].as<Argument::List>()) return parts_of(x, d, a.integers(sizes));
  if (a.integer(sizes) < 1) a.refuse(sizes, "at least 1");
  return parts_of(x, d, cut(x.shape()[d], a.integer(sizes)));
});
const nn::Function chunk("chunk", "input, chunks, dim=0", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const size_t d = axis_of(a, "dim", x);
  if (a.integer("chunks") < 1) a.refuse("chunks", "at least 1");
  return parts_of(x, d, cut(x.shape()[d], (x.shape()[d] + a.integer("chunks") - 1) / a.integer("chunks")));
});
Variable selected(const Variable &x, size_t d, int64_t index) {
  Shape shape = x.shape();
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
  return reshape(slice(x, static_cast<int64_t>(d), index, 1), shape);
}
const nn::Function select_of("select", "input, dim, index", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const size_t d = axis_of(a, "dim", x);
  const int64_t extent = x.shape()[d], index = a.integer("index");
  if (index < -extent || index >= extent) a.refuse_index("index", "one below the extent, " + std::to_string(extent));
  return selected(x, d, index < 0 ? index + extent : index);
});
const nn::Function unbind("unbind", "input, dim=0", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const size_t d = axis_of(a, "dim", x);
  std::vector<Variable> parts;
  for (int64_t i = 0; i < x.shape()[d]; ++i) parts.push_back(selected(x, d, i));
  return parts;
});
const nn::Function narrow("narrow", "input, dim, start, length", [](const Arguments &a) {
  return slice(a.variable("input"), a.integer("dim"), a.integer("start"), a.integer("length"));
});
// Every step-th of a part.
const nn::Function strided("strided_slice", "input, dim, start, length, step", [](const Arguments &a) {
  return saltern::strided_slice(a.variable("input"), a.integer("dim"), a.integer("start"), a.integer("length"),
                                a.integer("step"));
});

// ---- Elsewhere along dimensions.

const nn::Function flip("flip", "input, dims", by_formula([](const Arguments &a) {
                          const Value x = a.value("input");
                          if (a.integers("dims").empty()) return x;
                          const std::vector<int> axes = dimensions_of(a, x.rank(), "dims");
                          return inlined(x.extents(), [&](Axes at) {
                            for (int d : axes)
                              at[static_cast<size_t>(d)] = x.extent(d) - 1 - at[static_cast<size_t>(d)];
                            return x.at(at);
                          });
                        }));
const nn::Function rolled("roll_along", "input, shifts, dims", by_formula([](const Arguments &a) {
                            const Value x = a.value("input");
                            const std::vector<int64_t> shifts = a.integers("shifts"), dims = a.integers("dims");
                            if (shifts.size() != dims.size()) a.refuse("shifts", "one for each of dims");
                            return inlined(x.extents(), [&](Axes at) {
                              for (size_t i = 0; i < dims.size(); ++i) {
                                const int d = dimension(dims[i], x.rank(), a.owner());
                                Expression &place = at[static_cast<size_t>(d)];
                                place = modulo(place - shifts[i], x.extent(d));
                              }
                              return x.at(at);
                            });
                          }));
const nn::Function roll("roll", "input, shifts, dims=None", [](const Arguments &a) {
  const Variable x = a.variable("input");
  if (a.has("dims")) return variable_of(rolled.call({x, a["shifts"], a["dims"]}));
  return reshape(variable_of(rolled.call({reshape(x, {-1}), a["shifts"], 0})), x.shape());
});

ByFormula on_one_side(bool lower) {
  return by_formula([lower](const Arguments &a) {
    const Value x = a.value("input");
    if (x.rank() < 2) a.refuse("input", "a matrix, or several");
    const int64_t diagonal = a.integer("diagonal");
    return inlined(x.extents(), [&](const Axes &at) {
      const Expression row = at[at.size() - 2], column = at.back();
      const Expression is_there = lower ? column <= row + diagonal : row + diagonal <= column;
      return formula::select(is_there, x.at(at), constant(x.type(), 0));
    });
  });
}
const nn::Function tril("tril", "input, diagonal=0", on_one_side(true));
const nn::Function triu("triu", "input, diagonal=0", on_one_side(false));

// ---- By indices, which may be negative.

// Everything that indices name is checked here: kernels would read what is nearest.
void check_indices(const Arguments &a, const char *name, const Variable &index, int64_t extent) {
  if (is_real(index.type())) a.refuse(name, "a tensor of whole numbers");
  expect_inside(a.owner() + ": '" + name + "'", index, extent);
}

const nn::Function gathered("gather_along", "input, dim, index", by_formula([](const Arguments &a) {
                              const Value x = a.value("input"), index = a.value("index");
                              const int d = dimension(a.integer("dim"), x.rank(), a.owner());
                              return compute("gathered", index.extents(), [&](const Axes &at) {
                                return x.at(algorithms::with_index(at, d, counted(index.at(at), x.extent(d))));
                              });
                            }));
// A tensor without dimensions has one to PyTorch, of one element.
Variable with_dimension(const Variable &x) { return x.shape().empty() ? reshape(x, {1}) : x; }
bool has_number(const Arguments &a, const char *name) { return a.variable(name).shape().empty(); }

const nn::Function gather("gather", "input, dim, index", [](const Arguments &a) -> Argument {
  const Variable x = with_dimension(a.variable("input")), index = with_dimension(a.variable("index"));
  const size_t d = axis_of(a, "dim", x);
  if (index.size() == 0) return Variable(Tensor::empty(index.shape(), x.type()));  // whatever its rank
  if (index.shape().size() != x.shape().size()) a.refuse("index", "a tensor of the input's rank");
  for (size_t i = 0; i < index.shape().size(); ++i)
    if (i != d && index.shape()[i] > x.shape()[i]) a.refuse("index", "no larger than the input beside `dim`");
  check_indices(a, "index", index, x.shape()[d]);
  const Argument y = gathered.call({x, a["dim"], index});
  return has_number(a, "index") ? Argument(reshape(variable_of(y), {})) : y;
});
const nn::Function index_selected("index_select_along", "input, dim, index", by_formula([](const Arguments &a) {
                                    const Value x = a.value("input"), index = a.value("index");
                                    const int d = dimension(a.integer("dim"), x.rank(), a.owner());
                                    return compute(
                                        "selected", algorithms::with_index(x.extents(), d, index.extent(0)),
                                        [&](const Axes &at) {
                                          const Expression i = index(at[static_cast<size_t>(d)]);
                                          return x.at(algorithms::with_index(at, d, counted(i, x.extent(d))));
                                        });
                                  }));
const nn::Function index_select("index_select", "input, dim, index", [](const Arguments &a) -> Argument {
  const Variable x = with_dimension(a.variable("input")), index = with_dimension(a.variable("index"));
  if (index.shape().size() != 1) a.refuse("index", "a tensor of rank 1");
  check_indices(a, "index", index, x.shape()[axis_of(a, "dim", x)]);
  const Argument y = index_selected.call({x, a["dim"], index});
  return has_number(a, "input") && index.size() == 1 ? Argument(reshape(variable_of(y), {})) : y;
});

// x[i, j, ...] with index tensors for some dimensions.
const nn::Function index_of("index", "input, dims, indices", [](const Arguments &a) {
  return saltern::indexed(a.variable("input"), a.integers("dims"), a.variables("indices"));
});

// input with src added where index says: the way back of gathering.
const nn::Function scattered("scatter_add_along", "input, dim, index, src", by_formula([](const Arguments &a) {
                               const Value x = a.value("input"), index = a.value("index"), all = a.value("src");
                               const int d = dimension(a.integer("dim"), x.rank(), a.owner());
                               const Value from = inlined(index.extents(), [&](const Axes &at) { return all.at(at); });
                               return x + adjoint(x.extents(), from, [&](const Value &to) {
                                        return compute("gathered", index.extents(), [&](const Axes &at) {
                                          return to.at(
                                              algorithms::with_index(at, d, counted(index.at(at), x.extent(d))));
                                        });
                                      });
                             }));
const nn::Function scatter_add("scatter_add", "input, dim, index, src", [](const Arguments &a) -> Argument {
  const Variable x = with_dimension(a.variable("input")), index = with_dimension(a.variable("index")),
                 from = with_dimension(a.variable("src"));
  const auto shaped = [&](const Argument &y) { return reshape(variable_of(y), a.variable("input").shape()); };
  const size_t d = axis_of(a, "dim", x);
  for (size_t i = 0; i < x.shape().size(); ++i) {
    if (index.shape().size() != x.shape().size() || (i != d && index.shape()[i] > x.shape()[i]))
      a.refuse("index", "a tensor of the input's rank, no larger beside `dim`");
    if (from.shape().size() != x.shape().size() || from.shape()[i] < index.shape()[i])
      a.refuse("src", "a tensor of the index's rank, no smaller");
  }
  check_indices(a, "index", index, x.shape()[d]);
  if (is_real(x.type())) return shaped(scattered.call({x, a["dim"], index, from}));
  // The way back of gathering is a gradient, which whole numbers have none of.
  const Argument sums = scattered.call({to_type(x, Type::f64), a["dim"], index, to_type(from, Type::f64)});
  return to_type(shaped(sums), x.type());
});

}  // namespace

const void *movement() { return &reshape_of; }

}  // namespace saltern::nn
