#include "algorithms/attention.h"

#include "dsl/sums.h"
#include "generators/model/emitters.h"
#include "schedules/patterns/attention.h"

namespace saltern::generators {

namespace {

using formula::Axes;
using formula::Expression;
using formula::Value;

// What the kernel of an attention node is made of: nothing of the graph, which may be gone when it is built.
struct Source {
  Attributes attributes;
  std::vector<Graph::Value> values;
  Shape shape;             // of the result before it is transposed
  std::vector<int> order;  // of its dimensions then

  size_t batch() const { return shape.size() - 2; }
  schedules::AttentionShape extents() const {
    const auto i = [](int64_t e) { return static_cast<int>(e); };
    return {i(shape[batch()]), i(attributes.integer("size")), i(attributes.integer("keys")), i(shape.back())};
  }
};

// A named part of it, one of the four formulas; of score the products are an operand behind the inputs.
Value part(const Source &source, const char *name, int rows, int columns, const formula::Values &inputs,
           const Value &products = {}) {
  const Expression element =
      formula::transformed(source.attributes.expression(name), [&](const Expression &at) -> Expression {
        if (at->kind != Expression::Kind::load) return {};
        const auto operand = static_cast<size_t>(at->number);
        if (operand == inputs.size()) return products.at(at->arguments);
        return stored_element(inputs[operand], source.values[operand], at->arguments);
      });
  std::vector<Expression> extents(source.shape.begin(), source.shape.end() - 2);
  extents.insert(extents.end(), {rows, columns});
  return formula::compute(name, extents, [&](const Axes &at) { return with_axes(element, at); });
}

Build build(const Halide::Target &target, const Source &source, const Call &call) {
  Build b(target, Build::Schedule::own, call);
  formula::Values inputs;
  for (const Graph::Value &v : source.values) {
    inputs.push_back(stored_input("operand_" + std::to_string(inputs.size()), v));
    b.declare(inputs.back());
  }
  const schedules::AttentionShape e = source.extents();
  const Value query = part(source, "query", e.rows, e.size, inputs), key = part(source, "key", e.size, e.keys, inputs),
              value = part(source, "value", e.keys, e.columns, inputs), product = algorithms::matmul(query, key),
              scores = part(source, "score", e.rows, e.keys, inputs, product);
  const Value y = algorithms::attention(query, key, value, [&](const Value &) { return scores; });
  // A sum of one element is none, and what is read twice is one stage: nothing that the pattern knows.
  const bool is_common =
      e.size > 1 && e.keys > 1 && query.get() != key.get() && value.get() != key.get() && query.get() != value.get();
  if (!is_common) {
    b.output("y", formula::permuted(y, source.order));
    b.finish(nullptr);
    return b;
  }
  b.stages().keep_tiles_inside();
  const auto [share, sum] = formula::factored(y);
  const Halide::Func out = b.output("y", formula::permuted(sum * share, source.order));
  b.schedule([&, &sums = sum](const Machine &m) {
    const int last = query.rank() - 1;
    const algorithms::Powers p = algorithms::powers(scores, last);
    const auto func = [&](const Value &v) { return b.stage(v).func; };
    const auto reduced = [&](const Value &v) { return schedules::Reduced{b.stage(v).func, b.stage(v).parts}; };
    size_t row = 0;
    while (source.order[row] != static_cast<int>(source.batch())) ++row;
    schedules::attention({out, out.args()[source.order.size() - 1 - row], func(query), func(key), func(value),
                          func(scores), func(p.power), func(algorithms::share(p)), reduced(product),
                          reduced(formula::greatest(scores, {last})), reduced(p.total), reduced(sums)},
                         e, m, schedules::AttentionKnobs::fitting(m, e));
  });
  b.finish(nullptr);
  return b;
}

}  // namespace

EmittedKernel emit_attention(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const std::vector<int64_t> &order = node.attributes.integers("order");
  Source source = {node.attributes, {}, node.attributes.integers("shape"), {order.begin(), order.end()}};
  EmittedKernel k;
  k.key = "attention " + saltern::to_string(source.shape) + saltern::to_string(order) + " " +
          std::to_string(node.attributes.integer("size")) + " " + std::to_string(node.attributes.integer("keys"));
  for (const char *name : {"query", "key", "value", "score"})
    k.key += " " + to_string(node.attributes.expression(name));
  Call call;
  for (const std::string &name : node.inputs) {
    source.values.push_back(graph.value(name));
    k.key += key_of(source.values.back());
    k.arguments.push_back(argument(graph, name));
    call.emplace_back(k.arguments.back().extents);
  }
  const Graph::Value rows = {graph.value(group.output()).shape};
  k.arguments.push_back(argument(graph, group.output(), memory_extents(rows), Layout::row_major));
  k.build = [source, call](const Halide::Target &target) { return build(target, source, call); };
  return k;
}

}  // namespace saltern::generators
