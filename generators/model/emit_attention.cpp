#include "generators/model/emitters.h"
#include "generators/model/formula_code.h"
#include "schedules/forms/attention.h"
#include "schedules/patterns/attention.h"

namespace saltern::generators {

namespace {

using formula::Expression;

// What the kernel of an attention node is made of: nothing of the graph, which may be gone when it is built.
struct Source {
  Attributes attributes;
  std::vector<Graph::Value> values;
  Shape shape;  // of the result before it is transposed
  std::vector<int64_t> order;

  size_t batch() const { return shape.size() - 2; }
  Shape over(int64_t rows, int64_t columns) const {
    Shape all(shape.begin(), shape.end() - 2);
    all.insert(all.end(), {rows, columns});
    return all;
  }
  schedules::AttentionShape extents() const {
    const auto i = [](int64_t e) { return static_cast<int>(e); };
    return {i(shape[batch()]), i(attributes.integer("size")), i(attributes.integer("keys")), i(shape.back())};
  }
};

// The code of one of the four formulas. Variables are innermost first, a formula's axes the other way round.
class Formulas {
 public:
  Formulas(const Source &source, Build &b) : source_(source) {
    for (const Graph::Value &v : source.values) {
      shapes_.push_back(v.shape);
      operands_.push_back(b.input("operand_" + std::to_string(operands_.size()),
                                  static_cast<int>(memory_extents(v).size()), storage_type(v.type)));
    }
  }

  Halide::Expr element(const char *name, const Shape &shape, const std::vector<Halide::Var> &vars,
                       const Halide::Expr &product = {}) const {
    std::vector<Shape> shapes = shapes_;
    shapes.push_back(shape);
    return formula_code(source_.attributes.expression(name), {vars.rbegin(), vars.rend()}, shape, shapes,
                        [&](int operand, const std::vector<Halide::Expr> &indices) {
                          const auto i = static_cast<size_t>(operand);
                          if (i == operands_.size()) return product;  // which is there already
                          std::vector<Halide::Expr> in_memory;
                          for (int d : memory_order(source_.values[i]))
                            in_memory.push_back(indices[static_cast<size_t>(d)]);
                          if (in_memory.empty()) in_memory.emplace_back(0);
                          return operands_[i](in_memory);
                        });
  }

  forms::Tensor part(const char *name, const Shape &shape) const {
    std::vector<Halide::Var> vars;
    std::vector<Halide::Expr> extents;
    for (size_t d = shape.size(); d-- > 0;) {
      vars.emplace_back("d" + std::to_string(d));
      extents.emplace_back(static_cast<int>(shape[d]));
    }
    Halide::Func f(name);
    f(vars) = element(name, shape, vars);
    return {f, extents};
  }

 private:
  const Source &source_;
  std::vector<forms::Tensor> operands_;
  std::vector<Shape> shapes_;
};

Build build(const Halide::Target &target, const Source &source, const Call &call) {
  Build b(target, Build::Schedule::own, call);
  const schedules::AttentionShape e = source.extents();
  const Formulas formulas(source, b);
  const forms::Tensor query = formulas.part("query", source.over(e.rows, e.size)),
                      key = formulas.part("key", source.over(e.size, e.keys)),
                      value = formulas.part("value", source.over(e.keys, e.columns));
  const forms::Attention a =
      forms::attention(query, key, value, [&](const Halide::Expr &product, const std::vector<Halide::Var> &at) {
        return formulas.element("score", source.over(e.rows, e.keys), at, product);
      });

  // The result's dimensions, innermost first, and those of y.
  std::vector<Halide::Var> vars;
  std::vector<Halide::Expr> at(source.shape.size()), extents;
  Halide::Var row;
  for (size_t d = source.order.size(); d-- > 0;) {
    const auto from = static_cast<size_t>(source.order[d]);
    vars.emplace_back("r" + std::to_string(d));
    at[source.shape.size() - 1 - from] = vars.back();
    extents.emplace_back(static_cast<int>(source.shape[from]));
    if (from == source.batch()) row = vars.back();
  }
  Halide::Func result("result");
  result(vars) = a.y(at);
  const Halide::Func out = b.output("y", {result, extents});
  b.schedule([&](const Machine &m) {
    schedules::attention({out, row, query.func(), key.func(), value.func(), a.product, a.scores.func(),
                          a.stages.largest, a.stages.power, a.stages.total, a.sum},
                         e, m, schedules::AttentionKnobs::fitting(m, e));
  });
  b.finish(nullptr);
  return b;
}

}  // namespace

EmittedKernel emit_attention(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  Source source = {node.attributes, {}, node.attributes.integers("shape"), node.attributes.integers("order")};
  EmittedKernel k;
  k.key = "attention " + saltern::to_string(source.shape) + saltern::to_string(source.order) + " " +
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
