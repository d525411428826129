#include "generators/row_split.h"

#include "dsl/structure.h"
#include "generators/formula_functions.h"

namespace saltern::generators {

using formula::Expression;

namespace {

constexpr int64_t long_row = 512;  // from here on several vectors of partial results win more than joining them costs

}  // namespace

RowSplit row_split(const formula::Stage &s, const Machine &m) {
  // A product in parts overflows in one of them where the whole, with a 0 in another, does not.
  if (s.reduction == formula::Function::product || formula::classify(s) != formula::Pattern::row) return {};
  for (const Expression &l : formula::loads_in(s.element)) {
    if (l->arguments.empty()) continue;
    const Expression &innermost = l->arguments.back();
    if (innermost->kind != Expression::Kind::axis || innermost->number < s.rank) continue;
    const Expression &extent = s.extents[static_cast<size_t>(innermost->number)];
    const int lanes = m.lanes(compute_type(s.element.type()));
    const bool is_known = extent->kind == Expression::Kind::constant;
    if (is_known && extent->integer < lanes) return {};
    return {innermost->number - s.rank, lanes, is_known && extent->integer >= long_row ? 4 : 1};
  }
  return {};
}

}  // namespace saltern::generators
