#include "runtime/formula/library_products.h"

#include <algorithm>

#include "dsl/product.h"
#include "runtime/kernels/kernels.h"

namespace saltern {

using formula::Expression;

namespace {

size_t place_of(const Expression &index, const std::vector<Expression> &dimensions) {
  size_t d = 0;
  while (!is_same(dimensions[d], index)) ++d;
  return d;
}

// Elements along these indices as one dimension of a matrix, if they lie like one.
std::optional<View::Dimension> as_one(const std::vector<Expression> &indices, const formula::ExactFormula &f,
                                      const std::vector<Expression> &dimensions, const Tensor &t) {
  View::Dimension all = {1, 1};
  for (auto i = indices.rbegin(); i != indices.rend(); ++i) {
    const size_t d = place_of(*i, dimensions);
    const int64_t extent = extent_of(*i, f), stride = t.strides()[d];
    if (extent > t.shape()[d]) return std::nullopt;
    if (all.extent == 1)
      all.stride = stride;
    else if (stride != all.stride * all.extent)
      return std::nullopt;
    all.extent *= extent;
  }
  return all;
}

}  // namespace

std::optional<Tensor> library_product(const formula::ExactFormula &f, const std::vector<Tensor> &operands) {
  if (f.type != Type::f32 || elements(f.shape) == 0) return std::nullopt;
  std::optional<formula::Product> p = formula::product_of(f);
  if (!p) return std::nullopt;
  const Tensor &a = operands.at(static_cast<size_t>(p->left->number)),
               &b = operands.at(static_cast<size_t>(p->right->number));
  for (const auto &[load, t] : {std::pair(p->left, a), std::pair(p->right, b)})
    if (t.type() != Type::f32 || t.rank() != static_cast<int>(load->arguments.size())) return std::nullopt;
  // A sum may go through its steps in the order of memory.
  const auto stride = [&](const Expression &i) { return a.strides()[place_of(i, p->left->arguments)]; };
  std::sort(p->steps.begin(), p->steps.end(),
            [&](const Expression &i, const Expression &j) { return stride(i) > stride(j); });
  const Tensor y = Tensor::empty(f.shape);
  const auto view = [&](const Tensor &t, const std::vector<Expression> &dimensions,
                        const std::vector<Expression> &inner,
                        const std::vector<Expression> &outer) -> std::optional<View> {
    const auto along = as_one(inner, f, dimensions, t), across = as_one(outer, f, dimensions, t),
               each = as_one(p->batch, f, dimensions, t);
    if (!along || !across || !each) return std::nullopt;
    return View(t, {*along, *across, *each});
  };
  const std::vector<Expression> axes = formula::axes_between(0, y.rank());
  const std::optional<View> left = view(a, p->left->arguments, p->steps, p->rows),
                            right = view(b, p->right->arguments, p->columns, p->steps),
                            result = view(y, axes, p->columns, p->rows);
  if (!left || !right || !result) return std::nullopt;
  call("matmul", {*left, *right, *result});
  return y;
}

}  // namespace saltern
