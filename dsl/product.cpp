#include "dsl/product.h"

#include <algorithm>

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

bool is_read_along(const Expression &load, const Expression &index) {
  return std::any_of(load->arguments.begin(), load->arguments.end(),
                     [&](const Expression &i) { return is_same(i, index); });
}

// Each index once, and nothing but these.
bool is_plain(const Expression &load, const std::vector<Expression> &indices) {
  if (load->kind != Kind::load) return false;
  for (size_t d = 0; d < load->arguments.size(); ++d) {
    const Expression &i = load->arguments[d];
    if (is_number(i, 0)) continue;
    const auto is_it = [&](const Expression &other) { return is_same(i, other); };
    if (std::none_of(indices.begin(), indices.end(), is_it)) return false;
    if (std::count_if(load->arguments.begin(), load->arguments.end(), is_it) > 1) return false;
  }
  return true;
}

}  // namespace

int64_t extent_of(const Expression &index, const ExactFormula &f) {
  return index->kind == Kind::axis ? f.shape[static_cast<size_t>(index->number)] : index->integer;
}

std::optional<Product> product_of(const ExactFormula &f) {
  if (!f.element.defined() || f.is_scatter() || f.is_scan()) return std::nullopt;
  if (f.element->kind != Kind::reduce || f.element->function != Function::sum) return std::nullopt;
  const Expression &both = f.element->arguments[0];
  if (both->kind != Kind::call || both->function != Function::multiply) return std::nullopt;

  std::vector<Expression> axes, steps;
  for (const Expression &a : axes_between(0, static_cast<int>(f.shape.size())))
    if (extent_of(a, f) != 1) axes.push_back(a);
  for_each_node(both, [&](const Expression::Node &n) {
    if (n.kind == Kind::step) steps.push_back(interned(n));
  });
  if (axes.empty() || steps.size() != f.element->steps.size()) return std::nullopt;
  std::sort(steps.begin(), steps.end(), [&](const Expression &a, const Expression &b) {
    const auto place = [&](const Expression &s) {
      const auto &all = f.element->steps;
      return std::find_if(all.begin(), all.end(), [&](const ReductionStep &r) { return r.id == s->number; }) -
             all.begin();
    };
    return place(a) < place(b);
  });

  Product p = {both->arguments[0], both->arguments[1]};
  if (is_read_along(p.left, axes.back())) std::swap(p.left, p.right);
  std::vector<Expression> indices = axes;
  indices.insert(indices.end(), steps.begin(), steps.end());
  if (!is_plain(p.left, indices) || !is_plain(p.right, indices) || is_read_along(p.left, axes.back()))
    return std::nullopt;
  for (const Expression &a : axes) {
    const bool left = is_read_along(p.left, a), right = is_read_along(p.right, a);
    if (!left && !right) return std::nullopt;
    (left && right ? p.batch : left ? p.rows : p.columns).push_back(a);
  }
  for (const Expression &s : steps)
    if (!is_read_along(p.left, s) || !is_read_along(p.right, s) || extent_of(s, f) <= 0) return std::nullopt;
  p.steps = steps;
  return p;
}

}  // namespace saltern::formula
