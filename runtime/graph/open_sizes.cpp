#include "runtime/graph/open_sizes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/graph/text.h"

namespace saltern {

namespace {

// Prime, and apart enough that no small multiple of one is near to a small multiple of another. Products of three of them
// and of some thousand fit into 64 bits.
constexpr int64_t numbers[] = {1000003, 165533, 291503, 71563};
constexpr int64_t largest_rest = 64, largest_product = int64_t{1} << 60, largest_number = 2 * largest_product;
constexpr size_t most_factors = 3;

// A product of sizes: what stands for it, and what it is called.
struct Product {
  int64_t number;
  std::vector<std::string> names;
};

void add_products(const Graph::Sizes &sizes, Graph::Sizes::const_iterator from, const Product &of,
                  std::vector<Product> &all) {
  for (auto s = from; s != sizes.end(); ++s) {
    if (of.number > largest_product / s->second) continue;
    Product p = {of.number * s->second, of.names};
    p.names.push_back(s->first);
    all.push_back(p);
    if (p.names.size() < most_factors) add_products(sizes, s, p, all);
  }
}

std::vector<Product> products_of(const Graph::Sizes &sizes) {
  std::vector<Product> all;
  add_products(sizes, sizes.begin(), {1, {}}, all);
  return all;
}

OpenNumber open_number(int64_t number, const std::vector<Product> &products) {
  OpenNumber best = {0, number, {}};
  if (number > largest_number || number < -largest_number) return best;  // a file may say anything
  for (const Product &p : products) {
    const int64_t factor = std::llround(static_cast<double>(number) / static_cast<double>(p.number)),
                  rest = number - factor * p.number;
    const bool nearer = std::abs(rest) < std::abs(best.rest),
               larger = rest == best.rest && std::abs(factor) < std::abs(best.factor);
    if (factor != 0 && std::abs(rest) <= largest_rest && (nearer || larger)) best = {factor, rest, p.names};
  }
  return best;
}

// Puts numbers in the place of those that stand for sizes.
class Replacement {
 public:
  Replacement(const Graph::Sizes &open, const Graph::Sizes &given) : given_(given), products_(products_of(open)) {}

  int64_t integer(int64_t number) const {
    const OpenNumber open = open_number(number, products_);
    if (!open.is_open()) return number;
    const int64_t of = product(open.names);
    if (of > largest_product / std::abs(open.factor)) fail(to_string(open), " is too large for these sizes");
    return open.factor * of + open.rest;
  }

  // A whole number, or the reciprocal of one, which may have been rounded to f32.
  double real(double number) const {
    if (number == std::floor(number) && std::abs(number) < 1e18)
      return static_cast<double>(integer(static_cast<int64_t>(number)));
    for (const Product &p : products_) {
      const double count = 1 / (number * static_cast<double>(p.number)), whole = std::round(count);
      if (whole >= 1 && whole < 1e9 && std::abs(count - whole) < 1e-6 * whole)
        return 1 / (whole * static_cast<double>(product(p.names)));
    }
    return number;
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
  int64_t product(const std::vector<std::string> &names) const {
    int64_t all = 1;
    for (const std::string &n : names) {
      if (given_.at(n) > largest_product / all) fail("the size '", n, "' of ", given_.at(n), " is too large");
      all *= std::max<int64_t>(given_.at(n), 1);
    }
    return std::any_of(names.begin(), names.end(), [&](const auto &n) { return given_.at(n) == 0; }) ? 0 : all;
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

  const Graph::Sizes &given_;
  const std::vector<Product> products_;
};

}  // namespace

OpenNumber open_number(int64_t number, const Graph::Sizes &sizes) { return open_number(number, products_of(sizes)); }

bool is_open(const Attribute &a, const Graph::Sizes &sizes) {
  if (sizes.empty()) return false;
  Graph::Sizes others = sizes;
  for (auto &[name, number] : others) number = 2;
  return !is_same(std::visit(Replacement(sizes, others), a), a);
}

std::string to_string(const OpenNumber &number) {
  if (!number.is_open()) return std::to_string(number.rest);
  std::string text = number.factor == 1 ? "" : std::to_string(number.factor) + " * ";
  for (size_t i = 0; i < number.names.size(); ++i) text += (i > 0 ? " * " : "") + number.names[i];
  if (number.rest != 0) text += (number.rest < 0 ? " - " : " + ") + std::to_string(std::abs(number.rest));
  return text;
}

bool is_stand_in(int64_t number) {
  return std::find(std::begin(numbers), std::end(numbers), number) != std::end(numbers);
}

Graph::Sizes stand_ins(const std::vector<std::string> &names) {
  Graph::Sizes all;
  for (const std::string &n : names) {
    if (!is_plain_name(n)) fail("'", n, "' is no name for a size");
    if (all.count(n) > 0) continue;
    if (all.size() == std::size(numbers)) fail("more than ", std::size(numbers), " sizes are open");
    const size_t next = all.size();
    all[n] = numbers[next];
  }
  return all;
}

Graph at_sizes(const Graph &graph, const Graph::Sizes &sizes) {
  for (const auto &[name, number] : graph.sizes) {
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
  for (const auto &[name, number] : graph.sizes)
    if (found.count(name) == 0) fail("the size '", name, "' is open, and no input's shape tells it");
  return found;
}

Graph::Value with_names(Graph::Value value, const Graph::Sizes &sizes) {
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
