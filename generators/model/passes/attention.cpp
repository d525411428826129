#include <algorithm>
#include <array>
#include <optional>

#include "generators/model/affine.h"
#include "generators/model/emit.h"
#include "generators/model/passes/inlining.h"
#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using Kind = Expression::Kind;

// What stands for the products of queries and keys among operands; no value is called so.
const std::string products;

// A formula of the attention, over its own shape.
struct Part {
  const char *name;
  Shape shape;
  Expression element;
};

// y = softmax(score(query key)) value under construction. All formulas number their operands by `operands`.
struct Attention {
  std::array<Part, 4> parts;  // query (..., rows, size), key (..., size, keys), value (..., keys, columns), score
  std::vector<std::string> operands = {products};

  int number(const std::string &operand) {
    auto it = std::find(operands.begin(), operands.end(), operand);
    if (it == operands.end()) it = operands.insert(operands.end(), operand);
    return static_cast<int>(it - operands.begin());
  }
};

Expression here(int operand, const Graph::Value &v, size_t rank) {
  std::vector<Expression> at;
  for (size_t d = 0; d < v.shape.size(); ++d)
    at.push_back(v.shape[d] == 1 ? formula::constant_integer(Type::i64, 0)
                                 : formula::axis(static_cast<int>(rank - v.shape.size() + d)));
  return formula::load(operand, v.type, at);
}

bool is_movement(const Expression &e) { return e->kind == Kind::load; }

class Recognition {
 public:
  explicit Recognition(Graph &graph) : graph_(graph), index_(graph) {}

  void run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].operation != "matmul") continue;
      const std::string y = graph_.nodes[n].outputs[0];
      if (const Graph::Node *softmax = softmax_before(graph_.nodes[n]))
        if (std::optional<Attention> a = recognised(graph_.nodes[n], *softmax)) {
          for (Part &p : a->parts) read_from_sources(*a, p);
          index_.forget(n);
          graph_.nodes[n] = node(*a, y);
          index_.learn(n);
          take_transpose(n);
        }
    }
    graph_.remove_unused();
  }

 private:
  // The softmax over rows that only this product reads.
  const Graph::Node *softmax_before(const Graph::Node &product) const {
    const std::string &weights = product.inputs.at(0);
    const Graph::Node *n = index_.producer(weights);
    if (!n || n->operation != "softmax" || index_.uses(weights) != 1) return nullptr;
    const auto rank = static_cast<int64_t>(graph_.value(weights).shape.size());
    const int64_t axis = n->attributes.integer("axis", -1);
    return axis == -1 || axis == rank - 1 ? n : nullptr;
  }

  std::optional<Attention> recognised(const Graph::Node &last, const Graph::Node &softmax) const {
    const Shape scores = graph_.value(softmax.inputs[0]).shape, result = graph_.value(last.outputs[0]).shape;
    const size_t rank = scores.size();
    if (rank < 2 || result.size() != rank) return {};
    const Shape batch(scores.begin(), scores.end() - 2);
    if (!std::equal(batch.begin(), batch.end(), result.begin())) return {};
    const auto over = [&](int64_t rows, int64_t columns) {
      Shape shape = batch;
      shape.insert(shape.end(), {rows, columns});
      return shape;
    };

    Attention a;
    Part &score = a.parts[3];
    score = {"score", scores, here(a.number(softmax.inputs[0]), graph_.value(softmax.inputs[0]), rank)};
    const Graph::Node *first = first_product(a, score);
    if (!first) return {};
    const int64_t size = graph_.value(first->inputs[0]).shape.back();
    if (size == 0 || elements(result) == 0 || elements(scores) == 0) return {};
    const auto operand = [&](const char *name, const std::string &value, Shape shape) {
      return Part{name, std::move(shape), here(a.number(value), graph_.value(value), rank)};
    };
    a.parts[0] = operand("query", first->inputs[0], over(scores[rank - 2], size));
    a.parts[1] = operand("key", first->inputs[1], over(size, scores[rank - 1]));
    a.parts[2] = operand("value", last.inputs[1], over(scores[rank - 1], result[rank - 1]));
    return a;
  }

  // Computes in the score what is computed element by element from the products of queries and keys, whose node it
  // returns; none where what comes before the softmax is something else.
  const Graph::Node *first_product(Attention &a, Part &score) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 1; i < a.operands.size(); ++i) {
        const std::string value = a.operands[i];
        const Graph::Node *maker = is_read(a, value) ? index_.producer(value) : nullptr;
        if (!maker || graph_.value(value).shape != score.shape || index_.uses(value) != 1) continue;
        if (maker->operation == "matmul") return with_products(a, score, value) ? maker : nullptr;
        if (maker->operation != "formula" || !is_exact(graph_.value(value).type) ||
            !fits_into(cost_of(maker->attributes.expression("element")), maker->inputs.size(), cost_of(score.element),
                       a.operands.size()))
          continue;
        score.element = inlined(score.element, std::vector<std::string>(a.operands), *maker, a.operands);
        changed = true;
      }
    }
    return nullptr;
  }

  static bool is_read(const Attention &a, const std::string &value) {
    bool read = false;
    for (const Part &p : a.parts)
      if (p.element.defined())
        formula::for_each_node(p.element, [&](const Expression::Node &n) {
          read |= n.kind == Kind::load && a.operands[static_cast<size_t>(n.number)] == value;
        });
    return read;
  }

  // Makes loads of a value loads of the products, where all of them are at the element itself.
  static bool with_products(const Attention &a, Part &score, const std::string &value) {
    bool all_here = true;
    const Expression element = formula::replaced(score.element, [&](const Expression &leaf) -> Expression {
      if (leaf->kind != Kind::load || a.operands[static_cast<size_t>(leaf->number)] != value) return {};
      for (size_t d = 0; d < score.shape.size(); ++d) {
        const Expression &index = leaf->arguments[d];
        all_here &= score.shape[d] == 1 || (index->kind == Kind::axis && index->number == static_cast<int>(d));
      }
      return formula::load(0, leaf.type(), leaf->arguments);
    });
    if (all_here) score.element = element;
    return all_here;
  }

  // Reads through movements and reshapes, and computes what only this part reads, as long as there is any.
  void read_from_sources(Attention &a, Part &p) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 1; i < a.operands.size(); ++i) {
        const double reads = reads_of(p.element, p.shape, static_cast<int>(i));
        const Graph::Node *maker = reads > 0 ? index_.producer(a.operands[i]) : nullptr;
        if (!maker) continue;
        if (maker->operation == "formula" && may_inline(a, p, *maker, reads)) {
          p.element = inlined(p.element, std::vector<std::string>(a.operands), *maker, a.operands);
          changed = true;
        } else if (maker->operation == "reshape") {
          changed |= read_before_reshape(a, p, static_cast<int>(i), *maker);
        }
      }
    }
  }

  bool may_inline(const Attention &a, const Part &p, const Graph::Node &maker, double reads) const {
    const Graph::Value &v = graph_.value(maker.outputs[0]);
    const Expression made = maker.attributes.expression("element");
    const FormulaCost cost = cost_of(made);
    const auto others = std::count_if(a.operands.begin(), a.operands.end(),
                                      [&](const std::string &operand) { return is_read(a, operand); });
    if (!is_exact(v.type) || !fits_into(cost, maker.inputs.size(), cost_of(p.element), static_cast<size_t>(others)))
      return false;
    if (is_movement(made)) return true;  // whoever else reads it
    return index_.uses(maker.outputs[0]) == 1 && !follows_a_kernel(graph_, index_, maker) &&
           is_worth_repeating(cost, reads, static_cast<double>(elements(v.shape)));
  }

  bool read_before_reshape(Attention &a, Part &p, int operand, const Graph::Node &reshape) const {
    const Shape &to = graph_.value(reshape.outputs[0]).shape, &from = graph_.value(reshape.inputs[0]).shape;
    const int source = a.number(reshape.inputs[0]);
    bool possible = true;
    const Expression before = formula::replaced(p.element, [&](const Expression &leaf) -> Expression {
      if (leaf->kind != Kind::load || leaf->number != operand) return {};
      const auto indices = before_reshape(leaf->arguments, p.shape, to, from);
      possible &= indices.has_value();
      return indices ? formula::load(source, leaf.type(), *indices) : Expression();
    });
    if (possible) p.element = before;
    return possible;
  }

  Graph::Node node(const Attention &a, const std::string &y) const {
    Graph::Node n{"attention", {}, {}, {y}};
    for (const std::string &operand : a.operands)
      if (operand != products && is_read(a, operand)) n.inputs.push_back(operand);
    const auto place = [&](const Expression &leaf) {
      const std::string &operand = a.operands[static_cast<size_t>(leaf->number)];
      return static_cast<int>(std::find(n.inputs.begin(), n.inputs.end(), operand) - n.inputs.begin());
    };
    for (const Part &p : a.parts)
      n.attributes.set(p.name, formula::replaced(p.element, [&](const Expression &leaf) -> Expression {
                         // The products are found nowhere, and so stand behind all inputs.
                         return leaf->kind == Kind::load ? formula::load(place(leaf), leaf.type(), leaf->arguments)
                                                         : Expression();
                       }));
    const Shape &shape = graph_.value(y).shape;
    std::vector<int64_t> order;
    for (size_t d = 0; d < shape.size(); ++d) order.push_back(static_cast<int64_t>(d));
    n.attributes.set("shape", shape);
    n.attributes.set("size", a.parts[0].shape.back());
    n.attributes.set("keys", a.parts[1].shape.back());
    n.attributes.set("order", order);
    return n;
  }

  // A transpose that is all that reads the result, and leaves columns innermost, is done when it is written.
  void take_transpose(size_t place) {
    Graph::Node &attention = graph_.nodes[place];
    const std::string y = attention.outputs[0];
    const std::ptrdiff_t after = index_.place_of_only_reader(y);
    if (after < 0) return;
    Graph::Node *reader = &graph_.nodes[static_cast<size_t>(after)];
    if (reader->operation != "formula" || reader->inputs.size() != 1) return;
    const Shape &from = graph_.value(y).shape, &to = graph_.value(reader->outputs[0]).shape;
    const Expression element = reader->attributes.expression("element");
    if (!is_movement(element) || to.size() != from.size()) return;
    std::vector<int64_t> order(to.size(), -1);
    for (size_t d = 0; d < from.size(); ++d) {
      const Expression &index = element->arguments[d];
      if (index->kind != Kind::axis) return;
      order[static_cast<size_t>(index->number)] = static_cast<int64_t>(d);
    }
    for (size_t a = 0; a < to.size(); ++a)
      if (order[a] < 0 || to[a] != from[static_cast<size_t>(order[a])]) return;
    if (order.back() != static_cast<int64_t>(to.size()) - 1) return;
    index_.forget(place);
    index_.forget(static_cast<size_t>(after));
    attention.attributes.set("order", order);
    attention.outputs = reader->outputs;
    *reader = {};
    graph_.values.erase(y);
    index_.learn(place);
  }

  Graph &graph_;
  GraphIndex index_;
};

}  // namespace

Graph with_attention(Graph graph) {
  Recognition(graph).run();
  return graph;
}

}  // namespace saltern::generators
