#include "runtime/autograd/joining.h"

#include <algorithm>
#include <map>

#include "algorithms/elementwise.h"
#include "dsl/structure.h"
#include "runtime/layers/movement.h"

namespace saltern {

using formula::Expression;
using Way = Joining::Way;

namespace {

const std::map<std::string, Joining> &ways_of_joining() {
  static const auto *rows = [] {
    auto *all = new std::map<std::string, Joining>{
        {"dense", {Way::rows, {1, 2}}},
        {"rows_at", {Way::rows, {1}}},
        {"rnn_cell", {Way::rows, {2, 3, 4, 5}}},
        {"gru_cell", {Way::rows, {2, 3, 4, 5}}},
        {"lstm_cell", {Way::rows, {3, 4, 5, 6}}},
        {"embedding.rows", {Way::rows, {1}}},
        {"cross_entropy", {Way::rows}},
        {"reshape", {Way::dimension}},
        {"transpose", {Way::dimension}},
        {"slice", {Way::dimension}},
        {"concat", {Way::dimension}},
        {"sum", {Way::dimension}},
        {"softmax", {Way::dimension}},
        {"log_softmax", {Way::dimension}},
        {"expand", {Way::broadcast}},
        {"matmul", {Way::broadcast}},
    };
    for (const auto &row : algorithms::unary_rows()) (*all)[row.name] = {Way::dimension};
    for (const auto &row : algorithms::binary_rows()) (*all)[row.name] = {Way::broadcast};
    return all;
  }();
  return *rows;
}

// ---- Formulas.

// The element of a result whose operands stand in it as `marks`, which are read nowhere but at the result's own place;
// undefined where that is not so.
Expression of_marks(const Value &y, const Values &in, const Values &marks) {
  bool is_plain = true;
  const Expression element = transformed(written_out(y), [&](const Expression &e) {
    if (e->kind != Expression::Kind::load) return Expression();
    const auto which = std::find_if(in.begin(), in.end(), [&](const Value &x) { return x.get() == e->stage.get(); });
    if (which == in.end()) return is_plain = false, Expression();
    const int more = y.rank() - which->rank();
    for (int d = 0; d < which->rank(); ++d)
      is_plain &=
          is_number(which->extent(d), 1) || is_same(e->arguments[static_cast<size_t>(d)], formula::axis(d + more));
    return marks[static_cast<size_t>(which - in.begin())].at({});
  });
  return is_plain && axes_in(element).empty() ? element : Expression();
}

// Whether each element of a result is the same function of the operands' elements there, whatever the shape.
bool is_elementwise(const Operation &operation, const std::vector<Variable> &inputs, const Attributes &attributes) {
  if (!operation.algorithm || inputs.empty()) return false;
  size_t rank = 0;
  for (const Variable &v : inputs) rank = std::max(rank, v.shape().size());
  std::vector<std::vector<Expression>> elements;
  Values marks;
  for (const Variable &v : inputs) marks.push_back(formula::input("mark" + std::to_string(marks.size()), {}, v.type()));
  for (const bool joined : {false, true}) {
    Values in;
    for (const Variable &v : inputs) {
      std::vector<Expression> extents(v.shape().begin(), v.shape().end());
      if (joined) {
        extents.insert(extents.begin(), rank - extents.size(), 1);
        extents.insert(extents.begin(), 3);
      }
      in.push_back(formula::input("x" + std::to_string(in.size()), extents, v.type()));
    }
    elements.emplace_back();
    for (const Value &y : operation.algorithm(in, attributes)) {
      if (!y->is_map() || y.rank() != static_cast<int>(rank) + (joined ? 1 : 0)) return false;
      elements.back().push_back(of_marks(y, in, marks));
      if (!elements.back().back().defined()) return false;
    }
  }
  return std::equal(elements[0].begin(), elements[0].end(), elements[1].begin(), elements[1].end(), formula::is_same);
}

// ---- Shapes and attributes.

Shape in_front(int64_t n, const Shape &shape, size_t rank) {
  Shape all(rank - shape.size() + 1, 1);
  all[0] = n;
  all.insert(all.end(), shape.begin(), shape.end());
  return all;
}

// Of an operation whose dimensions have one more in front.
Attributes with_dimension(const Attributes &a, int rank, int64_t n) {
  Attributes all = a;
  const auto next = [&](int64_t d) { return int64_t{dimension(d, rank, a.owner()) + 1}; };
  const auto nexts = [&](std::vector<int64_t> dims) {
    std::transform(dims.begin(), dims.end(), dims.begin(), next);
    return dims;
  };
  if (a.has("axis")) all.set("axis", next(a.integer("axis")));
  if (a.has("axes")) all.set("axes", nexts(a.integers("axes")));
  if (a.has("shape")) all.set("shape", in_front(n, a.integers("shape"), a.integers("shape").size()));
  if (a.has("order")) {
    std::vector<int64_t> order = nexts(a.integers("order"));
    order.insert(order.begin(), 0);
    all.set("order", order);
  }
  return all;
}

Variable shaped(const Variable &v, const Shape &shape) { return v.shape() == shape ? v : reshape(v, shape); }

}  // namespace

bool Joining::shares(size_t input) const { return std::find(shared.begin(), shared.end(), input) != shared.end(); }

Joining joining_of(const Operation &operation, const std::vector<Variable> &inputs, const Attributes &attributes) {
  for (const Variable &v : inputs)  // gradients are added in these
    if (is_real(v.type()) && v.type() != Type::f32 && v.type() != Type::f64) return {};
  if (inputs.empty() || (operation.name == "rows_at" && attributes.integer("by_frequency") != 0)) return {};
  // Products with one matrix have more rows; with as many as there are, each is one of its own.
  if (operation.name == "matmul" && inputs[0].rank() == 2 && inputs[1].rank() == 2 && inputs[1].is_leaf() &&
      inputs[1].requires_gradient())
    return {Way::rows, {1}};
  const auto row = ways_of_joining().find(operation.name);
  const bool is_cell = row != ways_of_joining().end() && row->second.way == Way::rows && row->second.shares(3);
  if (is_cell && inputs[0].rank() != 2) return {};
  if (row != ways_of_joining().end()) return row->second;
  return is_elementwise(operation, inputs, attributes) ? Joining{Way::broadcast} : Joining{};
}

std::vector<Variable> apply_joined(const Joining &by, const Operation &operation, int64_t n,
                                   std::vector<Variable> inputs, const std::vector<bool> &is_joined,
                                   const Attributes &attributes, const std::vector<Shape> &results) {
  const bool has_rows = by.way == Way::rows;
  const int rank = inputs[0].rank() - (is_joined[0] ? 1 : 0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_joined[i]) continue;
    Shape shape = inputs[i].shape();
    shape.erase(shape.begin());
    if (has_rows)
      shape[0] *= n;
    else
      shape = in_front(n, shape, by.way == Way::broadcast ? std::max(shape.size(), results[0].size()) : shape.size());
    inputs[i] = shaped(inputs[i], shape);
  }
  std::vector<Variable> all = apply(operation, inputs, has_rows ? attributes : with_dimension(attributes, rank, n));
  // Behind its results, a formula gives what its own gradient reads, which may be something else for more rows.
  all.resize(std::min(all.size(), results.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    const Shape shape = in_front(n, results[i], results[i].size());
    if (all[i].size() == elements(shape))
      all[i] = shaped(all[i], shape);
    else if (i > 0)
      all[i] = Variable();
    else
      fail("operation '", operation.name, "' gives ", to_string(all[i].shape()), " for ", n, " of ",
           to_string(results[i]), " in a batch");
  }
  return all;
}

}  // namespace saltern
