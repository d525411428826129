#include "runtime/graph/open_sizes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/graph/executor.h"
#include "runtime/graph/formula_node.h"
#include "runtime/graph/text.h"

namespace saltern {

namespace {

constexpr int64_t largest_product = int64_t{1} << 60;
// The count of a mean has so many factors that are no sizes. Of f32's reciprocals, one in a hundred fits some larger count.
constexpr double largest_count = 1 << 16;

// The products of sizes that are no sums.
std::vector<OpenProduct> plain_products_of(const OpenSizes &sizes) {
  OpenSizes plain;
  for (const auto &s : sizes)
    if (s.second.by != 1) plain.insert(s);
  return products_of(plain);
}

// Puts numbers in the place of those that stand for sizes.
class Replacement {
 public:
  Replacement(const OpenSizes &open, const Graph::Sizes &given) : products_(products_of(open)) {
    for (const auto &[name, size] : open)
      if (size.by == 0) numbers_[name] = given.at(name);
    const std::vector<OpenProduct> plain = plain_products_of(open);
    const auto is_known = [&](const std::string &name) { return numbers_.count(name) > 0; };
    for (bool found = true; found;) {  // quotients may be of others
      found = false;
      for (const auto &[name, size] : open) {
        const OpenNumber of = open_number(size.of, plain);
        if (is_known(name) || !std::all_of(of.names.begin(), of.names.end(), is_known)) continue;
        numbers_[name] = number(of) / size.by;
        found = true;
      }
    }
    if (numbers_.size() < open.size()) fail("a size is a quotient of itself");
  }

  int64_t integer(int64_t n) const { return number(open_number(n, products_)); }

  // A whole number, or the reciprocal of one, which may have been rounded to f32. Of several that it can be, the one whose
  // count has most of it from sizes.
  double real(double number) const {
    if (number == std::floor(number) && std::abs(number) < 1e18)
      return static_cast<double>(integer(static_cast<int64_t>(number)));
    double least = largest_count;
    const OpenProduct *best = nullptr;
    for (const OpenProduct &p : products_) {
      const auto of = static_cast<double>(p.number), count = std::round(1 / (number * of)), is = 1 / (count * of);
      if (count < 1 || count >= least || (is != number && static_cast<float>(is) != number)) continue;
      least = count;
      best = &p;
    }
    return best ? 1 / (least * static_cast<double>(product(best->names))) : number;
  }

  Shape shape(Shape all) const {
    for (int64_t &extent : all) extent = integer(extent);
    return all;
  }

  formula::Expression expression(const formula::Expression &e) const {
    using Kind = formula::Expression::Kind;
    return transformed(e, [&](const formula::Expression &at) -> formula::Expression {
      if (at->kind == Kind::reduce) return reduction(at);
      if (at->kind != Kind::constant || at.type() == Type::boolean) return {};
      return is_real(at.type()) ? formula::constant(at.type(), real(at->real))
                                : formula::constant_integer(at.type(), integer(at->integer));
    });
  }

  Attribute operator()(int64_t a) const { return integer(a); }
  Attribute operator()(double a) const { return real(a); }
  Attribute operator()(const std::vector<int64_t> &a) const { return shape(a); }
  Attribute operator()(const formula::Expression &a) const { return expression(a); }
  template <typename Other>
  Attribute operator()(const Other &a) const {
    return a;
  }

 private:
  int64_t number(const OpenNumber &open) const {
    if (!open.is_open()) return open.rest;
    const int64_t of = product(open.names);
    if (of > largest_product / std::abs(open.factor)) fail(to_string(open), " is too large for these sizes");
    return open.factor * of + open.rest;
  }

  int64_t product(const std::vector<std::string> &names) const {
    int64_t all = 1;
    bool none = false;
    for (const std::string &n : names) {
      const int64_t number = numbers_.at(n);
      if (number < 0) fail("the size '", n, "' is ", number);
      if (number > largest_product / all) fail("the size '", n, "' of ", number, " is too large");
      all *= std::max<int64_t>(number, 1);
      none |= number == 0;
    }
    return none ? 0 : all;
  }

  // Over steps of its own, since extents belong to steps.
  formula::Expression reduction(const formula::Expression &e) const {
    std::vector<int64_t> extents;
    bool same = true;
    for (const formula::ReductionStep &s : e->steps) {
      extents.push_back(integer(s.extent));
      same &= extents.back() == s.extent;
    }
    if (same) return {};
    return reduce(e->function, extents, [&](const std::vector<formula::Expression> &steps) {
      return transformed(e->arguments[0], [&](const formula::Expression &at) -> formula::Expression {
        for (size_t i = 0; i < steps.size(); ++i)
          if (at->kind == formula::Expression::Kind::step && at->number == e->steps[i].id) return steps[i];
        return {};
      });
    });
  }

  const std::vector<OpenProduct> products_;
  Graph::Sizes numbers_;
};

}  // namespace

OpenNumber numerator_of(const OpenSize &size, const OpenSizes &sizes) {
  return open_number(size.of, plain_products_of(sizes));
}

OpenSizes with_sums(OpenSizes sizes, const NamedMap<Graph::Value> &values) {
  const std::vector<OpenProduct> products = plain_products_of(sizes);
  for (const auto &[name, v] : values)
    for (int64_t extent : v.constant.defined() ? Shape() : v.shape)
      if (const OpenNumber n = open_number(extent, products); n.is_open() && n.rest != 0)
        sizes.emplace(to_string(n), OpenSize{extent, extent, 1});
  return sizes;
}

bool is_open(const Attribute &a, const OpenSizes &sizes) {
  if (sizes.empty()) return false;
  Graph::Sizes others;
  for (const auto &[name, s] : sizes) others[name] = 2;
  return !is_same(std::visit(Replacement(sizes, others), a), a);
}

OpenSizes stand_ins(const std::vector<std::string> &names) {
  OpenSizes all;
  for (const std::string &n : names) {
    if (!is_plain_name(n)) fail("'", n, "' is no name for a size");
    all.emplace(n, OpenSize{next_stand_in(all)});
  }
  return all;
}

namespace {

// By the operations themselves; formulas are of any extent.
void expect_shapes_to_fit(const Graph &graph) {
  const OnlyOutlines outlines;
  for (const Graph::Node &n : graph.nodes) {
    if (is_formula_node(n) || !find_operation(n.operation)) continue;
    std::vector<Tensor> in;
    for (const std::string &i : n.inputs) in.push_back(Tensor::outline(graph.value(i).shape, graph.value(i).type));
    const std::vector<Tensor> out = compute_node(graph, n, in);
    for (size_t o = 0; o < n.outputs.size() && o < out.size(); ++o)
      if (const Shape &shape = graph.value(n.outputs[o]).shape; shape != out[o].shape())
        fail(describe(n), " makes ", to_string(out[o].shape()), " at these sizes; the graph says ", to_string(shape));
  }
}

}  // namespace

Graph at_sizes(const Graph &graph, const Graph::Sizes &sizes) {
  for (const auto &[name, size] : graph.sizes) {
    if (size.by > 0) continue;
    const auto given = sizes.find(name);
    if (given == sizes.end()) fail("the size '", name, "' is open; give it");
    if (given->second < 0) fail("the size '", name, "' is ", given->second);
  }
  if (graph.sizes.empty()) return graph;
  Graph closed = graph;
  closed.sizes.clear();
  const Replacement at(graph.sizes, sizes);
  for (auto &[name, v] : closed.values)
    if (!v.constant.defined()) v.shape = at.shape(v.shape);
  for (Graph::Node &n : closed.nodes) {
    Attributes attributes;
    for (const auto &[name, a] : n.attributes) attributes.set(name, std::visit(at, a));
    n.attributes = std::move(attributes);
  }
  validate(closed);
  expect_shapes_to_fit(closed);
  return closed;
}

Graph::Sizes sizes_of(const Graph &graph, const std::map<std::string, Shape> &inputs) {
  Graph::Sizes found;
  for (const auto &[name, shape] : inputs) {
    const Graph::Value v = with_names(graph.value(name), graph.sizes);
    if (!v.can_be(shape)) fail("the input '", name, "' is ", to_string(shape), "; the graph says ", shape_text(v));
    for (size_t d = 0; d < shape.size(); ++d) {
      if (v.shape[d] >= 0) continue;
      const auto [known, is_new] = found.emplace(v.symbols[d], shape[d]);
      if (!is_new && known->second != shape[d])
        fail("the input '", name, "' is ", to_string(shape), "; ", v.symbols[d], " is ", known->second, " elsewhere");
    }
  }
  for (const auto &[name, size] : graph.sizes)
    if (size.by == 0 && found.count(name) == 0) fail("the size '", name, "' is open, and no input's shape tells it");
  return found;
}

Graph::Value with_names(Graph::Value value, const OpenSizes &sizes) {
  if (value.constant.defined() || sizes.empty()) return value;
  value.symbols.assign(value.shape.size(), "");
  for (size_t d = 0; d < value.shape.size(); ++d) {
    const OpenNumber open = open_number(value.shape[d], sizes);
    if (!open.is_open()) continue;
    value.symbols[d] = to_string(open);
    value.shape[d] = -1;
  }
  return value;
}

Graph with_names(Graph graph) {
  for (auto &[name, v] : graph.values) v = with_names(std::move(v), graph.sizes);
  graph.sizes.clear();
  return graph;
}

}  // namespace saltern
