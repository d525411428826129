#include "runtime/layers/indexing.h"

#include <algorithm>

#include "algorithms/movement.h"
#include "runtime/layers/reduction.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

using formula::Axes;
using formula::Expression;

Expression counted(const Expression &number, const Expression &extent) {
  const Expression i = formula::cast(Type::i64, number);
  return formula::select(i < 0, i + extent, i);
}

void expect_inside(const std::string &who, const Variable &numbers, int64_t extent) {
  if (is_real(numbers.type())) fail(who, " is a tensor of ", facts(numbers.type()).name, "; expected whole numbers");
  if (numbers.value().is_outline()) return;
  for (int64_t i : numbers.value().integers())
    if (i < -extent || i >= extent)
      throw BadIndex(who + " names " + std::to_string(i) + "; the dimension has " + std::to_string(extent) +
                     " elements");
}

namespace operations {

// Attributes: axis, begin, count, step
const Operation strided_slice("strided_slice", [](const Values &in, const Attributes &a) -> Values {
  const Value &x = in.at(0);
  const auto d = static_cast<size_t>(a.integer("axis")), rank = static_cast<size_t>(x.rank());
  std::vector<Expression> extents = x.extents();
  extents.at(d) = a.integer("count");
  Shape begins(rank, 0), steps(rank, 1);
  begins[d] = a.integer("begin");
  steps[d] = a.integer("step");
  return {algorithms::strided(x, begins, steps, extents)};
});

// x, then numbers of one shape for each of the dimensions. Attributes: dims
const Operation indexed("indexed", [](const Values &in, const Attributes &at_dimensions) -> Values {
  const Value &x = in.at(0);
  const std::vector<int64_t> &dims = at_dimensions.integers("dims");
  const Values indices(in.begin() + 1, in.end());
  const auto index_rank = static_cast<size_t>(indices.at(0).rank());
  std::vector<Expression> extents;
  const bool together = dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size());
  const size_t place = together ? static_cast<size_t>(dims.front()) : 0;
  for (int d = 0; d < x.rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) extents.push_back(x.extent(d));
  const std::vector<Expression> named = indices[0].extents();
  extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(place), named.begin(), named.end());
  return {compute("indexed", extents, [&](const Axes &at) {
    const auto begin = at.begin() + static_cast<std::ptrdiff_t>(place);
    const Axes which(begin, begin + static_cast<std::ptrdiff_t>(index_rank));
    Axes rest(at.begin(), begin), from;
    rest.insert(rest.end(), begin + static_cast<std::ptrdiff_t>(index_rank), at.end());
    size_t next = 0;
    for (int d = 0; d < x.rank(); ++d) {
      const auto found = std::find(dims.begin(), dims.end(), d);
      from.push_back(found == dims.end()
                         ? rest[next++]
                         : counted(indices[static_cast<size_t>(found - dims.begin())].at(which), x.extent(d)));
    }
    return x.at(from);
  })};
});

}  // namespace operations

Variable strided_slice(const Variable &x, int64_t axis, int64_t begin, int64_t count, int64_t step) {
  const int64_t d = dimension(axis, x.rank(), "strided_slice"), extent = x.shape()[static_cast<size_t>(d)];
  if (step < 1 || begin < 0 || count < 0 || (count > 0 && (begin >= extent || count - 1 > (extent - 1 - begin) / step)))
    fail("strided_slice: ", count, " elements from ", begin, " on, by ", step, ", of ", extent);
  return apply_one(operations::strided_slice, {x}, {{"axis", d}, {"begin", begin}, {"count", count}, {"step", step}});
}

Variable indexed(const Variable &x, const std::vector<int64_t> &dimensions, const std::vector<Variable> &numbers) {
  if (numbers.empty() || dimensions.size() != numbers.size())
    fail("index: ", numbers.size(), " tensors of numbers for ", dimensions.size(), " dimensions");
  std::vector<int64_t> dims;
  Shape shape;
  for (size_t i = 0; i < numbers.size(); ++i) {
    dims.push_back(dimension(dimensions[i], x.rank(), "index"));
    expect_inside("index: 'indices'", numbers[i], x.shape()[static_cast<size_t>(dims.back())]);
    shape = broadcast_shape(shape, numbers[i].shape(), "indices");
  }
  std::vector<Variable> in = {x};
  for (const Variable &i : numbers) in.push_back(expand(i, shape));
  return apply_one(operations::indexed, in, {{"dims", dims}});
}

Index::Index(const std::vector<int64_t> &numbers)
    : of(Variable(Tensor::of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers))) {}

namespace {

bool is_mask(const Index &i) {
  const auto *v = std::get_if<Variable>(&i.of);
  return v && v->type() == Type::boolean;
}

// How many dimensions of x it speaks of.
size_t dimensions_of(const Index &i) {
  if (is_mask(i)) return std::get<Variable>(i.of).shape().size();
  return std::holds_alternative<Dots>(i.of) || std::holds_alternative<NewAxis>(i.of) ? 0 : 1;
}

// The same with `all` for dimensions that nothing speaks of.
std::vector<Index> completed(const std::vector<Index> &index, size_t rank) {
  size_t used = 0, all_dots = 0;
  for (const Index &i : index) {
    used += dimensions_of(i);
    all_dots += std::holds_alternative<Dots>(i.of);
  }
  if (all_dots > 1) throw BadIndex("an index has more than one ...");
  if (used > rank)
    throw BadIndex(std::to_string(used) + " indices for a tensor of " + std::to_string(rank) + " dimensions");
  const std::vector<Index> rest(rank - used, all);
  std::vector<Index> whole;
  for (const Index &i : index)
    if (std::holds_alternative<Dots>(i.of))
      whole.insert(whole.end(), rest.begin(), rest.end());
    else
      whole.push_back(i);
  if (all_dots == 0) whole.insert(whole.end(), rest.begin(), rest.end());
  return whole;
}

class Picking {
 public:
  explicit Picking(const Variable &x) : x_(x) {}

  void operator()(int64_t number) {
    const int64_t extent = here();
    if (number < -extent || number >= extent)
      throw BadIndex("index " + std::to_string(number) + " of a dimension of " + std::to_string(extent));
    Shape shape = x_.shape();
    shape.erase(shape.begin() + dimension_);
    x_ = reshape(slice(x_, dimension_, number < 0 ? number + extent : number, 1), shape);
  }
  void operator()(const Slice &s) {
    if (s.step < 1) fail("an index has a step of ", s.step, "; expected at least 1: flip() turns a tensor round");
    const int64_t extent = here();
    const auto place = [&](const std::optional<int64_t> &given, int64_t otherwise) {
      return given ? std::clamp<int64_t>(*given < 0 ? *given + extent : *given, 0, extent) : otherwise;
    };
    const int64_t begin = place(s.begin, 0), end = std::max(begin, place(s.end, extent));
    const int64_t count = (end - begin) / s.step + ((end - begin) % s.step != 0 ? 1 : 0);
    if (count != extent)
      x_ = s.step == 1 ? slice(x_, dimension_, begin, count) : strided_slice(x_, dimension_, begin, count, s.step);
    ++dimension_;
  }
  void operator()(Dots) {}
  void operator()(NewAxis) {
    Shape shape = x_.shape();
    shape.insert(shape.begin() + dimension_++, 1);
    x_ = reshape(x_, shape);
  }
  void operator()(const Variable &v) {
    if (v.type() == Type::boolean) return pick_where(v.value());
    dimensions_.push_back(dimension_++);
    numbers_.push_back(v);
  }
  Variable result() const { return numbers_.empty() ? x_ : indexed(x_, dimensions_, numbers_); }

 private:
  int64_t here() const { return x_.shape().at(static_cast<size_t>(dimension_)); }

  // The places where the mask is true, a list of them for each of its dimensions.
  void pick_where(const Tensor &mask) {
    const Shape shape = mask.shape(),
                of(x_.shape().begin() + dimension_, x_.shape().begin() + dimension_ + mask.rank());
    if (shape != of) throw BadIndex("a mask of " + to_string(shape) + " for dimensions of " + to_string(of));
    std::vector<std::vector<int64_t>> places(shape.size());
    const std::vector<int64_t> truths = mask.integers();
    for (size_t i = 0; i < truths.size(); ++i) {
      if (truths[i] == 0) continue;
      auto rest = static_cast<int64_t>(i);
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) places[d].push_back(rest % shape[d]);
    }
    for (const std::vector<int64_t> &along : places) {
      dimensions_.push_back(dimension_++);
      numbers_.push_back(std::get<Variable>(Index(along).of));
    }
  }

  Variable x_;
  int64_t dimension_ = 0;
  std::vector<int64_t> dimensions_;
  std::vector<Variable> numbers_;
};

}  // namespace

Variable part_of(const Variable &x, const std::vector<Index> &index) {
  Picking pick(x);
  for (const Index &i : completed(index, x.shape().size())) std::visit(pick, i.of);
  return pick.result();
}

Variable Variable::operator[](std::initializer_list<Index> index) const { return part_of(*this, index); }
Variable Variable::operator[](const Index &index) const { return part_of(*this, {index}); }

}  // namespace saltern
