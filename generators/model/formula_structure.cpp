#include "generators/model/formula_structure.h"

#include <algorithm>
#include <optional>

namespace saltern::generators {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

namespace {

constexpr int most_vectors = 4;  // of partial results: they hide the latency of an addition

using IsIterator = std::function<bool(const Expression::Node &)>;

// How far an index moves when an axis or a step does; nothing where that is not always the same.
std::optional<int64_t> coefficient(const Expression &index, const IsIterator &is_iterator) {
  if (is_iterator(*index.get())) return 1;
  bool depends = false;
  formula::for_each_node(index, [&](const Expression::Node &n) { depends |= is_iterator(n); });
  if (!depends) return 0;
  if (index->kind != Kind::call || index->arguments.size() != 2) return std::nullopt;
  const auto a = coefficient(index->arguments[0], is_iterator), b = coefficient(index->arguments[1], is_iterator);
  if (!a || !b) return std::nullopt;
  if (index->function == Function::add) return *a + *b;
  if (index->function == Function::subtract) return *a - *b;
  return std::nullopt;
}

// What loads cost in vectors along an axis or a step, beside those of one element each: 1.
double cost_along(const Expression::Node &reduction, const IsIterator &is_iterator) {
  double cost = 0;
  bool depends = false;
  formula::for_each_node(reduction.arguments[0], [&](const Expression::Node &n) {
    depends |= is_iterator(n);
    if (n.kind != Kind::load) return;
    bool dense = true, fixed = true;
    for (size_t d = 0; d < n.arguments.size(); ++d) {
      const auto c = coefficient(n.arguments[d], is_iterator);
      fixed &= c == 0;
      dense &= c == (d + 1 == n.arguments.size() ? 1 : 0);
    }
    cost += fixed ? 0 : dense ? 0.2 : 1;
  });
  return depends ? cost : 1e9;
}

}  // namespace

RowSplit row_split(const Expression::Node &reduction, int innermost_axis, const Machine &m) {
  double least = cost_along(
      reduction, [&](const Expression::Node &n) { return n.kind == Kind::axis && n.number == innermost_axis; });
  RowSplit split;
  const int lanes = m.lanes(compute_type(reduction.arguments[0].type()));
  for (size_t s = 0; s < reduction.steps.size(); ++s) {
    if (reduction.steps[s].extent == 0) return {};
    if (reduction.steps[s].extent < lanes) continue;
    const double cost = cost_along(reduction, [id = reduction.steps[s].id](const Expression::Node &n) {
      return n.kind == Kind::step && n.number == id;
    });
    if (cost >= least) continue;
    least = cost;
    const auto vectors = static_cast<int>(std::min<int64_t>(reduction.steps[s].extent / lanes, most_vectors));
    split = {static_cast<int>(s), lanes, vectors == 3 ? 2 : vectors};
  }
  return split;
}

}  // namespace saltern::generators
