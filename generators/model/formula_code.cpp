#include "generators/model/formula_code.h"

#include <algorithm>

#include "dsl/index_bounds.h"
#include "generators/element_code.h"
#include "runtime/error.h"

namespace saltern::generators {

using formula::Expression;
using Halide::Expr;

namespace {

class Writer : public ElementCode {
 public:
  Writer(const Expression &element, const std::vector<int64_t> &extents,
         const std::vector<std::vector<int64_t>> &operand_shapes, const ReadOperand &read)
      : ElementCode(minds_what_is_no_number(element), /*narrow=*/false),
        bounds_(extents),
        operand_shapes_(operand_shapes),
        read_(read) {}

 private:
  formula::Interval bounds(const Expression &e) override { return bounds_.of(e); }
  Expr carried() override { fail("a formula carries something and is no scan"); }
  Expr symbol(const Expression &e) override { fail("a formula reads '", e->name, "', which has no number yet"); }
  Expr reduction(const Expression &e, Scope &) override { fail("a reduction inside of an element: ", to_string(e)); }

  Expr load(const Expression &e, Scope &scope) override {
    const Expression::Node &n = *e.get();
    const std::vector<int64_t> &shape = operand_shapes_.at(static_cast<size_t>(n.number));
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return Halide::cast(compute_type(n.type), 0);
    std::vector<Expr> indices;
    for (size_t d = 0; d < n.arguments.size(); ++d) {
      const formula::Interval b = bounds_.of(n.arguments[d]);
      const Expr i = index(n.arguments[d], scope);
      const bool inside = b.least >= 0 && b.greatest < shape[d];
      indices.push_back(inside ? i : Halide::clamp(i, 0, static_cast<int>(shape[d]) - 1));
    }
    return from_storage(n.type, read_(n.number, indices));
  }

  formula::IndexBounds bounds_;
  const std::vector<std::vector<int64_t>> &operand_shapes_;
  const ReadOperand &read_;
};

}  // namespace

Expr formula_code(const Expression &element, const std::vector<Expr> &axes, const std::vector<int64_t> &extents,
                  const std::vector<std::vector<int64_t>> &operand_shapes, const ReadOperand &read) {
  Writer writer(element, extents, operand_shapes, read);
  Writer::Scope scope;
  scope.axes = axes;
  return to_storage(element.type(), writer.value(element, scope));
}

}  // namespace saltern::generators
